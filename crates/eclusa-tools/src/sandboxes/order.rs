//! What is to run in a sandbox: a shell text, or a program with its arguments.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::policy::{BoundFile, HiddenPaths};
use eclusa_net::HostAccess;
use eclusa_sandbox::Plan;

use super::{SigningPlace, unnamed_file};

/// What becomes of what a command writes to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Nothing can be written.
    Refused,
    /// The workspace cannot be written, and the directories outside it that the settings name can.
    Outside,
    /// It is staged, and read back.
    Staged,
    /// It is real at once, and cannot be undone.
    Real,
}

/// One command.
#[derive(Debug, Clone)]
pub struct CommandOrder {
    /// The shell text, which bash gets byte for byte, unless a program takes its place.
    pub command: String,
    /// Where it starts: an absolute path.
    pub cwd: PathBuf,
    /// What becomes of what it writes.
    pub writes: Writes,
    /// How long it may run.
    pub time: Duration,
    /// Whose `/tmp` and network it has; without one they go with the command.
    pub session: Option<String>,
    /// Whether it goes on while other commands run.
    pub background: bool,
    /// What rules hide from it.
    pub hidden: HiddenPaths,
    /// What rules and a person say of the hosts that it may reach.
    pub hosts: HostAccess,
    /// The files that a person's yes is bound to: it sees these, whatever is written there meanwhile.
    pub bound: Vec<BoundFile>,
    /// The program that runs in place of a shell; `command` is then what people are told.
    pub program: Option<ProgramStart>,
    /// Where its git has commits and tags signed, where a person said yes to that.
    pub signing: Option<SigningPlace>,
}

/// A program that runs as a command does, without a shell.
#[derive(Debug, Clone, Default)]
pub struct ProgramStart {
    /// The program, as an absolute path, and its arguments.
    pub argv: Vec<OsString>,
    /// What is on its standard input.
    pub input: Vec<u8>,
    /// Variables that it has besides those of every command.
    pub env: Vec<(OsString, OsString)>,
    /// What is hidden from it besides what is hidden from every command.
    pub hide: Vec<PathBuf>,
    /// The hosts that it may reach in place of those of every command.
    pub hosts: Option<Vec<String>>,
}

impl CommandOrder {
    /// A plan that starts it, and allows nothing yet. A long input lies in a file in this directory.
    pub(super) fn plan(&self, directory: &Path) -> io::Result<Plan> {
        let Some(program) = &self.program else { return Ok(Plan::bash(&self.command, &self.cwd)) };
        let mut plan = Plan::new(program.argv.clone(), &self.cwd);
        let mut input: File = unnamed_file(directory)?;
        input.write_all(&program.input)?;
        input.rewind()?;
        plan.input = Some(Arc::new(input.into()));
        Ok(plan)
    }

    /// The hosts that it may reach, where these are those of every command.
    pub(super) fn hosts_or<'a>(&'a self, of_all: &'a [String]) -> &'a [String] {
        self.program.as_ref().and_then(|it| it.hosts.as_deref()).unwrap_or(of_all)
    }
}
