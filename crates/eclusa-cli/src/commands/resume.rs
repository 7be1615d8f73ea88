//! `eclusa resume`: calls that waited for an approval, made again.

use eclusa::{
    Origin, Reply, Run, TakeYes, ToolCall,
    approve::{QuestionState, QueuedQuestion},
    store::ApprovalQueue,
};
use eclusa_app::pending_runs::is_to_take;
use serde_json::json;

use super::approvals::made_again;
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    gates::GateParts,
    person::call_id,
    reply,
    screen::Screen,
    servers,
    signals::cancel_on_signal,
    surface::Surface,
    telemetry,
    terminal::Terminal,
};

/// Run calls that were approved since
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa run --park bash command='make deploy'  ends with code 4: waits for approval 12
  eclusa approvals yes 12                       approve it
  eclusa resume 12                              run it

A call that has not run passes every gate again; only the approval is taken. One that has run does not run \
again: its changes are applied as they were shown. Exit code 4: an answer is still missing.")]
pub(crate) struct ResumeArgs {
    /// The numbers of their approvals
    #[arg(value_name = "NUMBER", required_unless_present = "all")]
    pub(crate) approvals: Vec<u64>,
    /// All approvals that no other process is waiting for
    #[arg(long, conflicts_with = "approvals")]
    pub(crate) all: bool,
}

pub(super) async fn run(ctx: &AppContext, args: ResumeArgs, json: bool) -> Result<Exit, Failure> {
    // Only a log that is there can hold a question.
    drop(ctx.paths.log()?);
    let store = ctx.store()?;
    let queue = store.approval_queue(Vec::new());
    let terminal = Terminal::new(true, ctx.paths.always_files());
    let gate = ctx.gate(Surface::Resume, GateParts::asking(&store, terminal))?;
    let gate = gate.for_run(Run { park: true, ..gate.run().clone() });
    cancel_on_signal(gate.run().cancel.clone());
    let waiting = waiting(&*queue, &args, &gate.run().principal).await?;
    if waiting.is_empty() && !json {
        let mut screen = Screen::stdout();
        screen.line("nothing waits to be resumed")?;
        screen.flush()?;
    }
    let mut worst = Exit::Done;
    for queued in waiting {
        if let Some(pending) = queued.question.pending {
            let exit = match queued.state {
                QuestionState::Pending => waits(&queued, json)?,
                _ => {
                    let yes = TakeYes::Queued(Box::new(queued));
                    report(&gate.take(pending.call, yes).await, json)?
                }
            };
            worst = worse(worst, exit);
            continue;
        }
        let question = queued.question;
        let behind = servers::wake(ctx, gate.registry(), &question.tool).await?;
        let call = ToolCall {
            reason: question.reason,
            ..ToolCall::new(call_id(), question.tool, question.args).from(Origin::Person)
        };
        let reply = gate.pass(call).await;
        if let Some(behind) = behind {
            behind.close().await;
        }
        telemetry::answered(&reply);
        worst = worse(worst, report(&reply, json)?);
    }
    Ok(worst)
}

fn worse(worst: Exit, exit: Exit) -> Exit {
    if worst == Exit::Done || exit == Exit::Failed { exit } else { worst }
}

fn report(reply: &Reply, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&reply::as_json(reply))?,
        false => reply::print(reply, &mut screen)?,
    }
    screen.flush()?;
    Ok(reply::exit(reply))
}

/// A run whose question nobody has answered: it is not made again.
fn waits(queued: &QueuedQuestion, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let text = format!("its changes wait for approval {}", queued.id);
    match json {
        true => screen.json(&json!({"code": "parked", "approval": queued.id, "error": text}))?,
        false => screen.line(&text)?,
    }
    screen.flush()?;
    Ok(Exit::Parked)
}

/// The questions to ask again. The error says which of them cannot be.
async fn waiting(
    queue: &dyn ApprovalQueue,
    args: &ResumeArgs,
    principal: &str,
) -> Result<Vec<QueuedQuestion>, Failure> {
    if args.all {
        let mut left = queue.left().await.map_err(Failure::failed)?;
        left.retain(|it| it.question.principal == principal);
        return Ok(left);
    }
    let mut found = Vec::new();
    let mut numbers = args.approvals.clone();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let queued = queue.get(number).await.map_err(|err| {
            Failure::failed(err).hint("`eclusa approvals` lists the pending ones")
        })?;
        if queued.question.principal != principal {
            let whose = queued.question.principal;
            return Err(Failure::failed(format!("approval {number} is for a call of `{whose}`")));
        }
        if queued.question.pending.is_some() && is_to_take(&queued) {
            found.push(queued);
            continue;
        }
        if !queued.state.is_open() {
            let state = queued.state;
            let over = match state {
                QuestionState::Taken => "was already used".to_owned(),
                state => format!("is {state}"),
            };
            let over = Failure::failed(format!("approval {number} {over}; make the call again"));
            return Err(match state {
                QuestionState::Expired => over.hint(made_again(&queued.question)),
                _ => over,
            });
        }
        if !queued.asker_away {
            return Err(Failure::failed(format!(
                "the requester still waits for approval {number}, and continues by itself"
            )));
        }
        found.push(queued);
    }
    Ok(found)
}
