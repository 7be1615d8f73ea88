//! `eclusa acp -- AGENT …`: stands between an editor and an agent that speak the Agent Client
//! Protocol, where the editor had the agent's command.
//!
//! Messages are lines. Those that would do something are judged first: a permission that the agent
//! asks for, a file that it reads or writes through the editor, a command that it starts in the
//! editor's terminal. All others pass byte for byte.

use std::{os::fd::AsFd as _, process::Stdio, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::unix::pipe::{Receiver, Sender},
};

use crate::{
    args::{AcpArgs, Global},
    failure::{Exit, Failure},
    screen::note,
    spawn::{Group, Program},
};

mod editor;
mod messages;
mod session;

use editor::EditorLink;
use messages::{Message, Proxy};

/// The longest message that is passed on.
const MAX_MESSAGE: u64 = 64 << 20;
/// How long what is under way may take when one side has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(super) async fn run(global: &Global, args: AcpArgs) -> Result<Exit, Failure> {
    let directory = std::env::current_dir()?;
    let program =
        Program { command: args.command.clone(), directory, env: Vec::new(), set: everything() };
    let mut command = program.prepared()?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|err| Failure::failed(program.explained(&err)))?;
    let lost = || Failure::failed("the agent has no pipes");
    let (input, output) =
        (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
    // Dropping it ends the agent with everything that it started.
    let mut group = Group::new(child);
    let (to_editor, written) = writer(stdout());
    let (to_agent, _) = writer(input);
    let link = Arc::new(EditorLink::new(to_editor));
    let proxy = Arc::new(Proxy::new(global.clone(), args, link, to_agent));
    let mut editor = MessageReader::new(stdin());
    let mut agent = MessageReader::new(output);
    let ended = loop {
        tokio::select! {
            line = editor.next() => match line? {
                Some(line) => proxy.on_editor_message(line),
                // The editor is gone, and the agent goes with it.
                None => break Exit::Done,
            },
            line = agent.next() => match line? {
                Some(line) => proxy.clone().on_agent_message(line),
                None => break ended(&mut group).await,
            },
        }
    };
    proxy.close().await;
    drop(proxy);
    // What the agent said last is still on its way to the editor.
    let _ = tokio::time::timeout(LAST_WORDS, written).await;
    Ok(ended)
}

async fn ended(group: &mut Group) -> Exit {
    match group.child().wait().await {
        Ok(status) if status.success() => Exit::Done,
        Ok(status) => {
            note(&format!("the agent ended with {status}"));
            Exit::Failed
        }
        Err(_) => Exit::Failed,
    }
}

/// An agent sees the environment that its editor gave it.
fn everything() -> Vec<(String, std::ffi::OsString)> {
    std::env::vars_os().filter_map(|(name, it)| Some((name.into_string().ok()?, it))).collect()
}

/// Standard input. From a pipe it is read without a thread in between, which would take longer than
/// everything else.
fn stdin() -> Box<dyn AsyncRead + Send + Unpin> {
    let pipe = std::io::stdin().as_fd().try_clone_to_owned().and_then(Receiver::from_owned_fd);
    pipe.map_or_else(|_| Box::new(tokio::io::stdin()) as _, |it| Box::new(it) as _)
}

/// Standard output, likewise.
fn stdout() -> Box<dyn AsyncWrite + Send + Unpin> {
    let pipe = std::io::stdout().as_fd().try_clone_to_owned().and_then(Sender::from_owned_fd);
    pipe.map_or_else(|_| Box::new(tokio::io::stdout()) as _, |it| Box::new(it) as _)
}

/// Lines that go out, one after the other.
type Outgoing = tokio::sync::mpsc::UnboundedSender<Vec<u8>>;

/// Writes lines until nobody has any more.
fn writer(
    mut to: impl AsyncWrite + Send + Unpin + 'static,
) -> (Outgoing, tokio::task::JoinHandle<()>) {
    let (send, mut receive) = tokio::sync::mpsc::unbounded_channel::<Vec<u8>>();
    let written = tokio::spawn(async move {
        while let Some(line) = receive.recv().await {
            // Whoever closed the pipe is gone, which the reading side tells.
            if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
                break;
            }
        }
    });
    (send, written)
}

/// Messages that come in, a line each.
struct MessageReader<R> {
    reader: BufReader<R>,
    /// What has been read of a line, should the reading be given up in the middle of it.
    begun: Vec<u8>,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    fn new(reader: R) -> MessageReader<R> {
        MessageReader { reader: BufReader::new(reader), begun: Vec::new() }
    }

    /// The next line; `None` at the end. Can be given up at any time.
    async fn next(&mut self) -> Result<Option<Message>, Failure> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            let (taken, whole) = match bytes.iter().position(|it| *it == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            };
            self.begun.extend(bytes.get(..taken).unwrap_or_default());
            self.reader.consume(taken);
            if self.begun.len() as u64 > MAX_MESSAGE {
                return Err(Failure::failed("a message is longer than 64 MiB"));
            }
            if whole {
                return Ok(Some(Message::new(std::mem::take(&mut self.begun))));
            }
            if taken == 0 {
                return Ok(None);
            }
        }
    }
}

/// A line with a value.
fn line(value: &Value) -> Vec<u8> {
    let mut text = value.to_string().into_bytes();
    text.push(b'\n');
    text
}
