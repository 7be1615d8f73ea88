//! Rules that deny every call of a tool, so that models need not be offered it.

use super::Rule;
use crate::{Decision, Facts, policy::validity::Validity};

/// The rule that denies every call of this tool, whatever its arguments, at any time and in any session.
pub fn denied_outright<'a>(
    rules: &'a [Rule],
    tool: &str,
    facts: &Facts,
    server: Option<&str>,
) -> Option<&'a Rule> {
    let is_excepted = |rule: &Rule| {
        let names = |id: &str| rules.iter().any(|it| it.exceptions().iter().any(|it| it == id));
        rule.name().is_some_and(names)
    };
    rules.iter().find(|it| it.denies_tool(tool, facts, server) && !is_excepted(it))
}

impl Rule {
    fn denies_tool(&self, tool: &str, facts: &Facts, server: Option<&str>) -> bool {
        let is_about_more = !self.classes.is_empty()
            || !self.args.is_empty()
            || self.command.is_some()
            || !self.commands.is_empty()
            || self.paths.is_some()
            || self.domains.is_some()
            || self.access.is_some()
            || self.effects.is_some();
        let names_it = self.tools.as_ref().is_none_or(|it| {
            it.matches(tool) || facts.aliases.iter().any(|alias| it.matches(alias))
        });
        let of_server =
            self.servers.as_ref().is_none_or(|it| server.is_some_and(|server| it.matches(server)));
        self.decision == Decision::Deny
            && !self.is_remark()
            && !is_about_more
            && self.term == Validity::default()
            && (self.tools.is_some() || self.servers.is_some())
            && names_it
            && of_server
    }
}
