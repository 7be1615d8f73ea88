//! `eclusa completions`: a completion script for a shell, which asks the program for the names of
//! tools, the numbers of calls and the ids of rules.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;
use eclusa::audit::calls::last_calls;

use crate::{
    args::{Args, Global, WordKind},
    context::AppContext,
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, sanitize},
};

/// How many calls are offered.
const MAX_CALLS: usize = 50;

pub(super) fn run(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "eclusa", &mut script);
    script.extend_from_slice(match shell {
        Shell::Bash => include_bytes!("completions/eclusa.bash"),
        Shell::Zsh => include_bytes!("completions/eclusa.zsh"),
        Shell::Fish => include_bytes!("completions/eclusa.fish"),
        _ => b"",
    });
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints words that can stand in a place of the command line. Whatever fails offers nothing.
pub(super) fn words(global: &Global, kind: WordKind) -> Result<Exit, Failure> {
    let words = match kind {
        WordKind::Tools => tools(global),
        WordKind::Calls => calls(global),
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
    let calls = last_calls(&Paths::find(global)?.log()?, MAX_CALLS).map_err(Failure::failed)?;
    Ok(calls.iter().rev().map(|it| it.number().to_string()).collect())
}

fn rules(global: &Global) -> Result<Vec<String>, Failure> {
    let rules = super::policy::rule_ids(&AppContext::open(global)?.config);
    Ok(rules)
}
