//! A server's program in a sandbox.

use std::{io, sync::Arc, thread::JoinHandle};

use eclusa_mcp::{LaunchedServer, ServerProcess};
use eclusa_sandbox::{
    Cancel, Exit, HostCapabilities, How, Pipes, Plan, Sandbox,
    proxy::{Attempt, Hosts, Proxy, Refusal, Serving},
};
use futures::future::BoxFuture;
use tokio::{
    net::unix::pipe::{Receiver, Sender},
    sync::watch,
};

use super::stderr_tail::StderrTail;
use crate::spawn;

/// A program that has started.
pub(super) struct StartedServer {
    pipes: Pipes,
    process: SandboxedProcess,
}

/// Starts a program. It reaches these hosts and no others, whatever it tries.
pub(super) fn start(
    plan: &Plan,
    capabilities: &HostCapabilities,
    hosts: Hosts,
) -> io::Result<StartedServer> {
    let words = StderrTail::default();
    let heard = words.clone();
    let (mut sandbox, pipes) = Sandbox::talk(plan, capabilities, move |bytes| heard.add(bytes))
        .map_err(io::Error::other)?;
    let told = words.clone();
    let report = move |attempt: Attempt| match (attempt.grant(), attempt.outcome) {
        (Some(host), _) => {
            tracing::info!(host, "a server was not let reach a host");
            told.refused(host);
        }
        (None, Err(Refusal::Ended) | Ok(_)) => {}
        (None, Err(why)) => told.unreached(why.to_string()),
    };
    let serve = |listener| Proxy::new(hosts, report).serve(listener);
    let serving = sandbox.take_listener().map(serve).transpose()?;
    Ok(StartedServer { pipes, process: SandboxedProcess::new(sandbox, serving, words)? })
}

impl StartedServer {
    /// What the gateway talks to. `sandbox` says what holds it.
    pub(super) fn launched(self, sandbox: String) -> io::Result<LaunchedServer> {
        Ok(LaunchedServer {
            input: Box::new(Sender::from_owned_fd(self.pipes.input)?),
            output: Box::new(Receiver::from_owned_fd(self.pipes.output)?),
            denied_access: Some(Arc::new(self.process.words.clone())),
            process: Box::new(self.process),
            sandbox: Some(sandbox),
        })
    }
}

/// A program in a sandbox. Dropping this ends it, with everything that it started.
struct SandboxedProcess {
    cancel: Cancel,
    ended: watch::Receiver<Option<String>>,
    waiting: Option<JoinHandle<()>>,
    words: StderrTail,
}

impl SandboxedProcess {
    fn new(
        sandbox: Sandbox,
        serving: Option<Serving>,
        words: StderrTail,
    ) -> io::Result<SandboxedProcess> {
        let cancel = sandbox.canceller();
        let (tell, ended) = watch::channel(None);
        let last = words.clone();
        let wait = move || {
            let how = match sandbox.wait() {
                Ok(exit) => how(&exit),
                Err(err) => err.to_string(),
            };
            drop(serving);
            tell.send_replace(Some(last.after(&how)));
        };
        let waiting = std::thread::Builder::new().name("server".to_owned()).spawn(wait)?;
        Ok(SandboxedProcess { cancel, ended, waiting: Some(waiting), words })
    }
}

fn how(exit: &Exit) -> String {
    match exit.how {
        How::Code(code) => format!("its program ended with exit code {code}"),
        How::Signal(signal) => format!("its program was ended by signal {signal}"),
    }
}

impl ServerProcess for SandboxedProcess {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            match self.ended.wait_for(Option::is_some).await {
                Ok(ended) => ended.clone().unwrap_or_default(),
                Err(_gone) => "it is not known how it ended".to_owned(),
            }
        })
    }

    fn told(&self) -> Option<String> {
        self.words.report()
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        self.cancel.cancel();
        // Waiting is not for whoever drops this; main waits for the thread before it ends.
        if let Some(waiting) = self.waiting.take() {
            spawn::wait_later(waiting);
        }
    }
}
