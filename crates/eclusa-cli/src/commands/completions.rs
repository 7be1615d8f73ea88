//! `eclusa completions`: a completion script for a shell.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    args::Args,
    failure::{Exit, Failure},
};

pub(super) fn run(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "eclusa", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}
