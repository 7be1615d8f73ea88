//! A proxy, hosts behind it, and names that lead to them.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use eclusa_sandbox::proxy::{Attempt, Hosts, Limits, Proxy, Resolver, Serving};

/// Names that lead where the test says, and how often they were asked for.
#[derive(Clone, Default)]
pub(crate) struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Resolver for Names {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.known.get(name).cloned().ok_or_else(|| io::Error::other("no such name"))
    }
}

pub(crate) struct World {
    place: SocketAddr,
    pub(crate) asked: Arc<AtomicUsize>,
    attempts: Arc<Mutex<Vec<Attempt>>>,
    serving: Option<Serving>,
}

impl World {
    /// A proxy that allows these hosts. The names lead to these addresses; `host` may be connected
    /// to although it is on this machine.
    pub(crate) fn new(allow: &[&str], names: &[(&str, &[IpAddr])], host: SocketAddr) -> World {
        World::limited(allow, names, host, Limits::default())
    }

    pub(crate) fn limited(
        allow: &[&str],
        names: &[(&str, &[IpAddr])],
        host: SocketAddr,
        limits: Limits,
    ) -> World {
        let known = names.iter().map(|(name, ips)| ((*name).to_owned(), ips.to_vec())).collect();
        let names = Names { known, ..Names::default() };
        let asked = names.asked.clone();
        let attempts = Arc::<Mutex<Vec<Attempt>>>::default();
        let report = {
            let attempts = attempts.clone();
            move |it| attempts.lock().unwrap().push(it)
        };
        let proxy = Proxy::new(Hosts::new(allow).unwrap(), report);
        let proxy = proxy.resolving(names).limited(limits).with_private(host);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        World { place, asked, attempts, serving: Some(proxy.serve(listener).unwrap()) }
    }

    /// Where the proxy is, as programs are told.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.place)
    }

    /// A connection to the proxy.
    pub(crate) fn call(&self) -> TcpStream {
        let stream = TcpStream::connect(self.place).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes, and reads all that comes back.
    pub(crate) fn ask(&self, bytes: &[u8]) -> String {
        let mut stream = self.call();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Stops the proxy, and returns what it reported.
    pub(crate) fn attempts(mut self) -> Vec<Attempt> {
        self.serving.take().unwrap().stop();
        std::mem::take(&mut *self.attempts.lock().unwrap())
    }
}

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A host that hands each connection to a function, and tells where it is.
pub(crate) fn host(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
    place
}

/// A host that sends back everything it is sent, once the other side has said everything.
pub(crate) fn echo() -> SocketAddr {
    host(|mut stream| {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            all.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&all);
    })
}

/// A host that reads one request with its body, as servers do, and answers with the body.
pub(crate) fn server() -> SocketAddr {
    host(|mut stream| {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let mut invited = false;
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            if head.contains("expect: 100-continue") && !invited {
                invited = true;
                let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
            let chunked = head.contains("transfer-encoding: chunked");
            let whole = match length.and_then(|it| it.parse::<usize>().ok()) {
                Some(length) => body.len() >= length,
                None => !chunked || body.ends_with("0\r\n\r\n"),
            };
            if whole {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(body.as_bytes()));
                return;
            }
        }
    })
}
