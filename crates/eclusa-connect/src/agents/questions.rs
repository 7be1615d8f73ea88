//! What happens with questions in an agent, for its person to read.

use super::spec::{AgentSpec, RewrittenAsk};

impl AgentSpec {
    /// What happens with questions in this agent, in two lines.
    pub fn questions(&self) -> [&'static str; 2] {
        let shown = "in front of a person a shell command runs in the sandbox first; its own prompt then \
                     shows what it changes, and a yes applies exactly that";
        let elsewhere = "what has no room there waits in `eclusa approvals`; where nobody sits, \
                         changes are discarded, and kept for a day (`eclusa changes`)";
        match &self.hooks {
            None => [
                "it shows them as a form where it can show forms",
                "elsewhere they are refused, or wait with `on_no_approver = \"queue\"` in `eclusa \
                 approvals`",
            ],
            Some(hooks) if hooks.asks_rewritten != RewrittenAsk::Never => [shown, elsewhere],
            Some(_) => [
                "it is not shown there what a shell command changes: what needs an answer is \
                 refused, and kept for a day (`eclusa changes apply N`)",
                "with `on_no_approver = \"queue\"` it waits in `eclusa approvals`, and a yes applies it",
            ],
        }
    }
}
