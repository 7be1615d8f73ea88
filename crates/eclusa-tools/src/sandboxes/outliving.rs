//! What of a command may go on after it, and what a command has of those that do.

use std::path::PathBuf;

use eclusa_sandbox::{Outlives, Plan, listening_ports};

use super::{SandboxSettings, Sandboxes, running::RunError};
use crate::owner::{JobHome, JobRecords, OwnerClient, OwnerError, heal_views, start_owner};

/// What a command meets in its session.
#[derive(Default)]
pub(super) struct SessionJobs {
    pub(super) owner: Option<OwnerClient>,
    /// What jobs have written, the latest first.
    pub(super) layers: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
}

impl Sandboxes {
    /// The owner of a session, if it has one, what its jobs have written and nobody has applied, the latest first, and
    /// what is to be told of what they see.
    pub(super) fn owner(&self, session: &str) -> Result<SessionJobs, RunError> {
        let SandboxSettings { state, root, blocked, .. } = self.settings();
        let Some(owner) = OwnerClient::connect(state, session)? else {
            return Ok(SessionJobs::default());
        };
        let layers = self.job_layers(session);
        if layers.is_empty() {
            return Ok(SessionJobs { owner: Some(owner), layers, notes: Vec::new() });
        }
        let notes = heal_views(owner, root, blocked);
        // A connection is for one message.
        Ok(SessionJobs { owner: OwnerClient::connect(state, session)?, layers, notes })
    }

    /// The jobs of a session that run, with the beginning of their commands.
    pub(crate) fn jobs_that_run(&self, session: &str) -> Vec<(u64, String)> {
        const MAX_NAME: usize = 40;
        let all = JobRecords::new(&self.settings().state).all().into_iter();
        let theirs = all.filter(|it| it.session == session && it.ended.is_none());
        theirs.map(|it| (it.job, it.command.chars().take(MAX_NAME).collect())).collect()
    }

    /// Whether commands of a session are processes of their own, which do not share what they have.
    pub(crate) fn are_apart(&self) -> bool {
        matches!(self.settings().jobs, JobHome::Apart { .. })
    }

    /// Has the owner of a session hold the network of a command that serves something while it runs, so that later
    /// commands reach it. `first` is its first process. True when that has been done.
    pub(crate) fn share_network(&self, session: &str, first: i32) -> Result<bool, OwnerError> {
        let settings = self.settings();
        let JobHome::Apart { program, with_agent } = &settings.jobs else { return Ok(false) };
        let Some(network) = self.0.sessions.network(session) else { return Ok(false) };
        if listening_ports(first).is_empty() {
            return Ok(false);
        }
        let owner = match OwnerClient::connect(&settings.state, session)? {
            Some(owner) => owner,
            None => start_owner(program, &settings.state, session, *with_agent)?,
        };
        owner.share(&network).map(|()| true)
    }

    /// Where jobs of a session that run have written to, the latest first.
    fn job_layers(&self, session: &str) -> Vec<PathBuf> {
        let all = JobRecords::new(&self.settings().state).all().into_iter().rev();
        let theirs = all.filter(|it| it.session == session && it.ended.is_none());
        let uppers = theirs.filter_map(|it| Some(it.layer?.join("upper")));
        uppers.filter(|it| it.is_dir()).collect()
    }

    /// Lets a command go on, or what it leaves running, where that has a home.
    pub(super) fn let_outlive(&self, plan: &mut Plan, background: bool) {
        if plan.terminal.is_some() {
            return;
        }
        plan.outlives = match (&self.settings().jobs, background) {
            (JobHome::Apart { .. }, true) => Outlives::All,
            (JobHome::Apart { .. } | JobHome::Here, false) => Outlives::Left,
            (JobHome::Here | JobHome::Nowhere, _) => Outlives::Nothing,
        };
        let goes_on = background || plan.outlives != Outlives::Nothing;
        plan.limits.going_on = self.settings().job_processes.filter(|_| goes_on);
        plan.hands_mount = goes_on && !matches!(self.settings().jobs, JobHome::Nowhere);
        if plan.outlives == Outlives::All {
            // Whoever serves it ends with this call.
            plan.hosts.clear();
            plan.proxy = false;
        }
    }
}
