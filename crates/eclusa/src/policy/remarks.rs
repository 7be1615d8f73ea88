//! Rules that decide nothing: what they have to say goes with the reply and on record.

use super::{Rule, Rules, Script, floors, touches_and_hosts};
use crate::CallView;

impl Rules {
    /// What rules remark on a call, each with where it is written.
    pub(super) fn remarks_on(&self, call: &CallView<'_>) -> Vec<String> {
        if self.remarks.is_empty() {
            return Vec::new();
        }
        let scripts = call.scripts();
        let mut paths = floors(call, &self.root, &mut Vec::new());
        scripts.iter().for_each(|it| it.paths(&self.root, &mut paths));
        let touches = touches_and_hosts(call.touches(), scripts);
        let subject = self.subject(call, &touches, &paths);
        let applies = |rule: &&Rule| match rule.is_about_commands() {
            true => scripts.iter().any(|it: &Script| it.is_met_by(&subject, rule)),
            false => rule.applies(&subject),
        };
        self.remarks.iter().filter(applies).map(|it| it.reason().to_string()).collect()
    }
}
