//! The rules: what they say of a call, together with what holds without any.
//!
//! Every rule that applies is matched, and the strictest decides; their order does not matter.
//! Where no rule allows, the tool's class decides. And some things no rule can loosen.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use eclusa_net::HostAccess;

use crate::{Decision, PermissionClass, Reason, Source, Touch, Verdict};

pub use bound_file::BoundFile;
pub use call_view::{Author, CallView};
pub use commands::{left_in, named_files, only_reads_files};
pub(crate) use commands::{named_by, read_named};
pub use effect_conditions::{Amount, EffectConditions};
pub use effects::{
    Budget, ChangeTotals, EffectGroup, EffectKind, EffectKinds, EffectLimits, Effects,
    FoldedChanges, GitAction, GitActionKind, GitFile, NewCommit, PathFacts, RefChange,
    RepositoryFacts, SettingChange, SettingKind, Tracked,
};
pub use error::ConditionError;
pub use example::ExampleCall;
pub use explain::{ExplainedCommand, ExplainedRule, ExplainedScript, ExplainedWord, Explanation};
pub use judge::Policy;
pub use matcher::{Matcher, Pointer};
pub use mode_rule::ModeRule;
pub use names::Names;
pub use rule::{Access, Rule, outright_denials};
pub use validity::{ContextNeeds, CountedRule, JudgeContext, Validity};
pub use visibility::HiddenPaths;

pub(crate) use commands::Script;
#[cfg(test)]
pub(crate) use commands::texts_read;
pub(crate) use host_access::{named_hosts, written_hosts};
pub(crate) use paths::Root;
pub(crate) use quote::plainly;
pub(crate) use rule::Subject;
pub(crate) use taint::{question as taint_question, tried_all_the_same};

/// The id of the rule that asks where a machine has not heard of its fleet for too long: no earlier answer covers what
/// it asks.
pub const STALE_RULE: &str = "fleet-stale";

mod bound_file;
mod call_view;
#[cfg(feature = "shell")]
mod commands;
#[cfg(not(feature = "shell"))]
#[path = "policy/unread_commands.rs"]
mod commands;
mod domains;
mod effect_conditions;
mod effects;
mod error;
mod example;
mod exceptions;
mod explain;
mod host_access;
mod index;
mod judge;
mod matcher;
mod mode_rule;
mod names;
mod paths;
mod quote;
mod remarks;
mod rule;
mod taint;
#[cfg(test)]
pub(crate) mod tests;
mod validity;
mod visibility;

use index::Index;
use paths::PathLocation;

/// Rules over one workspace. Pure: judging looks at nothing but the call.
///
/// ```
/// use eclusa::{Decision, Rule, Rules};
///
/// # fn main() -> Result<(), String> {
/// let rules = Rules::new(
///     vec![
///         Rule::new(Decision::Allow).tool(["write_file"])?.path(["docs/**"])?,
///         Rule::new(Decision::Deny).path([".env"])?.because("secrets stay here"),
///     ],
///     "/home/me/project".as_ref(),
/// );
/// # let _ = rules;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Those that decide nothing, and are heard apart.
    remarks: Vec<Rule>,
    index: Index,
    terms: ContextNeeds,
    root: Root,
    effects: EffectLimits,
}

impl Rules {
    /// These rules, for calls in this workspace.
    pub fn new(rules: Vec<Rule>, workspace: &Path) -> Rules {
        let (root, effects) = (Root::new(workspace), EffectLimits::default());
        let rules = rules.into_iter().map(|it| it.within(&root));
        let (remarks, rules): (Vec<Rule>, Vec<Rule>) = rules.partition(Rule::is_remark);
        let (index, terms) = (Index::new(&rules), ContextNeeds::new(&rules));
        Rules { rules, remarks, index, terms, root, effects }
    }

    /// The rules, in the order in which they were written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// All rules about whole calls that apply, among those that have a say.
    fn matching_rules(&self, call: &Subject<'_>, has_a_say: impl Fn(&Rule) -> bool) -> Vec<&Rule> {
        let mut matched = Vec::new();
        self.index.about_call(&self.rules, call, |it| {
            if has_a_say(it) && it.applies(call) {
                matched.push(it);
            }
        });
        without_excepted(matched)
    }
}

/// Rules that apply, without those that another of them is an exception to.
fn without_excepted(mut rules: Vec<&Rule>) -> Vec<&Rule> {
    if rules.iter().any(|it| !it.exceptions().is_empty()) {
        let all = rules.clone();
        let excepted = |id: &str| all.iter().any(|it| it.exceptions().iter().any(|it| it == id));
        rules.retain(|it| !it.name().is_some_and(excepted));
    }
    rules
}

impl Policy for Rules {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        let mut because = Vec::with_capacity(4);
        let scripts = call.scripts();
        let mut paths = floors(call, &self.root, &mut because);
        for script in scripts {
            script.floors(&mut because);
            script.paths(&self.root, &mut paths);
        }
        if self.effects.delete == Decision::Deny && call.facts().audit_operation == "delete" {
            let text = "deleting is switched off (`effects.delete = \"deny\"`)";
            because.push(Reason { text: text.into(), ..deny("effects.delete") });
        }
        let touches = touches_and_hosts(call.touches(), scripts);
        let subject = self.subject(call, &touches, &paths);
        let mut matched = self.matching_rules(&subject, |_| true);
        self.drop_excepted_by_commands(&mut matched, &subject, scripts);
        self.ask_where_used_up(&subject, scripts, &mut because);
        because.extend(matched.iter().map(|it| match it.is_about_blocked() {
            true => it.reason_naming(&subject),
            false => it.reason(),
        }));
        let allowed = Allowed::by(&matched);
        if let (Some(from), Some(what)) = (&call.context().taint, taint::exfiltration_risk(call)) {
            match allowed {
                Allowed::Yes => because.push(taint::question(from, what, Source::Rule)),
                // It is asked about anyway: now each time, whatever was answered before.
                Allowed::No if class_default(call).0 >= Decision::Ask => {
                    because.push(taint::question(from, what, Source::Default));
                }
                Allowed::No | Allowed::EvenTainted | Allowed::ByOtherClass => {}
            }
        }
        let judged = !scripts.is_empty() && call.facts().stages && !call.facts().sensitive;
        let mut ruled = !scripts.is_empty() && call.facts().only_judges;
        for script in scripts {
            // The defaults for commands are for where they are staged.
            let all = if judged { allowed } else { allowed.or_by_other_class() };
            ruled &= script.judge(&subject, self, all, &mut because);
        }
        if call.facts().only_judges && !scripts.is_empty() && !ruled {
            because.push(reason(Decision::Ask, Source::Floor, "shell", "it runs shell text"));
        }
        if allowed == Allowed::No && !judged && !ruled {
            // Said only where it is news: what is as strict already needs no further reason.
            let strictest = because.iter().map(|it| it.decision).max();
            let (decision, text) = class_default(call);
            if strictest.is_none_or(|it| it < decision) {
                because.push(reason(decision, Source::Default, "defaults", text));
            }
        }
        Verdict::from_reasons(because)
    }

    fn context_needs(&self) -> &ContextNeeds {
        &self.terms
    }

    fn taint_source(&self, call: &CallView<'_>) -> Option<&'static str> {
        taint::taint_source(call, call.scripts(), &self.root)
    }

    fn explain(&self, call: &CallView<'_>) -> Explanation {
        Rules::explain(self, call)
    }

    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        Rules::judge_effects(self, effects)
    }

    fn effect_kinds(&self, effects: &Effects<'_>) -> EffectKinds {
        Rules::effect_kinds(self, effects)
    }

    fn budget_spent(&self, spent: &ChangeTotals) -> BTreeMap<&'static str, [u64; 2]> {
        self.effects.budget.spent(spent)
    }

    fn counts_lines(&self) -> bool {
        let asks = |it: &Rule| it.effect_conditions().is_some_and(EffectConditions::counts_lines);
        self.effects.counts_lines() || self.rules.iter().any(asks)
    }

    fn hidden(&self, call: &CallView<'_>) -> HiddenPaths {
        self.hidden_from(call)
    }

    fn judge_host(&self, call: &CallView<'_>, host: &str) -> Verdict {
        Rules::judge_host(self, call, host)
    }

    fn host_access(&self, call: &CallView<'_>) -> HostAccess {
        self.host_access_of(call)
    }

    fn remarks(&self, call: &CallView<'_>) -> Vec<String> {
        self.remarks_on(call)
    }
}

/// Whether a rule allows a whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Allowed {
    No,
    Yes,
    /// And it has thought of text from outside.
    EvenTainted,
    /// None does, and something else than the defaults for commands speaks for it.
    ByOtherClass,
}

impl Allowed {
    fn or_by_other_class(self) -> Allowed {
        if self == Allowed::No { Allowed::ByOtherClass } else { self }
    }

    /// What follows from the rules that apply.
    fn by(matched: &[&Rule]) -> Allowed {
        let allowing = || matched.iter().filter(|it| it.decision() == Decision::Allow);
        match allowing().next() {
            None => Allowed::No,
            Some(_) if allowing().any(|it| it.holds_tainted()) => Allowed::EvenTainted,
            Some(_) => Allowed::Yes,
        }
    }
}

/// The shell texts that a call runs, read. They start in this directory, or in the workspace.
pub(crate) fn scripts(touches: &[Touch], directory: Option<&str>) -> Vec<Script> {
    let text = |touch: &Touch| match touch {
        Touch::Run(text) => Some(Script::read(text, directory)),
        Touch::Read(_) | Touch::Write(_) | Touch::Fetch(_) | Touch::Unknown | Touch::Unheld(_) => {
            None
        }
    };
    touches.iter().filter_map(text).collect()
}

/// What a call touches, with the hosts that its commands name as if the tool had said so.
pub(crate) fn touches_and_hosts<'a>(touches: &'a [Touch], scripts: &[Script]) -> Cow<'a, [Touch]> {
    let mut touches = Cow::Borrowed(touches);
    for host in scripts.iter().flat_map(Script::hosts) {
        touches.to_mut().push(Touch::Fetch(host));
    }
    touches
}

/// What no rule can loosen. Gives the paths in the workspace that the call touches.
fn floors<'a>(
    call: &CallView<'a>,
    root: &Root,
    because: &mut Vec<Reason>,
) -> Vec<(Access, Cow<'a, str>)> {
    let mut paths = Vec::new();
    let (mut said, mut unknown) = (false, false);
    for touch in call.touches() {
        let (access, path) = match touch {
            Touch::Read(path) => (Access::Read, path),
            Touch::Write(path) => (Access::Write, path),
            Touch::Run(_) => {
                said = true;
                continue;
            }
            Touch::Unknown => {
                unknown = true;
                continue;
            }
            Touch::Unheld(lacking) => {
                let text = format!("this machine's sandbox lacks a part: {lacking}");
                let asked = reason(Decision::Ask, Source::Floor, "sandbox", "");
                because.push(Reason { text: text.into(), ..asked });
                continue;
            }
            Touch::Fetch(host) => {
                because.extend(domains::refused(host));
                continue;
            }
        };
        match root.place(path) {
            PathLocation::Inside(path) => paths.push((access, path)),
            PathLocation::Outside => {
                let text = format!("`{}` is outside the workspace", plainly(path));
                because.push(Reason { text: text.into(), ..deny("workspace") });
            }
            PathLocation::Nowhere => {
                let text = format!("`{}` does not say which file it means", plainly(path));
                because.push(Reason { text: text.into(), ..deny("workspace") });
            }
        }
    }
    // What a command changes is a value first, or a person is asked.
    let shell = call.class() == PermissionClass::Shell;
    // What another program would run is judged command by command.
    let judged = said && call.facts().only_judges;
    if (said || shell) && !call.facts().stages && !judged {
        because.push(reason(Decision::Ask, Source::Floor, "shell", "it runs shell text"));
    } else if shell && !said {
        let text = "the tool does not declare what it runs";
        because.push(reason(Decision::Ask, Source::Floor, "shell", text));
    }
    if unknown {
        let text = "the tool does not declare what it reads or writes (a tool of your own declares \
                    it with `reads` and `writes`, `reads = []` for nothing)";
        because.push(reason(Decision::Ask, Source::Floor, "touches", text));
    }
    paths
}

/// What holds where no rule allows: the class decides, and a sensitive tool is asked about.
///
/// The labels `read_only` and `destructive` are not looked at (S3.13, S3.14, C27).
fn class_default(call: &CallView<'_>) -> (Decision, &'static str) {
    let mut touches = call.touches().iter();
    match call.class() {
        _ if call.facts().sensitive => (Decision::Ask, "the tool is sensitive"),
        PermissionClass::ReadOnly if touches.all(|it| matches!(it, Touch::Read(_))) => {
            (Decision::Allow, "read-only")
        }
        PermissionClass::ReadOnly => {
            (Decision::Ask, "its class is read-only, but it does more than read")
        }
        PermissionClass::File if call.touches().is_empty() => {
            (Decision::Ask, "the tool does not declare which files it uses")
        }
        PermissionClass::File if touches.all(|it| matches!(it, Touch::Read(_))) => {
            (Decision::Allow, "it only reads in the workspace")
        }
        PermissionClass::File if call.facts().stages && touches_files(call) => {
            (Decision::Stage, "changes are reviewed before they are applied")
        }
        PermissionClass::File => (Decision::Ask, "it writes files or runs code"),
        PermissionClass::Shell if call.facts().stages => {
            (Decision::Stage, "changes are reviewed before they are applied")
        }
        PermissionClass::Shell => (Decision::Ask, "it runs shell text"),
        PermissionClass::Web => (Decision::Ask, "it talks to a host"),
        PermissionClass::Generic => (Decision::Ask, "no rule allows it"),
    }
}

/// True when a call touches nothing but files.
fn touches_files(call: &CallView<'_>) -> bool {
    call.touches().iter().all(|it| matches!(it, Touch::Read(_) | Touch::Write(_)))
}

fn reason(decision: Decision, source: Source, origin: &'static str, text: &'static str) -> Reason {
    Reason { decision, source, origin: origin.into(), text: text.into() }
}

fn deny(origin: &'static str) -> Reason {
    reason(Decision::Deny, Source::Floor, origin, "")
}
