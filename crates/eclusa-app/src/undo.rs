//! `eclusa undo` and `eclusa redo`: take back what calls changed, and bring it back.

use std::sync::Arc;

use clap::Args;
use eclusa::{
    Gate, Origin, Reply, ToolCall, Workspace, catalogue::Language, one_line, store::Store,
    workspace::Undone,
};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    language::{self, Phrase},
    person::call_id,
    reply,
    screen::{Screen, sanitize},
    signals::cancel_on_signal,
    since::{Since, parse_since},
};

mod by_command;
mod edits_since;
mod select;
pub mod tool;

pub use select::unknown;
use select::{Selected, Selection};

/// Undo what calls changed in the workspace
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  eclusa undo                                   the latest change
  eclusa undo 7                                 what call 7 changed, keeping what came later
  eclusa undo 7 9                               both, or neither
  eclusa undo 7 --keep-mine                     the same, leaving what you edited since
  eclusa undo --turn                            all of the last turn
  eclusa undo --since 10m                       all of the last ten minutes (or a call, or a time)
  eclusa undo --dry-run --since 7               what that would be

All of it is undone or nothing. A call in the middle can be undone while nothing later touches the \
same files; otherwise the calls or edits that conflict with it are named (exit code 1). The undo is \
a call of its own in the log, and `eclusa redo` takes it back.")]
pub struct UndoArgs {
    /// Numbers of the calls, as `eclusa changes` lists them
    #[arg(value_name = "CALL", value_parser = call_number, conflicts_with_all = ["last", "turn", "since"])]
    pub calls: Vec<u64>,
    /// Leave files alone that were edited by hand since, and undo the rest
    #[arg(long)]
    pub keep_mine: bool,
    /// Undo the latest change (default)
    #[arg(long, conflicts_with_all = ["turn", "since"])]
    pub last: bool,
    /// Undo everything of the latest turn
    #[arg(long, conflicts_with = "since")]
    pub turn: bool,
    /// Undo everything since a call (`12`), a duration (`10m`) or a date (`2026-03-01 09:30`, UTC)
    #[arg(long, value_parser = parse_since, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Whose latest change is meant; `None`: whoever made it.
    #[arg(skip)]
    pub session: Option<String>,
}

/// Redo what was undone
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eclusa redo                                   the latest undo
  eclusa redo 7                                 the undo of call 7, or the undo that is call 7")]
pub struct RedoArgs {
    /// The number of the undo, or of a call that it undid [default: the latest undo]
    #[arg(value_parser = call_number)]
    pub call: Option<u64>,
}

/// Reads the number of a call.
pub fn call_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "not a call number; `eclusa changes` and `eclusa log` list the numbers".to_owned()
    })
}

/// Undoes what is meant, and prints what came of it.
pub async fn run(ctx: &AppContext, args: UndoArgs, json: bool) -> Result<Exit, Failure> {
    let keep_mine = args.keep_mine;
    let which = match args {
        UndoArgs { since: Some(when), .. } => Selection::Since(when),
        UndoArgs { turn: true, .. } => Selection::Turn,
        UndoArgs { calls, .. } if !calls.is_empty() => Selection::Calls(calls),
        UndoArgs { session, .. } => Selection::Last(session),
    };
    if let Selection::Calls(calls) = &which
        && let Some(outside) = by_command::find(ctx, calls)?
    {
        return by_command::run(ctx, outside, json).await;
    }
    let back = UndoSession::open(ctx, json)?;
    let meant = select::find(which, &back.workspace, &*back.store, back.gate.registry())?;
    let mut call = json!({"calls": meant.calls});
    if let (true, Some(call)) = (keep_mine, call.as_object_mut()) {
        call.insert("keep_mine".to_owned(), true.into());
    }
    let planned = || back.workspace.would_undo(&meant.calls);
    back.pass("undo", call, &meant, planned).await
}

/// Undoes one call for somebody who does not sit at this terminal; says what was done.
pub async fn one(ctx: &AppContext, call: u64) -> Result<String, Failure> {
    let back = UndoSession::open(ctx, false)?;
    let which = Selection::Calls(vec![call]);
    let meant = select::find(which, &back.workspace, &*back.store, back.gate.registry())?;
    let call = ToolCall::new(call_id(), "undo", json!({"calls": meant.calls})).from(Origin::Person);
    let reply = back.gate.pass(call).await;
    match reply.is_error() {
        true => Err(Failure::failed(reply.content())),
        false => Ok(one_line(reply.text())),
    }
}

/// Redoes what was undone, and prints what came of it.
pub async fn redo(ctx: &AppContext, args: RedoArgs, json: bool) -> Result<Exit, Failure> {
    let back = UndoSession::open(ctx, json)?;
    let undo = select::undo_of(args.call, &back.workspace)?;
    let meant = Selected { calls: vec![undo], beyond: Vec::new() };
    let planned = || {
        let calls = tool::undoes(&back.workspace, undo);
        Ok(Undone { calls, ..back.workspace.would_undo(&[undo])? })
    };
    back.pass("redo", json!({"undo": undo}), &meant, planned).await
}

/// Everything that taking something back needs.
struct UndoSession<'a> {
    ctx: &'a AppContext,
    store: Arc<dyn Store>,
    workspace: Workspace,
    gate: Gate,
    json: bool,
}

impl<'a> UndoSession<'a> {
    fn open(ctx: &'a AppContext, json: bool) -> Result<UndoSession<'a>, Failure> {
        if !ctx.paths.undo().exists() {
            return Err(Failure::failed("nothing was changed in this workspace yet"));
        }
        UndoSession::new(ctx, json)
    }

    fn new(ctx: &'a AppContext, json: bool) -> Result<UndoSession<'a>, Failure> {
        let store = ctx.store()?;
        let durability = ctx.config.commit_durability;
        let gate = ctx.undo_gate(
            &store,
            |registry, workspace, sandboxes| {
                tool::add(registry, workspace, durability)?;
                by_command::add(registry, sandboxes, &ctx.config)
            },
            Arc::new(tool::CommandLine),
        )?;
        Ok(UndoSession { ctx, workspace: ctx.workspace()?, store, gate, json })
    }

    /// Passes the call through the gate, and tells what came of it.
    async fn pass(
        &self,
        tool: &str,
        args: Value,
        meant: &Selected,
        planned: impl FnOnce() -> Result<Undone, eclusa::workspace::UndoError>,
    ) -> Result<Exit, Failure> {
        cancel_on_signal(self.gate.run().cancel.clone());
        let plan = match self.ctx.dry_run {
            true => Some(planned()),
            false => None,
        };
        let call = ToolCall::new(call_id(), tool, args).from(Origin::Person);
        let reply = self.gate.pass(call).await;
        let exit = match &plan {
            Some(Err(_)) if !reply.refused() => Exit::Failed,
            _ => reply::exit(&reply),
        };
        let mut screen = Screen::stdout();
        match self.json {
            true => screen.json(&as_json(&reply, plan.as_ref(), meant))?,
            false => print(&reply, tool, plan.as_ref(), meant, &mut screen)?,
        }
        screen.flush()?;
        Ok(exit)
    }
}

type Undoing = Result<Undone, eclusa::workspace::UndoError>;

/// The reply, with the plan of a dry run in place of the data that only a run gives.
fn as_json(reply: &Reply, plan: Option<&Undoing>, meant: &Selected) -> Value {
    let mut value = reply::as_json(reply);
    let Some(fields) = value.as_object_mut() else { return value };
    match plan {
        Some(Ok(undone)) => {
            fields.insert("data".to_owned(), tool::as_json(undone));
        }
        Some(Err(err)) => {
            let failed = tool::failed(err, &meant.calls);
            fields.insert("success".to_owned(), false.into());
            fields.insert("error".to_owned(), failed.message.into());
            fields.insert("data".to_owned(), failed.data.unwrap_or_default());
        }
        None => {}
    }
    if let Some(Value::Object(data)) = fields.get_mut("data")
        && let Some(Value::Array(listed)) = data.get_mut("irreversible")
    {
        listed.extend(meant.beyond.iter().map(|(call, why)| json!({"call": call, "why": why})));
    }
    value
}

fn print(
    reply: &Reply,
    tool: &str,
    plan: Option<&Undoing>,
    meant: &Selected,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match plan {
        _ if reply.refused() => reply::print(reply, screen)?,
        Some(Ok(undone)) => {
            screen.line(&sanitize(&format!("would {tool}: {}", tool::summary(undone))))?
        }
        Some(Err(err)) => {
            screen.flush()?;
            let failed = tool::failed(err, &meant.calls);
            crate::screen::error(&[format!("error: {}", failed.message)]);
        }
        None if language::current() != Language::English && !reply.is_error() => {
            screen.line(&sanitize(&spoken(reply, tool)))?;
        }
        None => reply::print(reply, screen)?,
    }
    if !reply.is_error() {
        for (call, why) in &meant.beyond {
            screen.line(&one_line(&format!("{}: {why}", Phrase::CannotUndo.with(call))))?;
        }
        if let (None, Some(number), "undo") = (plan, reply.number(), tool) {
            screen.line(&Phrase::Redo.with(number))?;
        }
    }
    Ok(())
}

/// What was undone, in the language of the person: from the data of the reply, whose text is what
/// programs read.
fn spoken(reply: &Reply, tool: &str) -> String {
    let list = |name: &str| {
        let listed = reply.data().and_then(|it| it.get(name)).and_then(Value::as_array);
        listed.map(Vec::as_slice).unwrap_or_default()
    };
    let calls: Vec<String> = list("calls").iter().map(ToString::to_string).collect();
    let phrase = if tool == "redo" { Phrase::Redone } else { Phrase::Undone };
    let mut text = phrase.with(calls.join(", "));
    for path in list("paths").iter().filter_map(Value::as_str) {
        text.push_str(&format!("\n  {}", one_line(path)));
    }
    for it in list("irreversible") {
        let call = it.get("call").and_then(Value::as_u64).unwrap_or_default();
        let why = it.get("why").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n{}: {}", Phrase::CannotUndo.with(call), one_line(why)));
    }
    text
}
