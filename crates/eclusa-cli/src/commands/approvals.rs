//! `eclusa approvals`: pending approvals, and their answers.

use std::io;

use eclusa::{Answer, Role, render};
use eclusa_store::{ApprovalQueue, QueueError, QueuedQuestion};
use rustix::termios::tcgetwinsize;
use serde_json::json;

use crate::{
    args::{ApprovalsCommand, Global},
    context::AppContext,
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, Style},
    timestamp::Timestamp,
};

pub(super) fn run(global: &Global, what: Option<ApprovalsCommand>) -> Result<Exit, Failure> {
    // Only a log that is there can hold a question.
    let log = Paths::find(global)?.log()?;
    let mut screen = Screen::stdout();
    match what.unwrap_or(ApprovalsCommand::List) {
        ApprovalsCommand::List => list(&ApprovalQueue::new(log), global.json, &mut screen)?,
        ApprovalsCommand::Yes { id } => answer(global, id, Answer::Once, &mut screen)?,
        ApprovalsCommand::No { id, reason } => answer(global, id, Answer::No(reason), &mut screen)?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Every question in full: nobody should say yes to what they have not seen.
fn list(desk: &ApprovalQueue, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let waiting = desk.list().map_err(Failure::failed)?;
    if json {
        return Ok(waiting.iter().try_for_each(|it| screen.json(&as_json(it)))?);
    }
    if waiting.is_empty() {
        return Ok(screen.line("no pending approvals")?);
    }
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    let columns = if columns == 0 { 80 } else { columns };
    for queued in waiting {
        let QueuedQuestion { id, created, expires, .. } = queued;
        let title = format!(
            "approval {id}, asked {}, expires {}",
            screen.time(Timestamp(created)),
            Timestamp(expires)
        );
        screen.styled(Style::Strong, &title)?;
        // The letters of a terminal's prompt mean nothing here.
        let lines = render(&queued.question).lines;
        let next = lines.iter().skip(1).map(|it| Some(it.role)).chain([None]);
        for (line, next) in lines.iter().zip(next) {
            let title = line.role == Role::Title && next == Some(Role::Answer);
            if title || line.role == Role::Answer {
                continue;
            }
            for piece in line.wrapped(columns) {
                screen.verbatim(Style::Plain, &piece)?;
            }
        }
        screen.line(&format!(
            "`eclusa approvals yes {id}` approves it, `eclusa approvals no {id} REASON` refuses it"
        ))?;
        screen.line("")?;
    }
    Ok(())
}

fn as_json(queued: &QueuedQuestion) -> serde_json::Value {
    let question = &queued.question;
    json!({
        "id": queued.id,
        "created": queued.created,
        "expires": queued.expires,
        "status": queued.status.as_str(),
        "call": question.call,
        "tool": question.tool,
        "class": question.class.as_str(),
        "args": question.args,
        "reason": question.reason,
        "binding": question.binding,
        "principal": question.principal,
        "conversation": question.conversation,
        "because": question.verdict.because.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn answer(global: &Global, id: u64, answer: Answer, screen: &mut Screen) -> Result<(), Failure> {
    let ctx = AppContext::open(global)?;
    let desk = ApprovalQueue::new(ctx.store()?);
    let word = if answer == Answer::Once { "yes" } else { "no" };
    desk.answer(id, answer, &ctx.person()).map_err(|err| match err {
        QueueError::Unknown(_) => Failure::failed(err).hint("`eclusa approvals` lists them"),
        err => Failure::failed(err),
    })?;
    Ok(screen.line(&format!("approval {id}: {word}"))?)
}
