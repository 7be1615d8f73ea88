//! What happens with questions in an agent, for its person to read.

use super::spec::{AgentSpec, RewrittenAsk};

impl AgentSpec {
    /// What happens with questions in this agent, in two lines.
    pub fn questions(&self) -> [&'static str; 2] {
        let shown = "interactive: a shell command runs in the sandbox first; the agent's own prompt \
        then shows its changes, and yes applies exactly those";
        let elsewhere = "changes that do not fit there wait in `eclusa approvals`; headless, they are \
        discarded, and kept for a day (`eclusa changes`)";
        match &self.hooks {
            None => [
                "it shows them as a form where it can show forms",
                "elsewhere they are refused, or wait with `on_no_approver = \"queue\"` in `eclusa \
                 approvals`",
            ],
            Some(hooks) if hooks.asks_rewritten != RewrittenAsk::Never => [shown, elsewhere],
            Some(_) => [
                "changes of a shell command are not shown there: if they need approval they are \
                refused, and kept for a day (`eclusa changes apply N`)",
                "with `on_no_approver = \"queue\"` they wait in `eclusa approvals`",
            ],
        }
    }

    /// The same in one line.
    pub fn questions_in_short(&self) -> &'static str {
        match &self.hooks {
            None => "in a form of its own, or in `eclusa approvals`",
            Some(hooks) if hooks.asks_rewritten != RewrittenAsk::Never => {
                "in its own prompt, with the changes; the rest in `eclusa approvals`"
            }
            Some(_) => {
                "changes that need approval are refused, and kept for a day (`eclusa changes apply N`)"
            }
        }
    }
}
