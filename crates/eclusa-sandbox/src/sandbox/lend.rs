//! A sandbox that is built for its network alone, which others then share.

use super::{Sandbox, Started};
use crate::capabilities::{HostCapabilities, Missing, Namespaces};
use crate::child_spec::ChildSpec;
use crate::plan::Plan;
use crate::shared_network::SharedNetwork;
use crate::step::{SandboxError, trying};

impl SharedNetwork {
    /// A new network. There is none where there are no namespaces.
    pub fn new(capabilities: &HostCapabilities) -> Result<SharedNetwork, SandboxError> {
        let mut plan = Plan::new(vec!["/".into()], "/");
        plan.may_lack = capabilities.missing();
        Sandbox::lend(&plan, capabilities)
    }
}

impl Sandbox {
    /// Builds the sandbox of a plan, runs nothing in it, and keeps its network.
    fn lend(plan: &Plan, capabilities: &HostCapabilities) -> Result<SharedNetwork, SandboxError> {
        let mut spec = ChildSpec::build(plan, capabilities)?;
        spec.argv.truncate(1);
        spec.lend = spec.namespaces != Namespaces::None;
        let (mut started, handed) = Started::new(spec)?;
        started.child.wait().map_err(trying("wait for the network"))?;
        let enforcement = capabilities.enforcement();
        let none = SandboxError::Unable { lacking: Missing::Namespaces, enforcement };
        handed.lent.ok_or(none)
    }
}
