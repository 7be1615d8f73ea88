//! What the page can look at: the workspaces of a person, with their questions and their log.

use std::sync::Arc;

use eclusa::{approve::Questions, audit::Log};
use futures::future::BoxFuture;

/// A workspace, as lists name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceEntry {
    /// What no other workspace is called; stands in addresses.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// Where it is, if that is known.
    pub directory: Option<String>,
}

/// What a call changed, and whether that still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEffects {
    /// The changes, as people read them.
    pub diff: String,
    /// What has become of them: `applied`, `undone` and so on.
    pub status: String,
    /// Whether they can be undone.
    pub can_undo: bool,
}

/// A rule that would have saved questions, tried on the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The rule, as it would stand in a file.
    pub rule: String,
    /// How many questions it would have saved.
    pub saved: usize,
    /// One of the calls.
    pub example: String,
}

/// What goes on in a workspace after the call that started it, or went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEntry {
    /// Its number in the workspace.
    pub number: u64,
    /// Its session, by its name.
    pub session: String,
    /// The command.
    pub command: String,
    /// The call that started it, in the log.
    pub call: Option<u64>,
    /// When it was started, in milliseconds since 1970.
    pub since: u64,
    /// What it does, on which ports it listens, or how it ended.
    pub state: String,
    /// Whether it runs.
    pub runs: bool,
}

/// The workspaces of a person, whatever holds them.
pub trait Workspaces: Send + Sync {
    /// All of them. One that cannot be read is left out.
    fn list(&self) -> Vec<WorkspaceEntry>;

    /// The questions of one.
    fn questions(&self, key: &str) -> Option<Arc<dyn Questions>>;

    /// The log of one.
    fn log(&self, key: &str) -> Option<Arc<dyn Log>>;

    /// What a call changed; `None` where nothing of it is kept.
    fn effects(&self, key: &str, call: u64) -> Option<CallEffects>;

    /// Undoes what a call changed, as a call of this person through the gate. Says what was done.
    fn undo<'a>(
        &'a self,
        key: &'a str,
        call: u64,
        person: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;

    /// Applies what a question is about that was just answered with a yes, where that is a run that
    /// waits and nobody waits for it. Says what came of it; the error says why nothing was applied.
    fn take<'a>(&'a self, key: &'a str, question: u64) -> BoxFuture<'a, Result<String, String>>;

    /// The jobs of one, in order.
    fn jobs(&self, key: &str) -> Vec<JobEntry>;

    /// The last part of what a job has printed, redacted. `None` where nothing of it is kept.
    fn job_output(&self, key: &str, job: u64) -> Option<String>;

    /// Ends a job, and says how it ended.
    fn end_job<'a>(&'a self, key: &'a str, job: u64) -> BoxFuture<'a, Result<String, String>>;

    /// Rules that would have saved questions, the best first.
    fn suggestions(&self, key: &str) -> Vec<Suggestion>;
}
