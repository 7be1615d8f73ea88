//! A model on loopback that says what it is told to: agents are tried with it, and nothing leaves the
//! machine.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::wires::ScriptedCall;

/// The longest request that is read.
const MAX_REQUEST: u64 = 32 << 20;
/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(60);

/// A model that listens until it is dropped.
pub(super) struct ScriptedModel {
    address: SocketAddr,
    answered: Arc<AtomicBool>,
    serving: JoinHandle<()>,
}

impl ScriptedModel {
    pub(super) async fn start(call: ScriptedCall) -> io::Result<ScriptedModel> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (call, answered) = (Arc::new(call), Arc::new(AtomicBool::new(false)));
        let noted = answered.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (call, noted) = (call.clone(), noted.clone());
                tokio::spawn(async move {
                    // An agent that goes away in the middle asks again, or gives up.
                    let _ = tokio::time::timeout(REQUEST_TIME, serve(stream, &call, &noted)).await;
                });
            }
        });
        Ok(ScriptedModel { address, answered, serving })
    }

    /// Its address, as agents are told it.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// True when an agent has brought the result of the call.
    pub(super) fn has_result(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// One request, one answer.
async fn serve(stream: TcpStream, call: &ScriptedCall, answered: &AtomicBool) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read).take(MAX_REQUEST);
    let mut line = String::new();
    read.read_line(&mut line).await?;
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let is_head = line.starts_with("HEAD ");
    let (mut length, mut chunked) = (0_u64, false);
    loop {
        line.clear();
        read.read_line(&mut line).await?;
        let header = line.trim();
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or_default(),
            "transfer-encoding" => chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            line.clear();
            read.read_line(&mut line).await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).unwrap_or_default();
            (&mut read).take(size).read_to_end(&mut body).await?;
            line.clear();
            read.read_line(&mut line).await?;
            if size == 0 {
                break;
            }
        }
    } else {
        (&mut read).take(length).read_to_end(&mut body).await?;
    }
    let request = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = path.split('?').next().unwrap_or_default();
    let answer = call.answer(path, &request);
    let text = if is_head { "" } else { answer.body.as_str() };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.content_type,
        text.len()
    );
    write.write_all(head.as_bytes()).await?;
    write.write_all(text.as_bytes()).await?;
    write.shutdown().await?;
    if answer.brought_result {
        answered.store(true, Ordering::Release);
    }
    Ok(())
}
