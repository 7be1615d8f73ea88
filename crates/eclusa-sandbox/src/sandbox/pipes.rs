//! A command that is talked to: its input and its output are pipes of the caller's, and only what
//! it writes to standard error is kept.

use super::{Sandbox, pipe};
use crate::capabilities::HostCapabilities;
use crate::child_spec::{ChildSpec, PipeEnds};
use crate::plan::Plan;
use crate::reach::Pipes;
use crate::step::SandboxError;

impl Sandbox {
    /// Starts the command of a plan and keeps its standard input and output open for the caller.
    /// `progress` gets what it writes to standard error, of which the plan says how much is kept.
    pub fn talk(
        plan: &Plan,
        capabilities: &HostCapabilities,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<(Sandbox, Pipes), SandboxError> {
        let (read, input) = pipe()?;
        let (output, write) = pipe()?;
        let mut spec = ChildSpec::build(plan, capabilities)?;
        spec.ends = Some(PipeEnds { input: read, output: write });
        let sandbox = Sandbox::begin(spec, plan, capabilities, progress)?;
        Ok((sandbox, Pipes { input, output }))
    }
}
