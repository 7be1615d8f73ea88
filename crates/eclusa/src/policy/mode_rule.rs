//! Rules that choose the mode of a run.

use super::Names;
use crate::{Mode, Run};

/// A mode for some sessions or clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeRule {
    /// The mode.
    pub mode: Mode,
    /// Clients, by the names that they give themselves; `None`: all, and runs that have none.
    pub client: Option<Names>,
    /// Sessions; `None`: all.
    pub session: Option<Names>,
}

impl ModeRule {
    /// Whether it is about this run.
    fn covers(&self, run: &Run) -> bool {
        let client = || run.client.as_deref().unwrap_or_default();
        self.client.as_ref().is_none_or(|it| it.matches(client()))
            && self.session.as_ref().is_none_or(|it| it.matches(&run.session))
    }

    /// The mode of a run: the most careful of those that are about it, or its own. [`Gate::for_run`]
    /// asks, so that it holds for every call; whoever makes a run need not.
    ///
    /// [`Gate::for_run`]: crate::Gate::for_run
    pub fn mode_of(rules: &[ModeRule], run: &Run) -> Mode {
        let modes = rules.iter().filter(|it| it.covers(run)).map(|it| it.mode);
        let mode = modes.reduce(Mode::more_careful).unwrap_or(run.mode);
        run.at_least_as_careful(mode)
    }
}
