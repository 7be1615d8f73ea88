//! A real HTTP server on loopback, which says what a test tells it to.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What is said at a path.
#[derive(Clone)]
pub(super) enum Say {
    /// These bytes, and the end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing, without an end.
    Then(Vec<u8>),
    /// These bytes, and then more of the others than anybody wants.
    Endless(Vec<u8>, Vec<u8>),
}

/// A page of this type.
pub(super) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Say {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    Say::Bytes([head.as_bytes(), body].concat())
}

/// A redirect.
pub(super) fn redirect(to: &str) -> Say {
    let head = format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    Say::Bytes(head.into_bytes())
}

/// The server, and what it was asked.
pub(super) struct Server {
    pub(super) place: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server on a free port of `ip`, which makes its pages once it knows its port.
    pub(super) async fn start(
        ip: &str,
        pages: impl FnOnce(u16) -> Vec<(&'static str, Say)>,
    ) -> Server {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let place = listener.local_addr().unwrap();
        let pages = Arc::new(pages(place.port()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, pages.clone(), seen.clone()));
            }
        });
        Server { place, asked }
    }

    /// The heads of all requests so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    pages: Arc<Vec<(&'static str, Say)>>,
    asked: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
        // Whoever speaks TLS is not understood, and hears so.
        if head.first() != Some(&b'G') {
            return None;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(head);
    let missing =
        Say::Bytes(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone".to_vec());
    let say = pages.iter().find(|(own, _)| *own == path).map_or(missing, |(_, say)| say.clone());
    match say {
        Say::Bytes(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            stream.shutdown().await.ok()
        }
        Say::Then(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            std::future::pending().await
        }
        Say::Endless(head, more) => {
            stream.write_all(&head).await.ok()?;
            loop {
                stream.write_all(&more).await.ok()?;
            }
        }
    }
}
