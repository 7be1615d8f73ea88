//! What a call that runs may reach beyond what was decided before: hosts, and a person's key.

use std::panic::{AssertUnwindSafe, catch_unwind};

use eclusa_net::{ClosedHosts, HostAccess, HostPattern, HostSet};

use super::Job;
use crate::{
    Changes, Decision, HostRefused, Mode, Policy, Touch,
    policy::{named_hosts, tried_all_the_same},
    tool::{OpenedHosts, SignatureRequest, SignatureYes},
};

impl Job {
    /// Which hosts this call may reach while it runs, as far as rules and people say: for a sandbox,
    /// which holds a command to them. Hosts that the call names are granted where a person said yes
    /// to it; no mode answers for one.
    pub fn host_access(&self) -> HostAccess {
        // What is sent cannot be taken back.
        if self.gate.run().ahead || self.gate.is_rehearsal() {
            return HostAccess::nothing();
        }
        let policy = self.gate.policy();
        let access = catch_unwind(AssertUnwindSafe(|| policy.host_access(&self.call.view())));
        // A policy that panics has closed everything.
        let mut access = access.unwrap_or_else(|_panic| HostAccess::nothing());
        if self.approved {
            access.granted = named_hosts(&self.call.view());
        } else if self.asks_a_person() && self.is_tried_in_taint(&**policy) {
            // What the settings open is asked about too, but for what a rule opens that has thought of this.
            let (hosts, unless) = (HostSet::from(HostPattern::EVERY_HOST), access.opened.clone());
            access.asked.push(ClosedHosts { hosts, unless });
        }
        if self.gate.run().mode_in_force() == Mode::Yolo {
            access.asked.clear();
        }
        access
    }

    /// Whether there is text from outside in the session: an answer from before that is none for this call.
    pub fn has_text_from_outside(&self) -> bool {
        self.call.context().taint.is_some() || self.gate.is_tainted()
    }

    /// Whether it is tried although there is text from outside. A policy that panics was asked before.
    fn is_tried_in_taint(&self, policy: &dyn Policy) -> bool {
        let tried = || tried_all_the_same(policy, &self.call.view()).is_some();
        catch_unwind(AssertUnwindSafe(tried)).unwrap_or(true)
    }

    /// Asks a person whether this call may run again with these hosts open (`example.com`, with `:port` where that is
    /// not the usual one). `None` where nobody said yes. The time that takes is not the tool's. `beside` is told too.
    pub async fn ask_for_hosts(
        &self,
        hosts: &[String],
        beside: Option<&str>,
    ) -> Option<OpenedHosts> {
        let asking = self.asking();
        let answered = self.gate.ask_about_hosts(&self.call, hosts, beside).await;
        drop(asking);
        answered
    }

    /// Asks a person whether what this call made may be signed with their key. They are shown what it changed so far.
    /// `None` where nobody said yes. The time that takes is not the tool's.
    pub async fn ask_to_sign(
        &self,
        request: &SignatureRequest,
        changes: &Changes,
    ) -> Option<SignatureYes> {
        let asking = self.asking();
        let answered = self.gate.ask_to_sign(&self.call, request, changes).await;
        drop(asking);
        answered
    }

    /// Whether this call, which was sent on to another host, may talk to it (`example.com`, with
    /// `:port` where that is not the usual one). The error says why not. Nobody is asked: what
    /// would have to be asked about is refused, because the call is running already.
    pub fn may_fetch(&self, host: &str) -> Result<(), HostRefused> {
        let own = |it: &Touch| matches!(it, Touch::Fetch(own) if own == host);
        if self.call.touches().iter().any(own) {
            return Ok(());
        }
        let policy = self.gate.policy();
        let judged = catch_unwind(AssertUnwindSafe(|| policy.judge_host(&self.call.view(), host)));
        let verdict = judged.map_err(|_panic| "the policy crashed")?;
        let verdict = self.gate.run().mode_in_force().apply(verdict);
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Stage | Decision::Ask | Decision::Deny => {
                Err(verdict.why().into_owned().into())
            }
        }
    }
}
