//! `eclusa` alone: what this directory is, what waits, and what to do next, on one screen.

use eclusa::{approve::QuestionPage, workspace::UndoStatus};
use eclusa_connect::commands::agents;
use eclusa_tools::lost_jobs;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    queues,
    screen::{Screen, Style, sanitize},
};

/// The commands of every day.
const EVERYDAY: [[&str; 2]; 12] = [
    ["demo", "see every gate at work, in a scratch workspace"],
    ["init", "write an eclusa.toml for this project"],
    ["install AGENT", "connect Claude Code, Codex, Gemini CLI or another"],
    ["status", "which agents are connected, and what is not covered"],
    ["exec -- COMMAND", "run a command, review its changes, then decide"],
    ["check TOOL …", "what the rules decide about a call, and why"],
    ["approvals", "answer pending approvals, here or in a browser"],
    ["changes", "what calls changed"],
    ["undo", "undo the latest change"],
    ["log", "what was decided"],
    ["chat", "talk with a model; its calls pass the gate"],
    ["doctor", "what this machine can enforce"],
];

pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let in_project = Paths::find(&Global { anywhere: false, ..global.clone() }).is_ok();
    let (ctx, broken) = AppContext::open_anyway(global)?;
    let waiting = waiting(&paths).await?;
    let latest = if in_project { latest(&ctx)? } else { None };

    let mut screen = Screen::stdout();
    let place = sanitize(&paths.workspace.display().to_string());
    let file = paths.project().exists();
    let rules = match (&broken, file, ctx.config.left_out.is_empty()) {
        (Some(_), _, _) => "cannot be used: `eclusa config check` says why",
        (None, true, true) => "eclusa.toml of this project and your own",
        (None, true, false) => {
            "eclusa.toml of this project, untrusted: only its restrictions apply"
        }
        (None, false, _) => "yours and the defaults",
    };
    let here = match in_project {
        true => place,
        false => format!("{place} (no project: no call runs here)"),
    };
    let mut rows =
        vec![row("here", &here), row("rules", rules), row("waits", &waiting_text(waiting))];
    if let Some(call) = latest {
        rows.push(row("latest", &format!("call {call} changed something; `eclusa undo {call}`")));
    }
    rows.extend(agents::watched_lines(global).iter().map(|it| row("watched", &sanitize(it))));
    rows.extend(lost_jobs(&paths.undo()).iter().map(|it| row("ended", &sanitize(it))));
    screen.details(&rows)?;
    screen.line("")?;
    let commands = EVERYDAY.map(|[words, what]| row(&format!("  eclusa {words}"), what));
    screen.details(&commands)?;
    screen.line("")?;
    let next = match (in_project, file, waiting, latest) {
        (_, _, 1.., _) => "eclusa approvals",
        (false, ..) => "eclusa demo",
        (true, false, ..) => "eclusa init",
        (true, true, _, None) => "eclusa install claude-code (or the agent that you use)",
        (true, true, _, Some(_)) => "eclusa changes",
    };
    screen.styled(Style::Strong, &format!("next: {next}"))?;
    screen.line("`eclusa help --all` lists every command, `eclusa COMMAND --help` has examples")?;
    screen.flush()?;
    Ok(Exit::Done)
}

fn row(head: &str, text: &str) -> Vec<String> {
    vec![head.to_owned(), text.to_owned()]
}

fn waiting_text(count: usize) -> String {
    match count {
        0 => "nothing".to_owned(),
        1 => "1 question: `eclusa approvals`".to_owned(),
        count => format!("{count} questions: `eclusa approvals`"),
    }
}

/// How many questions wait, in all workspaces.
async fn waiting(paths: &Paths) -> Result<usize, Failure> {
    let mut count = 0;
    for queue in queues::all(paths)? {
        count += queue.queue.list(QuestionPage::FIRST).await.map_err(Failure::failed)?.len();
    }
    Ok(count)
}

/// The latest call whose changes can be undone.
fn latest(ctx: &AppContext) -> Result<Option<u64>, Failure> {
    if !ctx.paths.undo().exists() {
        return Ok(None);
    }
    let mut latest = ctx.workspace()?.latest_entries().map_err(Failure::failed)?;
    Ok(latest.find(|it| it.status == UndoStatus::Committed).map(|it| it.call))
}
