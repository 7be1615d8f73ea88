//! `eclusa policy`: trying rules, before and after they are written.

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::Screen,
    since::Since,
};

mod args;
mod examples;
mod import;
mod layers;
pub(super) mod lint;
pub(super) mod log_calls;
mod past_sessions;
pub(super) mod replay;
mod suggest;
pub(super) mod try_rule;

pub(crate) use args::PolicyArgs;
use args::PolicyCommand;

/// The ids of all rules, each once.
pub(super) fn rule_ids(config: &eclusa_config::Config) -> Vec<String> {
    let ids = layers::rules(config).iter().filter_map(|it| it.id()).collect::<Vec<_>>();
    ids.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Rules that would have saved questions in the last week, for a page.
pub(super) fn suggestions(
    ctx: &AppContext,
    count: usize,
) -> Result<Vec<(String, usize, String)>, Failure> {
    let week = Since::Ago(std::time::Duration::from_secs(7 * 86_400));
    suggest::recent(ctx, week, count)
}

/// What took the place of a command that is gone. For one release.
fn removed(name: &str, done: &str) -> Failure {
    Failure::usage(format!(
        "`policy {name}` was removed: `eclusa install AGENT` has your rules decide about every call \
         of the agent, so that no rule has to be {done}"
    ))
}

pub(super) fn run(global: &Global, args: PolicyArgs) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let exit = match args.what {
        PolicyCommand::Test { files } => examples::run(global, &files, &mut screen),
        PolicyCommand::Lint => lint::run(global, &mut screen),
        PolicyCommand::Replay { file, instead_of, from, since } => {
            let changed = file.as_deref().map(|it| (it, instead_of));
            replay::run(global, changed, from, since, &mut screen)
        }
        PolicyCommand::Suggest { since, count } => suggest::run(global, since, count, &mut screen),
        PolicyCommand::Import { agent, file } => import::run(global, agent, &file, &mut screen),
        PolicyCommand::Compare(_) => Err(removed("compare", "compared")),
        PolicyCommand::Export(_) => Err(removed("export", "exported")),
    }?;
    screen.flush()?;
    Ok(exit)
}
