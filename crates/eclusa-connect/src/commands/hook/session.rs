//! The session that a hook's event belongs to.

use std::{env, path::PathBuf, sync::Arc};

use eclusa::{Approver, approve::AnswerGiven};
use futures::future::BoxFuture;

use super::{PersonAsked, allowed_calls::AllowedCalls};
use crate::HookEvent;
use crate::commands::{
    agent_session::{AgentSession, Participants},
    agents::pause,
    global::Global,
    surface::Surface,
};

/// A session, as far as one hook of it knows.
pub(super) struct HookSession {
    pub(super) agent: AgentSession,
    pub(super) calls: AllowedCalls,
}

impl HookSession {
    /// Opens the session of an event.
    pub(super) fn open(global: &Global, event: &HookEvent) -> Result<HookSession, String> {
        let root = root(event)?;
        if let Some(why) = crate::commands::agents::redirected(event.agent, &root) {
            return Err(why);
        }
        let client = match &event.version {
            Some(version) => format!("{} {version}", event.agent.name),
            None => event.agent.name.to_owned(),
        };
        let name = format!("{}:{}", event.agent.name, event.session);
        let mut agent = AgentSession::open(global, Surface::Hook, &root, name, client)?;
        let calls = AllowedCalls::new(&agent.ctx.paths, event);
        agent.subagent.clone_from(&event.subagent);
        agent.old_taint = calls.old_taint();
        agent.paused = pause::refusal(&agent.ctx.paths, event.agent.name);
        Ok(HookSession { agent, calls })
    }

    /// Who takes part in every call: the approval queue.
    pub(super) fn participants(&self, asking: &PersonAsked) -> Participants {
        let asking = asking.clone();
        Participants {
            before_queue: Some(Box::new(move |queue| Arc::new(Queue { queue, asking }))),
            ..Participants::default()
        }
    }
}

/// Where the session was started: what the agent says of itself, or where it runs its hooks.
pub(super) fn root(event: &HookEvent) -> Result<PathBuf, String> {
    let variable = event
        .agent
        .hooks
        .as_ref()
        .and_then(|it| it.root_variable)
        .and_then(env::var_os)
        .map(PathBuf::from);
    let named = variable.or_else(|| event.root.as_ref().map(PathBuf::from));
    match named.filter(|it| it.is_absolute() && it.is_dir()) {
        Some(root) => Ok(root),
        None => env::current_dir().map_err(|err| format!("the session has no directory: {err}")),
    }
}

/// The approval queue; while it waits there is more time.
struct Queue {
    queue: Arc<dyn Approver>,
    asking: PersonAsked,
}

impl Approver for Queue {
    fn name(&self) -> &str {
        self.queue.name()
    }

    fn takes_several(&self) -> bool {
        self.queue.takes_several()
    }

    fn ask<'a>(
        &'a self,
        question: &'a eclusa::Question,
    ) -> BoxFuture<'a, Result<eclusa::Answer, eclusa::NotAsked>> {
        self.asking.begin();
        self.queue.ask(question)
    }

    fn submit<'a>(
        &'a self,
        question: &'a eclusa::Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<AnswerGiven, eclusa::NotAsked>> {
        self.asking.begin();
        self.queue.submit(question, wait)
    }

    fn withdraw(&self, question: &eclusa::Question) {
        self.queue.withdraw(question);
    }
}
