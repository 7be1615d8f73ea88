//! Rules that deny every call of a tool, so that models need not be offered it.

use super::Rule;
use crate::{Decision, Facts, policy::validity::Validity};

/// The rules that deny every call of the tools and servers that they name, whatever its arguments, at any time and in
/// any session, and that no other rule is an exception to. There are few, and most people have none.
pub fn outright_denials(rules: &[Rule]) -> Vec<Rule> {
    let is_excepted = |rule: &Rule| {
        let names = |id: &str| rules.iter().any(|it| it.exceptions().iter().any(|it| it == id));
        rule.name().is_some_and(names)
    };
    rules.iter().filter(|it| it.is_outright_denial() && !is_excepted(it)).cloned().collect()
}

impl Rule {
    /// True when it asks for more than names of tools and servers.
    pub(super) fn asks_beyond_names(&self) -> bool {
        !self.classes.is_empty()
            || self.asks_for_labels()
            || !self.args.is_empty()
            || self.command.is_some()
            || !self.commands.is_empty()
            || self.paths.is_some()
            || self.domains.is_some()
            || self.access.is_some()
            || self.effects.is_some()
    }

    fn is_outright_denial(&self) -> bool {
        self.decision == Decision::Deny
            && !self.is_remark()
            && (self.tools.is_some() || self.servers.is_some())
            && !self.asks_beyond_names()
            && self.term == Validity::default()
    }

    /// Whether it is about this tool, as far as its names tell.
    pub fn names_tool(&self, tool: &str, facts: &Facts, server: Option<&str>) -> bool {
        let named = self.tools.as_ref().is_none_or(|it| {
            it.matches(tool) || facts.aliases.iter().any(|alias| it.matches(alias))
        });
        let of_server =
            self.servers.as_ref().is_none_or(|it| server.is_some_and(|server| it.matches(server)));
        named && of_server
    }
}
