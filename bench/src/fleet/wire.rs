//! Requests as machines send them, with little of our own work: what is measured is the server's.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// How long a machine waits for an answer that comes at once.
pub(super) const REQUEST_TIME: Duration = Duration::from_secs(10);

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// When to come again, in seconds.
    pub(super) retry_after: u64,
    pub(super) body: Vec<u8>,
}

/// A connection that is opened again where the server closed it.
#[derive(Debug)]
pub(super) struct Connection {
    server: SocketAddr,
    /// The address that it comes from: there are more machines than an address has ports.
    from: SocketAddr,
    open: Option<TcpStream>,
}

impl Connection {
    pub(super) fn new(server: SocketAddr, machine: usize) -> Connection {
        let part = |at: usize| u8::try_from(at % 200 + 1).unwrap_or(1);
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, part(machine / 200 + 1), part(machine)));
        Connection { server, from: SocketAddr::new(from, 0), open: None }
    }

    /// Sends a request and waits for its answer, so long and no longer.
    pub(super) async fn send(
        &mut self,
        (method, path): (&str, &str),
        authorization: &str,
        body: &[u8],
        time: Duration,
    ) -> io::Result<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: fleet\r\nauthorization: {authorization}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        let answered = async {
            // A kept connection may have been closed meanwhile; a new one is not tried twice.
            if let Some(open) = self.open.take()
                && let Ok((answer, open)) = exchange(open, &request).await
            {
                return Ok((answer, open));
            }
            let socket = TcpSocket::new_v4()?;
            socket.bind(self.from)?;
            let open = socket.connect(self.server).await?;
            open.set_nodelay(true)?;
            exchange(open, &request).await
        };
        let (answer, open) = timeout(time, answered)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        self.open = Some(open);
        Ok(answer)
    }
}

async fn exchange(mut open: TcpStream, request: &[u8]) -> io::Result<(Answer, TcpStream)> {
    open.write_all(request).await?;
    let mut read = Vec::new();
    loop {
        if open.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(answer) = parse(&read) {
            return Ok((answer, open));
        }
    }
}

fn parse(read: &[u8]) -> Option<Answer> {
    let end = read.windows(4).position(|it| it == b"\r\n\r\n")?;
    let head = std::str::from_utf8(read.get(..end)?).ok()?;
    let value = |name: &str| {
        let found = head.lines().filter_map(|it| it.split_once(": ")).find(|it| it.0 == name);
        found.and_then(|it| it.1.trim().parse::<u64>().ok())
    };
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    let body = read.get(end + 4..)?;
    let length = usize::try_from(value("content-length").unwrap_or(0)).ok()?;
    let body = body.get(..length)?.to_vec();
    Some(Answer { status, retry_after: value("retry-after").unwrap_or(0), body })
}
