//! What of a command may go on after it, and what a command has of those that do.

use std::path::PathBuf;

use eclusa_sandbox::{Outlives, Plan};

use super::{Sandboxes, running::RunError};
use crate::owner::{JobHome, JobRecords, OwnerClient, heal_views, was_shown_anything};

impl Sandboxes {
    /// The owner of a session, if it has one, and what its jobs have written and nobody has applied, the latest
    /// first.
    pub(super) fn owner(
        &self,
        session: &str,
    ) -> Result<(Option<OwnerClient>, Vec<PathBuf>), RunError> {
        match OwnerClient::connect(&self.settings().state, session)? {
            None => Ok((None, Vec::new())),
            Some(owner) => {
                let layers = self.job_layers(session);
                if !was_shown_anything(&layers) {
                    return Ok((Some(owner), layers));
                }
                // A connection is for one message.
                heal_views(owner, &self.settings().root);
                Ok((OwnerClient::connect(&self.settings().state, session)?, layers))
            }
        }
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
