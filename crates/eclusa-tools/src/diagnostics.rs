//! `diagnostics`: what the checks that a person has named say about the workspace.
//!
//! Which programs run is written in the configuration, byte for byte, and the model has no part in
//! it (C7): it chooses among names. Starting them is the business of whoever may start programs
//! ([`Runner`]); reading what they say is a function from text to values ([`parse`]).

mod braces;
mod lines;
mod parse;
mod tool;

#[cfg(test)]
mod tests;

pub use parse::{Parsed, parse};
pub use tool::{CheckRun, Diagnostics, DiagnosticsArgs, Runner};

use serde::Serialize;

/// One thing that a check has to say, whichever program said it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The file, as the program calls it.
    pub path: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column, from 1, as the program counts.
    pub column: Option<u64>,
    /// How bad it is.
    pub severity: Severity,
    /// The program's own name for it, such as `E0425` or `no-unused-vars`.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The program, or the family of programs that write like this.
    pub source: &'static str,
}

/// How bad something is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does not work.
    Error,
    /// It may not work, or should be written otherwise.
    Warning,
    /// It belongs to something else, or is a hint.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }

    /// What a program means by its own word.
    fn parse(word: &str) -> Option<Severity> {
        match word {
            "error" | "fatal error" | "fatal" | "error: internal compiler error" => {
                Some(Severity::Error)
            }
            "warning" => Some(Severity::Warning),
            "note" | "help" | "info" | "remark" | "hint" | "suggestion" => Some(Severity::Note),
            _ => None,
        }
    }
}
