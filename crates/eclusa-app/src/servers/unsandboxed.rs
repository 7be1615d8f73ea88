//! A server's program without a sandbox, for a person who wrote `sandbox = false`.

use std::{io, process::Stdio, sync::Arc};

use eclusa_mcp::{LaunchedServer, ServerProcess};
use futures::future::BoxFuture;
use tokio::{io::AsyncReadExt, process::ChildStderr, sync::Notify};

use super::stderr_tail::StderrTail;
use crate::spawn::{Group, Program};

/// What is said of it wherever it is shown.
pub(super) const NO_SANDBOX: &str = "not held";

/// Starts a program.
pub(super) fn start(program: &Program) -> io::Result<LaunchedServer> {
    let mut command = program.prepared()?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|err| program.explained(&err))?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let group = Group::new(child);
    let gone = || io::Error::other("it has no pipes");
    let (words, heard_all) = (StderrTail::default(), Arc::new(Notify::new()));
    tokio::spawn(listen(errors.ok_or_else(gone)?, words.clone(), heard_all.clone()));
    Ok(LaunchedServer {
        input: Box::new(input.ok_or_else(gone)?),
        output: Box::new(output.ok_or_else(gone)?),
        process: Box::new(UnsandboxedProcess { group, words, heard_all }),
        sandbox: Some(NO_SANDBOX.to_owned()),
        denied_access: None,
    })
}

async fn listen(mut errors: ChildStderr, words: StderrTail, heard_all: Arc<Notify>) {
    let mut buffer = vec![0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        words.add(buffer.get(..count).unwrap_or_default());
    }
    heard_all.notify_one();
}

struct UnsandboxedProcess {
    group: Group,
    words: StderrTail,
    heard_all: Arc<Notify>,
}

impl ServerProcess for UnsandboxedProcess {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            let how = match self.group.wait().await {
                Ok(status) => format!("its program ended: {status}"),
                Err(err) => format!("its program cannot be watched: {err}"),
            };
            // A moment for its last words: somebody whom it started may hold the pipe open.
            let _ = tokio::time::timeout(
                std::time::Duration::from_millis(200),
                self.heard_all.notified(),
            )
            .await;
            self.words.after(&how)
        })
    }

    fn told(&self) -> Option<String> {
        self.words.report()
    }
}
