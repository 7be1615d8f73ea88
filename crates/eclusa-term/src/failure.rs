//! How a command fails: what is wrong, how to fix it, which exit code.

use std::{fmt, io, process::ExitCode};

/// Exit codes of the binary. A tool's own exit code is in the reply; only `eclusa exec` ends as
/// its command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The tool failed, or the log does not verify.
    Failed,
    /// The command line, the arguments or the configuration are wrong.
    Usage,
    /// The call was refused.
    Refused,
    /// It is not finished, and can be taken up again: it waits for an approval, or reached a limit.
    Parked,
    /// A person ended it.
    Aborted,
    /// Whoever read our output went away.
    Pipe,
    /// What the command of `eclusa exec` left with.
    Command(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Parked => 4,
            Exit::Aborted => 130,
            Exit::Pipe => 141,
            Exit::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    message: String,
    hints: Vec<String>,
}

impl Failure {
    /// What is wrong with how the command was called or configured.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// What went wrong while it worked.
    pub fn failed(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Failed, message: message.to_string(), hints: Vec::new() }
    }

    /// What the rules, or somebody, said no to.
    pub fn refused(message: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Refused, message: message.to_string(), hints: Vec::new() }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same, and how to fix it.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// What is printed; nothing when there is nobody to read it.
    pub fn lines(&self) -> Vec<String> {
        if self.exit == Exit::Pipe {
            return Vec::new();
        }
        let hints = self.hints.iter().map(|it| format!("hint: {it}"));
        std::iter::once(format!("error: {}", self.message)).chain(hints).collect()
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Failure {
        let exit = match err.kind() {
            io::ErrorKind::BrokenPipe => Exit::Pipe,
            _ => Exit::Failed,
        };
        Failure { exit, message: err.to_string(), hints: Vec::new() }
    }
}
