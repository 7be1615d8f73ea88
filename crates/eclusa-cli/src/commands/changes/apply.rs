//! `eclusa changes apply`: changes that were discarded, applied after all. It is a call of its own:
//! judged by the rules in force now, recorded, undoable.

use std::sync::Arc;

use eclusa::{
    Change, Facts, Job, Origin, Output, PermissionClass, Registration, Scene, ToolCall, ToolError,
    Touch, TypedTool, Workspace,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    person::call_id,
    reply,
    screen::{self, Screen},
    signals::cancel_on_signal,
    undo::tool::CommandLine,
};

pub(super) async fn run(ctx: &AppContext, call: u64, json: bool) -> Result<Exit, Failure> {
    let workspace = ctx.workspace()?;
    if workspace.discarded_changes(call).map_err(Failure::failed)?.is_none() {
        return Err(Failure::failed(format!("no discarded changes of call {call} are kept"))
            .hint("`eclusa changes --discarded` lists them; they are kept for a day"));
    }
    let store = ctx.store()?;
    let apply = Apply { workspace: workspace.clone() };
    let add = |registry: &eclusa::Registry, _: &Workspace| {
        registry.register(Registration::new(apply).replace())
    };
    let gate = ctx.undo_gate(&store, add, Arc::new(CommandLine))?;
    cancel_on_signal(gate.run().cancel.clone());
    let made = ToolCall::new(call_id(), Apply::NAME, json!({"call": call})).from(Origin::Person);
    let reply = gate.pass(made).await;
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&reply::as_json(&reply))?,
        false => reply::print(&reply, &mut screen)?,
    }
    screen.flush()?;
    if let (Some(_), Some(number)) = (reply.undo(), reply.number()) {
        workspace.forget_discarded(call);
        if !json {
            screen::note(&format!("applied as call {number}; `eclusa undo {number}` undoes it"));
        }
    }
    Ok(reply::exit(&reply))
}

/// The tool that brings discarded changes again. No model is offered it.
struct Apply {
    workspace: Workspace,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct DiscardedCall {
    /// The number of the call in the log.
    call: u64,
}

impl Apply {
    /// The changes, as long as they are kept.
    fn changes(&self, call: u64) -> Result<eclusa::Changes, ToolError> {
        let kept = self.workspace.discarded_changes(call);
        let kept = kept.map_err(|err| ToolError::new(format!("they cannot be read: {err}")))?;
        kept.ok_or_else(|| ToolError::new("they are no longer kept"))
    }
}

impl TypedTool for Apply {
    type Args = DiscardedCall;
    const NAME: &'static str = "apply";

    fn description(&self, _: &Scene) -> String {
        "Applies changes of a call that were discarded.".to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            class: Some(PermissionClass::File),
            audit_operation: "apply".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, args: &DiscardedCall) -> Vec<Touch> {
        let touch = |it: &Change| Touch::Write(it.path.to_string_lossy().into_owned());
        match self.changes(args.call) {
            Ok(changes) => changes.iter().map(touch).collect(),
            Err(_) => vec![Touch::Unknown],
        }
    }

    async fn run(&self, args: DiscardedCall, _: &Job) -> Result<Output, ToolError> {
        let changes = self.changes(args.call)?;
        Ok(Output { changes, ..Output::text(format!("applied what call {} had done", args.call)) })
    }
}
