//! What a tool of a person's own did outside the workspace, taken back by the command that its entry names
//! (`undo`). That command is a tool like any other, which nobody but `eclusa undo` registers: it passes the
//! gate and is recorded with the arguments of the call that it takes back.

use std::fs::{File, TryLockError};

use eclusa::{
    Origin, Registration, Registry, Reply, ToolCall,
    audit::calls::{self, CallRecord},
    registry::RegistryError,
    workspace::{UndoStatus, private_file},
};
use eclusa_config::Config;
use eclusa_tools::Sandboxes;
use serde_json::{Value, json};

use super::UndoSession;
use crate::{
    command_tool::CommandTool,
    context::AppContext,
    failure::{Exit, Failure},
    reply,
    screen::Screen,
    signals::cancel_on_signal,
};

/// The tool that takes back calls of this one.
pub(super) fn undo_name(tool: &str) -> String {
    format!("{tool}.undo")
}

/// Adds the tools that take back what others did.
pub(super) fn add(
    registry: &Registry,
    sandboxes: &Sandboxes,
    config: &Config,
) -> Result<(), RegistryError> {
    for settings in config.tools.iter().filter_map(eclusa_config::CommandTool::undo_tool) {
        registry.register(Registration::new(CommandTool::new(settings, sandboxes.clone())))?;
    }
    Ok(())
}

/// A call whose tool names a command that takes it back.
pub(super) struct Outside {
    call: u64,
    tool: String,
    args: Value,
    /// Nobody else takes calls back by commands: none is taken back twice.
    _alone: File,
}

/// The one call that is meant, if its tool names a command that takes it back. The error says why it
/// cannot be.
pub(super) fn find(ctx: &AppContext, meant: &[u64]) -> Result<Option<Outside>, Failure> {
    let names: Vec<&str> =
        ctx.config.tools.iter().filter(|it| !it.undo.is_empty()).map(|it| &*it.name).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let store = ctx.store()?;
    let mut found = None;
    for call in meant {
        let record = calls::call_with(&*store, *call).map_err(Failure::failed)?;
        found = found.or(record.filter(|it| names.contains(&it.tool())));
    }
    let Some(record) = found else { return Ok(None) };
    let (call, tool) = (record.number(), record.tool().to_owned());
    if meant.len() > 1 {
        let text = format!("call {call} acted outside the workspace, and is undone alone");
        return Err(Failure::usage(text).hint(format!("`eclusa undo {call}`")));
    }
    let alone = alone(ctx)?;
    if record.outcome() != "ok" {
        let text = format!("call {call} cannot be undone: it ended with `{}`", record.outcome());
        return Err(Failure::failed(text));
    }
    let later = calls::calls_from(&*store, record.first_record()).map_err(Failure::failed)?;
    let undone = |it: &&CallRecord| {
        it.tool() == undo_name(&tool)
            && it.outcome() == "ok"
            && it.field("call") == Some(&id(call).into())
    };
    if let Some(undo) = later.iter().find(undone) {
        let text = format!("call {call} was undone already, by call {}", undo.number());
        return Err(Failure::failed(text));
    }
    let args = record.whole_args().map_err(|why| {
        Failure::failed(format!("call {call} cannot be undone by a command: such calls {why}"))
            .hint("take it back by hand")
    })?;
    Ok(Some(Outside { call, args: args.clone(), tool, _alone: alone }))
}

/// From the look whether a call was taken back until it is.
fn alone(ctx: &AppContext) -> Result<File, Failure> {
    let file = ctx.paths.undo().with_file_name("undo-command.lock");
    let failed =
        |err: std::io::Error| Failure::failed(format!("cannot lock `{}`: {err}", file.display()));
    let lock = private_file::open_lock(&file).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Failure::failed(
            "another `eclusa undo` takes a call back; try again when it has ended",
        )),
        Err(TryLockError::Error(err)) => Err(failed(err)),
    }
}

/// The id of the call that takes back another.
fn id(call: u64) -> String {
    format!("undo-{call}")
}

/// Takes back what the call changed in the workspace, and then what it did outside.
pub(super) async fn run(ctx: &AppContext, it: Outside, json: bool) -> Result<Exit, Failure> {
    let session = UndoSession::new(ctx, json)?;
    cancel_on_signal(session.gate.run().cancel.clone());
    let entry = session.workspace.entry(it.call).map_err(Failure::failed)?;
    let changed = entry.is_some_and(|entry| entry.status == UndoStatus::Committed);
    let files = match changed {
        true => {
            let args = json!({"calls": [it.call]});
            let call = ToolCall::new(id(it.call), "undo", args).from(Origin::Person);
            Some(session.gate.pass(call).await)
        }
        false => None,
    };
    if let Some(reply) = files.as_ref().filter(|it| it.is_error()) {
        return told(reply, None, json);
    }
    let call = ToolCall::new(id(it.call), undo_name(&it.tool), it.args).from(Origin::Person);
    let reply = session.gate.pass(call).await;
    told(&reply, files.as_ref(), json)
}

/// Prints what came of it: of the command, and of the files before it.
fn told(reply: &Reply, files: Option<&Reply>, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    if json {
        let mut value = reply::as_json(reply);
        if let (Some(files), Some(fields)) = (files, value.as_object_mut()) {
            fields.insert("files".to_owned(), reply::as_json(files));
        }
        screen.json(&value)?;
    } else {
        if let Some(files) = files {
            reply::print(files, &mut screen)?;
        }
        reply::print(reply, &mut screen)?;
    }
    screen.flush()?;
    Ok(reply::exit(reply))
}
