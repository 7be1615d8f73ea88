//! Our own tools for a live agent: served to it alone and outside its sandbox, so that each call
//! passes the gate and each command runs in a sandbox of its own.

use std::{net::Ipv4Addr, sync::Arc};

use eclusa::{
    Answer, Approver, NotAsked, Question, Validated,
    preflight::{Checkpoint, PreflightError},
};
use eclusa_app::serve_mcp::{self, ClientAnswers, ServersBehind};
use eclusa_mcp::{Http, Startup, WaitLimits, serve_http};
use futures::future::BoxFuture;
use tokio::{
    net::TcpListener,
    sync::{Mutex, oneshot},
    task::JoinHandle,
};

use super::{agent_screen::AgentScreen, model_proxy::Destination};
use crate::commands::{
    context::AppContext, failure::Failure, global::Global, terminal::Terminal, tickets::random_name,
};

/// Serves until it is closed.
pub(super) struct ToolService {
    opening: Startup,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl ToolService {
    /// Starts to serve, and says where the tools are. Questions are asked on the person's terminal,
    /// where the agent is on one; never of the agent, which could answer them itself.
    pub(super) async fn open(
        global: &Global,
        ctx: &AppContext,
        screen: Option<AgentScreen>,
    ) -> Result<(ToolService, Destination), Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let token = random_name()?;
        let header = ("authorization", format!("Bearer {token}"));
        let (global, rules) = (global.clone(), ctx.paths.always_files());
        let opening = Startup::start(move || {
            let opened = serve_mcp::open(
                &global,
                || Ok(ServersBehind::Configured),
                ClientAnswers::Refused,
                |parts| {
                    parts.people.clear();
                    parts.checkpoint = None;
                    if let Some(screen) = screen {
                        let terminal = Terminal::new(false, rules);
                        let person =
                            Arc::new(PersonBeside { terminal, screen, one: Mutex::default() });
                        parts.people = vec![person.clone()];
                        parts.checkpoint = Some(person);
                    }
                },
            );
            opened.map_err(|failure| failure.lines().join("; "))
        });
        let http = Http { listener, token: Some(token), same_user: false, hosts: Vec::new() };
        let (stop, stopped) = oneshot::channel();
        let ended = async move { drop(stopped.await) };
        let serving = tokio::spawn(serve_http(opening.clone(), WaitLimits::default(), http, ended));
        Ok((ToolService { opening, stop, serving }, Destination { url, header }))
    }

    /// Ends what is under way: calls are cancelled and recorded.
    pub(super) async fn close(self) {
        let _ = self.stop.send(());
        // It has a time limit of its own; a crash has ended it already.
        let _ = self.serving.await;
        serve_mcp::end(&self.opening).await;
    }
}

/// The person at the terminal that the agent is on: one question at a time, while the agent's
/// screen steps back.
struct PersonBeside {
    terminal: Terminal,
    screen: AgentScreen,
    one: Mutex<()>,
}

impl Approver for PersonBeside {
    fn name(&self) -> &str {
        self.terminal.name()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let _one = self.one.lock().await;
            let _aside = self.screen.step_back();
            self.terminal.ask(question).await
        })
    }
}

impl Checkpoint for PersonBeside {
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        Box::pin(async move {
            let _one = self.one.lock().await;
            let _aside = self.screen.step_back();
            self.terminal.open(call).await
        })
    }
}
