//! Conditions on what a tool says of itself, as far as that is believed.

use super::{Rule, Subject};
use crate::policy::matcher::Holds;

/// What a rule asks of the labels of a tool; `None` where it does not ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Labels {
    read_only: Option<bool>,
    destructive: Option<bool>,
}

impl Rule {
    /// Only calls of tools that say they only look, or of those that do not say so. A tool of a server
    /// that nobody trusts is not believed: what it says in its favour leaves the condition in doubt.
    #[must_use]
    pub fn read_only(mut self, is: bool) -> Rule {
        self.labels.read_only = Some(is);
        self
    }

    /// Only calls of tools that say that what they do is hard to take back, or of those that do not.
    /// The same holds of what a server says.
    #[must_use]
    pub fn destructive(mut self, is: bool) -> Rule {
        self.labels.destructive = Some(is);
        self
    }

    pub(super) fn asks_for_labels(&self) -> bool {
        self.labels != Labels::default()
    }

    /// Whether the labels of the tool are those that it asks for.
    pub(super) fn fits_labels(&self, subject: &Subject<'_>) -> bool {
        if !self.asks_for_labels() {
            return true;
        }
        let enough = if self.tightens() { Holds::Doubt } else { Holds::Yes };
        let Some(call) = subject.author.call else { return Holds::Doubt >= enough };
        let (facts, believed) = (call.facts(), call.is_trusted());
        let asked = [
            // In its favour, and against it.
            (self.labels.read_only, facts.read_only, true),
            (self.labels.destructive, facts.destructive && !(believed && facts.read_only), false),
        ];
        asked.into_iter().all(|(wanted, says, favour)| {
            wanted.is_none_or(|wanted| match says == favour && !believed {
                true => Holds::Doubt >= enough,
                false => says == wanted,
            })
        })
    }
}
