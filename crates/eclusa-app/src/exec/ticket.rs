//! `eclusa exec --ticket`: what another agent's hook allowed, run in the sandbox. Its output is
//! printed as the model may see it: reviewed, redacted, cut.

use std::sync::{Arc, PoisonError};

use eclusa::{
    Approver, Origin, Question, TakeYes, ToolCall, Touch, approve::EarlierYes, policy::named_files,
};
use eclusa_tools::{Bash, JobHome};
use serde_json::json;

use super::{
    ExecReport,
    exit_status::{BashWithStatus, CommandStatus, StatusSlot},
    typed_approval::ShownChanges,
};
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    gates::{GateParts, NO_LIMIT},
    global::Global,
    paths::{self, Paths},
    screen, shell,
    signals::cancel_on_signal,
    surface::Surface,
    tickets::{ExecTicket, TicketAhead},
};

/// What the hook worked with: where the ticket and this process differ, nothing is run.
fn open(global: &Global, ticket: &ExecTicket) -> Result<AppContext, Failure> {
    if let Some(why) = ticket.misled() {
        return Err(refused(why));
    }
    let global = ticket.global(global);
    let paths = ticket.paths(Paths::find(&global)?).map_err(refused)?;
    let ctx = AppContext::open_at(&global, paths)?;
    match ctx.config_digest.to_string() == ticket.config_digest {
        true => Ok(ctx),
        false => {
            Err(refused("the configuration has changed since; make the call again".to_owned()))
        }
    }
}

fn refused(why: String) -> Failure {
    Failure::refused(format!("not run: {why}"))
}

/// Runs what the ticket is for, and prints what the model may see of it.
pub async fn run(global: &Global, name: &str, shown: &[String]) -> Result<Exit, Failure> {
    // Only the state directory counts here: the rest comes from the ticket.
    let agents = paths::state_directory(global)?.join(paths::AGENTS);
    let ticket = ExecTicket::take(&agents, name).map_err(refused)?;
    match shown {
        [] => {}
        [text] if *text == ticket.text => {}
        _ => return Err(refused("the ticket is for another command".to_owned())),
    }
    let ctx = open(global, &ticket)?;
    if let Some(ahead) = &ticket.ahead {
        return take(&ctx, name, ahead).await;
    }
    if ticket.uses.approved {
        let files = named_files(&ctx.paths.workspace, &ticket.text, Some(&ticket.directory));
        if files.map(|it| it.to_string()) != ticket.files {
            let why = "a file that the command names has changed since it was approved; make the call again";
            return Err(refused(why.to_owned()));
        }
    }
    let sandboxes = ctx.sandboxes_with(&[], JobHome::apart(true))?;
    let store = ctx.store_for_one_call()?;
    shell::sweep(&sandboxes);
    let slot = StatusSlot::default();
    let bash = |sandboxes, files| {
        let bash = Bash::new(sandboxes, files).time(NO_LIMIT);
        BashWithStatus { bash, slot: slot.clone() }
    };
    let mut people: Vec<Arc<dyn Approver>> = Vec::new();
    if ticket.uses.approved {
        // Their yes is to running the command. On a machine without a whole sandbox the question is
        // another one.
        // What is in the files that it names may have changed since they were compared above.
        let files = ticket.files.clone();
        let covers = move |question: &Question| {
            let unheld = |it: &Touch| matches!(it, Touch::Unknown | Touch::Unheld(_));
            !question.touches.iter().any(unheld) && question.bound_files() == files.as_deref()
        };
        people.push(Arc::new(EarlierYes::to_running("ticket", covers)));
    }
    let run = Some(ticket.run(ctx.run()));
    let parts = GateParts { people, run, ..GateParts::new(&store) };
    let gate = ctx.gate_to_execute(Surface::Ticket, sandboxes, bash, parts)?;
    cancel_on_signal(gate.run().cancel.clone());
    let mut args = json!({"command": ticket.text, "cwd": ticket.directory});
    if let (true, Some(fields)) = (ticket.background, args.as_object_mut()) {
        fields.insert("background".to_owned(), true.into());
    }
    let reply = gate.pass(ToolCall::new(ticket.call, "bash", args).from(Origin::Hook)).await;
    let ended = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let seen = ShownChanges::default();
    let report = ExecReport { reply: &reply, ended, seen, staged: false };
    report.printed().print()
}

/// Tells what a command did that ran ahead, where the agent lets nothing more be done: the hook after this call takes
/// its changes.
pub fn tell(global: &Global, name: &str, shown: &[String]) -> Result<Exit, Failure> {
    let agents = paths::state_directory(global)?.join(paths::AGENTS);
    let ticket = ExecTicket::look(&agents, name).map_err(refused)?;
    if !shown.is_empty() && shown != [ticket.text.as_str()] {
        return Err(refused("the ticket is for another command".to_owned()));
    }
    let Some(TicketAhead::Told(printed)) = &ticket.ahead else {
        return Err(refused("the ticket is for running".to_owned()));
    };
    printed.print()
}

/// Takes what the command did when it ran ahead: nothing runs again. The proof of the agent's road is the
/// yes to it.
async fn take(ctx: &AppContext, name: &str, ahead: &TicketAhead) -> Result<Exit, Failure> {
    let (call, by) = match ahead {
        TicketAhead::Unchanged(printed) => return printed.print(),
        TicketAhead::Told(_) => {
            return Err(refused("the ticket only reports what was done".to_owned()));
        }
        TicketAhead::Kept { call, by, marked } => {
            let agents = ctx.paths.agents();
            if *marked && !ExecTicket::take_mark(&agents, name) {
                let text = format!(
                    "ran; its changes are not applied, because nobody was asked: `eclusa changes apply \
                    {call}` applies them"
                );
                screen::error(&[text]);
                return Ok(Exit::Parked);
            }
            (*call, by.clone())
        }
    };
    let store = ctx.store_for_one_call()?;
    let gate = ctx.gate(Surface::Ticket, GateParts::new(&store))?;
    cancel_on_signal(gate.run().cancel.clone());
    let reply = gate.take(call, TakeYes::Ahead(by)).await;
    let ended = reply.data().cloned().map(|data| CommandStatus { data });
    let seen = ShownChanges::default();
    ExecReport { reply: &reply, ended, seen, staged: false }.printed().print()
}
