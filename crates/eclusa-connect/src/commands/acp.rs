//! `eclusa acp -- AGENT …`: stands between an editor and an agent that speak the Agent Client
//! Protocol, where the editor had the agent's command.
//!
//! Messages are lines. Those that would do something are judged first: a permission that the agent
//! asks for, a file that it reads or writes through the editor, a command that it starts in the
//! editor's terminal. All others pass byte for byte; what is no message of the agent does not pass.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::commands::{
    failure::{Exit, Failure},
    global::Global,
    screen::note,
    spawn::{Group, Program},
};

mod editor;
mod envelope;
mod lines;
mod messages;
mod session;

use editor::EditorLink;
use lines::{LineReader, LineWriter};
use messages::EditorProxy;

/// Which agent stands behind us.
#[derive(Debug, Clone, Args)]
pub struct AcpArgs {
    /// Leave the servers of a session outside the gate
    #[arg(long)]
    pub plain_servers: bool,
    /// The agent and its arguments
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

/// How long what is under way may take when one side has ended.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Which side said its last word.
enum SideEnded {
    Editor(io::Result<()>),
    Agent(io::Result<()>),
}

pub(super) async fn run(global: &Global, args: AcpArgs) -> Result<Exit, Failure> {
    let directory = std::env::current_dir()?;
    let program =
        Program { command: args.command.clone(), directory, env: Vec::new(), set: everything() };
    let (their_input, to_agent) = io::pipe()?;
    let (from_agent, their_output) = io::pipe()?;
    let mut command = program.prepared()?;
    command.stdin(their_input).stdout(their_output).stderr(Stdio::inherit());
    let child = command.spawn().map_err(|err| Failure::failed(program.explained(&err)))?;
    // It holds the agent's ends of the pipes; with them open no reading would end.
    drop(command);
    // Dropping it ends the agent with everything that it started.
    let mut group = Group::new(child);
    let to_editor = LineWriter::new(io::stdout().as_fd().try_clone_to_owned()?);
    let from_editor = io::stdin().as_fd().try_clone_to_owned()?;
    let link = Arc::new(EditorLink::new(to_editor)?);
    let proxy =
        Arc::new(EditorProxy::new(global.clone(), args, link, LineWriter::new(to_agent.into())));
    let (over, mut ended) = unbounded_channel();
    let editor = proxy.clone();
    follow(from_editor, over.clone(), SideEnded::Editor, move |line| {
        editor.on_editor_message(line)
    })?;
    let agent = proxy.clone();
    follow(from_agent.into(), over, SideEnded::Agent, move |line| agent.on_agent_message(line))?;
    let exit = match ended.recv().await {
        // The editor is gone, and the agent goes with it.
        Some(SideEnded::Editor(read)) => read.map(|()| Exit::Done)?,
        Some(SideEnded::Agent(read)) => {
            read?;
            agent_exit(&mut group).await
        }
        None => return Err(Failure::failed("both connections closed")),
    };
    proxy.close().await;
    Ok(exit)
}

/// Hands on what comes from one side, line by line, on a thread of its own: waking another one would
/// take longer than everything else that is done for a message. Nobody waits for the thread.
fn follow(
    from: OwnedFd,
    over: UnboundedSender<SideEnded>,
    ended: fn(io::Result<()>) -> SideEnded,
    on_line: impl Fn(&[u8]) + Send + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Handle::current();
    let follow = move || {
        let _entered = runtime.enter();
        let (mut lines, mut line) = (LineReader::new(from), Vec::new());
        let read = loop {
            match lines.next(&mut line) {
                Ok(true) => on_line(&line),
                Ok(false) => break Ok(()),
                Err(err) => break Err(err),
            }
        };
        // An error means that the other side ended before.
        let _ = over.send(ended(read));
    };
    std::thread::Builder::new().spawn(follow).map(drop)
}

async fn agent_exit(group: &mut Group) -> Exit {
    match group.wait().await {
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

/// A line with a value.
fn line(value: &Value) -> Vec<u8> {
    let mut text = value.to_string().into_bytes();
    text.push(b'\n');
    text
}
