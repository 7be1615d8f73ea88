//! `eclusa completions`: a completion script for a shell, which asks the program for the names of
//! tools, the numbers of calls and the ids of rules.

use std::io::Write;

use clap_complete::Shell;
use eclusa::{approve::QuestionPage, audit::calls::last_calls, workspace::UndoStatus};
use eclusa_chat::Archive;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    queues,
    screen::{Screen, sanitize},
};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// What completion scripts ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WordKind {
    /// Names of tools
    Tools,
    /// Numbers of calls
    Calls,
    /// Numbers of calls whose changes can be undone
    Undoable,
    /// Pending approvals
    Approvals,
    /// Sessions of this workspace
    Sessions,
    /// Arguments of a tool, each with its `=`
    Arguments,
    /// Ids of rules
    Rules,
}

/// How many calls are offered.
const MAX_CALLS: usize = 50;

pub(super) fn run(args: &CompletionsArgs, mut program: clap::Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "eclusa", &mut script);
    script.extend_from_slice(match args.shell {
        Shell::Bash => include_bytes!("completions/eclusa.bash"),
        Shell::Zsh => include_bytes!("completions/eclusa.zsh"),
        Shell::Fish => include_bytes!("completions/eclusa.fish"),
        _ => b"",
    });
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints words that can stand in a place of the command line. Whatever fails offers nothing.
pub(super) async fn words(
    global: &Global,
    kind: WordKind,
    of: Option<&str>,
) -> Result<Exit, Failure> {
    let words = match kind {
        WordKind::Tools => tools(global),
        WordKind::Calls => calls(global),
        WordKind::Undoable => undoable(global),
        WordKind::Approvals => approvals(global).await,
        WordKind::Sessions => sessions(global),
        WordKind::Arguments => arguments(global, of.unwrap_or_default()),
        WordKind::Rules => rules(global),
    };
    let mut screen = Screen::stdout();
    for word in words.unwrap_or_default() {
        screen.line(&sanitize(&word))?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn tools(global: &Global) -> Result<Vec<String>, Failure> {
    let registry = AppContext::open(global)?.registry()?;
    let listed = registry.list().into_iter().filter(|it| !it.unlisted());
    Ok(listed.map(|it| it.name().to_owned()).collect())
}

fn calls(global: &Global) -> Result<Vec<String>, Failure> {
    let calls = last_calls(&*Paths::find(global)?.log()?, MAX_CALLS).map_err(Failure::failed)?;
    Ok(calls.iter().rev().map(|it| it.number().to_string()).collect())
}

fn undoable(global: &Global) -> Result<Vec<String>, Failure> {
    let ctx = AppContext::open(global)?;
    let latest = ctx.workspace()?.latest_entries().map_err(Failure::failed)?;
    let open = latest.filter(|it| it.status == UndoStatus::Committed);
    Ok(open.take(MAX_CALLS).map(|it| it.call.to_string()).collect())
}

async fn approvals(global: &Global) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    for queue in queues::all(&Paths::find(global)?)? {
        let page = QuestionPage { after: 0, limit: MAX_CALLS };
        let waiting = queue.queue.list(page).await.map_err(Failure::failed)?;
        words.extend(waiting.iter().map(|it| queue.reference(it.id)));
    }
    Ok(words)
}

fn sessions(global: &Global) -> Result<Vec<String>, Failure> {
    let ctx = AppContext::open(global)?;
    let archive = Archive::new(ctx.store()?, ctx.paths.sessions());
    let heads = archive.list(MAX_CALLS).map_err(Failure::failed)?;
    Ok(heads.into_iter().map(|it| it.id).collect())
}

fn arguments(global: &Global, tool: &str) -> Result<Vec<String>, Failure> {
    let known = AppContext::open(global)?.registry()?.get(tool);
    let properties = known.as_ref().and_then(|it| it.schema().get("properties")?.as_object());
    Ok(properties.into_iter().flat_map(|it| it.keys()).map(|it| format!("{it}=")).collect())
}

fn rules(global: &Global) -> Result<Vec<String>, Failure> {
    let rules = super::policy::rule_ids(&AppContext::open(global)?.config);
    Ok(rules)
}
