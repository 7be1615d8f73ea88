//! `eclusa run`: one call through the gate.

use eclusa_app::values::duration;
use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use eclusa::{Origin, Reply, Run, ToolCall};

use super::{
    call_args::{self, from_here::seen_from_root},
    preview::{self, PreviewResult},
};
use crate::{
    context::AppContext,
    exec,
    failure::{Exit, Failure},
    gates::GateParts,
    language::Phrase,
    person::call_id,
    reply,
    screen::{self, Screen, spinner::Spinner},
    servers,
    signals::cancel_on_signal,
    surface::Surface,
    telemetry,
    terminal::Terminal,
};

/// Run one tool call through the gate
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa run read README.md limit=20            the one argument that it needs, and a number
  eclusa run read path=a.md lines:=true         `=` for text, `:=` for any JSON
  eclusa run read '{\"path\": \"README.md\"}'       arguments as JSON
  eclusa run write - < arguments.json           arguments from stdin
  eclusa --dry-run run write path=x content=y   decide, and do nothing
  eclusa run --discard write path=x content=y   show what it would change, and do nothing

Prints the tool's output. Where a person must approve, asks on the terminal; without one the call is \
refused (exit code 3), unless the configuration says otherwise. With --park the question waits in the \
approval queue (exit code 4), and `eclusa resume` takes it up.")]
pub(crate) struct RunArgs {
    /// Name or alias of the tool
    pub(crate) tool: String,
    /// Arguments: `key=text` and `key:=json` words, or one JSON object; `-` reads it from stdin
    #[arg(value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Why it should run; shown to whoever is asked, and recorded
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Time limit, as `90`, `90s`, `2m` or `2h`; the configured limit holds
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,
    /// Never wait for a person: put the question into the approval queue and end with code 4
    #[arg(long)]
    pub(crate) park: bool,
    /// Preview: run it staged, show its changes and the verdict on them, and change nothing
    #[arg(long, conflicts_with = "park")]
    pub(crate) discard: bool,
}

pub(super) async fn run(ctx: &AppContext, call: RunArgs, json: bool) -> Result<Exit, Failure> {
    let stdin_taken = call_args::from_stdin(&call.args);
    let terminal = Terminal::new(stdin_taken, ctx.paths.always_files());
    let store = ctx.store_for_one_call()?;
    let (gate, preview) = match call.discard {
        true => preview::gate(ctx, &store, &call.tool).map(|(gate, it)| (gate, Some(it)))?,
        false => (ctx.gate(Surface::Run, GateParts::asking(&store, terminal))?, None),
    };
    // What its arguments are is known once its server is there.
    let behind = servers::wake(ctx, gate.registry(), &call.tool).await?;
    let registry = gate.registry();
    let known = registry.get(&call.tool);
    let mut args = call_args::read(&call.args, known.as_ref().map(|it| it.schema()))?;
    if let Some(ours) = known.as_ref().filter(|it| it.server().is_none())
        && call_args::are_words(&call.args)
        && let Some(below) = exec::below(&ctx.paths.workspace)
    {
        seen_from_root(&mut args, ours.schema(), &below);
    }
    if args.get("background") == Some(&true.into()) && known.is_some_and(|it| it.name() == "bash") {
        let text = "`eclusa run` ends with its call, so nothing can go on in the background";
        return Err(Failure::usage(text)
            .hint("run it in a terminal of its own: `eclusa exec -- COMMAND`; agents have it with `eclusa mcp`"));
    }
    let gate = gate.for_run(Run { park: call.park, ..gate.run().clone() });
    cancel_on_signal(gate.run().cancel.clone());
    let waiting = Spinner::start(&call.tool);
    let call = ToolCall {
        reason: call.reason,
        time: call.timeout,
        ..ToolCall::new(call_id(), call.tool, args).from(Origin::Person)
    };
    let reply = gate.pass(call).await;
    if let Some(behind) = behind {
        behind.close().await;
    }
    drop(waiting);
    telemetry::answered(&reply);
    let mut screen = Screen::stdout();
    if json {
        let mut value = reply::as_json(&reply);
        let preview = preview.as_ref().and_then(PreviewResult::as_json);
        if let (Some(fields), Some(preview)) = (value.as_object_mut(), preview) {
            fields.insert("preview".to_owned(), preview);
        }
        screen.json(&value)?;
    } else if let Some(preview) = preview.as_ref().filter(|_| ran(&reply)) {
        screen.foreign(reply.output().unwrap_or_default())?;
        screen.flush()?;
        preview.print()?;
    } else {
        reply::print(&reply, &mut screen)?;
    }
    screen.flush()?;
    if let Some(preview) = preview.filter(|_| ran(&reply)) {
        return Ok(if preview.is_refused() { Exit::Refused } else { Exit::Done });
    }
    if let (Some(workspace), Some(number)) = (gate.workspace(), reply.number())
        && !json
        && reply.code() == "changes_discarded"
        && workspace.pending_calls().contains(&number)
    {
        screen::note(&Phrase::ApplyAfterAll.with(number));
    }
    if reply.undo().is_some()
        && let Some(number) = reply.number().filter(|_| !json && io::stderr().is_terminal())
    {
        screen::note(&Phrase::Applied.with(number));
    }
    // Whoever interrupted a question about changes has ended it, not refused them.
    match reply.refused() && gate.run().cancel.is_cancelled() {
        true => Ok(Exit::Aborted),
        false => Ok(reply::exit(&reply)),
    }
}

/// Whether a preview has come as far as it was to come.
fn ran(reply: &Reply) -> bool {
    matches!(reply.code(), "ok" | "changes_discarded")
}
