//! Reviewers that are programs or web addresses.

use std::{collections::BTreeMap, time::Duration};

use crate::policy::Names;

/// A reviewer from the configuration. Whoever may start programs and open connections makes a
/// [`Reviewer`](crate::Reviewer) of it.
#[derive(Debug, Clone)]
pub struct ReviewerSettings {
    /// Name for the record.
    pub name: String,
    /// Whose calls it reads: names or globs. Empty: those of every tool.
    pub tools: Vec<String>,
    /// What it reads of them.
    pub on: ReviewsOn,
    /// How it is reached.
    pub reach: Reach,
    /// How long it may take; `None`: as long as any reviewer.
    pub time: Option<Duration>,
    /// What happens when it cannot be reached, errs or takes too long: `true` lets the call go
    /// on, with a warning (C29). The default is `false`.
    pub allow_on_error: bool,
    /// Where it is written: `file:line`.
    pub origin: String,
    pub(super) names: Names,
}

/// What a reviewer reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewsOn {
    /// Calls.
    Input,
    /// Outputs.
    Output,
    /// Both.
    #[default]
    Both,
}

impl ReviewsOn {
    /// True when it reads calls.
    pub fn input(self) -> bool {
        self != ReviewsOn::Output
    }

    /// True when it reads outputs.
    pub fn output(self) -> bool {
        self != ReviewsOn::Input
    }
}

/// How a reviewer is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program and its arguments: JSON on its input, JSON or an exit code back.
    Command(Vec<String>),
    /// A web address that takes JSON and gives JSON back.
    Url {
        /// The address.
        url: String,
        /// Headers, and the environment variables that hold their values.
        headers: BTreeMap<String, String>,
    },
}

impl ReviewerSettings {
    /// True when it reads the calls of this tool.
    pub fn covers(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.names.matches(tool)
    }
}
