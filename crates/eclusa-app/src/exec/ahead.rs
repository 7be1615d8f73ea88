//! A command of another agent that is run ahead of its question: what it would change is kept, and
//! a ticket takes it. No host is open, and nothing is written at once.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use eclusa::{Approver, Decision, Origin, Reply, Run, ToolCall, Workspace, store::Store};
use eclusa_tools::{Bash, JobHome, SandboxSettings, Sandboxes, WriteTracking};
use serde_json::{Value, json};

use super::{
    ExecReport,
    exit_status::{BashWithStatus, CommandStatus, StatusSlot},
    typed_approval::ShownChanges,
};
use crate::{
    context::AppContext, failure::Failure, gates::GateParts, printed::Printed, shell,
    surface::Surface,
};

/// A command, and how it is run ahead.
pub struct AheadOrder<'a> {
    /// The command.
    pub command: &'a str,
    /// Where it starts, below the workspace.
    pub directory: &'a str,
    /// The agent's id for the call.
    pub call: &'a str,
    /// The run that it belongs to.
    pub run: Run,
    /// How long it is waited for.
    pub time: Duration,
    /// Who notes what has to be asked.
    pub asks: Arc<dyn Approver>,
}

/// What came of it.
pub enum AheadRun {
    /// Its changes are kept under the number of this call; the command left with this code, and this is told of it.
    Kept(u64, Option<i64>, Printed),
    /// It changed nothing.
    Unchanged(Printed),
    /// Its changes are refused, or wait in the queue: what the model is told.
    Unapplied(String),
    /// Nothing of it is kept: it runs by its ticket, as if this had not been.
    Anew(Option<u64>),
}

impl AppContext {
    /// The sandboxes for commands that run ahead; `None` where something that they do could not be
    /// thrown away.
    fn sandboxes_ahead(&self) -> Result<Option<Sandboxes>, Failure> {
        let settings = shell::settings(&self.paths, &self.config, &[]);
        if !settings.live.is_empty() || !settings.writable.is_empty() {
            return Ok(None);
        }
        let (hosts, jobs) = (Vec::new(), JobHome::Nowhere);
        let sandboxes = shell::with_settings(SandboxSettings { hosts, jobs, ..settings })?;
        let staged = sandboxes.write_tracking() == WriteTracking::Overlay;
        Ok(staged.then_some(sandboxes))
    }

    /// Runs a command ahead of its question; `None` where that cannot be done.
    pub async fn run_ahead(
        &self,
        store: &Arc<dyn Store>,
        order: AheadOrder<'_>,
    ) -> Result<Option<AheadRun>, Failure> {
        let Some(sandboxes) = self.sandboxes_ahead()? else { return Ok(None) };
        shell::sweep(&sandboxes);
        let slot = StatusSlot::default();
        let bash = |sandboxes, files| {
            let bash = Bash::new(sandboxes, files).time(order.time);
            BashWithStatus { bash, slot: slot.clone() }
        };
        let run = Some(Run { ahead: true, ..order.run });
        let parts = GateParts { people: vec![order.asks], run, ..GateParts::new(store) };
        let gate = self.gate_to_execute(Surface::Ticket, sandboxes, bash, parts)?;
        let args = json!({"command": order.command, "cwd": order.directory});
        let call = || ToolCall::new(order.call, "bash", args.clone()).from(Origin::Hook);
        let staged = gate.check(call()).is_ok_and(|it| it.1.decision == Decision::Stage);
        if !staged {
            return Ok(None);
        }
        let reply = gate.pass(call()).await;
        let ran = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let code = ran.as_ref().and_then(|it| it.data.get("exit_code")).and_then(Value::as_i64);
        if ran.as_ref().is_some_and(|it| wants_more(&it.data)) {
            forget(gate.workspace(), &reply);
            return Ok(Some(AheadRun::Anew(reply.number())));
        }
        Ok(Some(match (reply.code(), reply.number()) {
            ("ran_ahead", Some(number)) => {
                let text = reply.output().unwrap_or_default().to_owned();
                let notes = ran.as_ref().map(|it| super::remarks(&it.data));
                let mut notes = notes.unwrap_or_default();
                notes.push("its changes are applied when this call ends".to_owned());
                let exit = code.and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
                let told = Printed { text, notes, error: None, code: exit };
                AheadRun::Kept(number, code, told)
            }
            _ if reply.is_unapplied() => AheadRun::Unapplied(reply.content().into_owned()),
            // It was judged otherwise than before: the hook judges it.
            (_, number) if reply.refused() => AheadRun::Anew(number),
            // By its ticket that goes on, and nothing is lost.
            (_, number) if ran.as_ref().is_some_and(|it| leaves_processes(&it.data)) => {
                forget(gate.workspace(), &reply);
                AheadRun::Anew(number)
            }
            _ => {
                let earlier = || reply.data().cloned().map(|data| CommandStatus { data });
                let (ended, seen) = (ran.or_else(earlier), ShownChanges::default());
                let report = ExecReport { reply: &reply, ended, seen, staged: false };
                AheadRun::Unchanged(report.printed())
            }
        }))
    }
}

/// Whether the command would do something else with more time, or with the network.
fn wants_more(data: &Value) -> bool {
    let tried = data.get("network").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    tried || data.get("timed_out").and_then(Value::as_bool) == Some(true)
}

/// Whether it left something running, which was ended.
fn leaves_processes(data: &Value) -> bool {
    data.get("ended_processes").is_some()
}

fn forget(workspace: Option<&Workspace>, reply: &Reply) {
    if let (Some(workspace), Some(number)) = (workspace, reply.number()) {
        workspace.forget_pending(number);
    }
}
