//! Servers that speak MCP over HTTP, called by a client that is written by hand.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command},
};

use serde_json::json;

use super::{Failed, with_meta};

/// A server on a port, and a connection to it.
pub(super) struct Web {
    pub(super) child: Child,
    pub(super) connection: Connection,
}

/// A client's connection.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
    next: u64,
}

impl Web {
    pub(super) fn start(mut command: Command) -> Result<Web, Failed> {
        let mut child = command.spawn()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut said)?;
        let host = said.split("http://").nth(1).and_then(|it| it.split('/').next());
        let host = host.ok_or_else(|| format!("no address: {said}"))?.to_owned();
        Ok(Web { child, connection: Connection::open(&host)? })
    }

    /// One more connection.
    pub(super) fn connect(&self) -> Result<Connection, Failed> {
        Connection::open(&self.connection.host)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection {
    fn open(host: &str) -> Result<Connection, Failed> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), host: host.to_owned(), next: 0 })
    }

    pub(super) fn call(&mut self, tool: &str) -> Result<String, Failed> {
        self.next += 1;
        let call = with_meta(json!({"name": tool, "arguments": {"text": "the same"}}));
        let body =
            json!({"jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": call});
        let body = body.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes())?;
        self.answer()
    }

    /// The body of the next answer: of a known length, or in chunks.
    fn answer(&mut self) -> Result<String, Failed> {
        let (mut length, mut chunked) = (0, false);
        loop {
            let header = self.line()?.to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
        }
        let mut body = Vec::new();
        if !chunked {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
            return Ok(String::from_utf8(body)?);
        }
        loop {
            let size = usize::from_str_radix(self.line()?.trim(), 16)?;
            let from = body.len();
            body.resize(from + size, 0);
            self.stream.read_exact(body.get_mut(from..).unwrap_or_default())?;
            self.line()?;
            if size == 0 {
                return Ok(String::from_utf8(body)?);
            }
        }
    }

    fn line(&mut self) -> Result<String, Failed> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err("the server hung up".into());
        }
        Ok(line.trim_end().to_owned())
    }
}
