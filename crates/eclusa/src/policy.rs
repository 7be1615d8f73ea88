//! The rules: what they say of a call, together with what holds without any.
//!
//! Every rule that applies is heard, and the strictest decides; their order does not matter.
//! Where no rule allows, the tool's class decides. And some things no rule can loosen.

use std::{borrow::Cow, collections::HashMap, path::Path};

use crate::{Decision, PermissionClass, Policy, Reason, Source, Touch, Validated, Verdict};

pub use commands::only_reads_files;
pub use effects::{Author, EffectLimits, Effects, Spent};
pub use explain::{ExplainedCommand, ExplainedRule, ExplainedScript, ExplainedWord, Explanation};
pub use matcher::Matcher;
pub use rule::{Access, Rule};
pub use sight::Hidden;

pub(crate) use matcher::Pointer;
pub(crate) use names::Names;
pub(crate) use paths::Root;
pub(crate) use rule::Subject;

mod commands;
mod domains;
mod effects;
mod explain;
mod matcher;
mod names;
mod paths;
mod rule;
mod sight;
#[cfg(test)]
pub(crate) mod tests;

use commands::Script;
use paths::Place;

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
    /// Places in `rules` of those that name all their tools, by those names.
    by_tool: HashMap<String, Vec<usize>>,
    /// Places in `rules` of the others.
    others: Vec<usize>,
    root: Root,
    effects: EffectLimits,
}

impl Rules {
    /// These rules, for calls in this workspace.
    pub fn new(rules: Vec<Rule>, workspace: &Path) -> Rules {
        let (mut by_tool, mut others) = (HashMap::<String, Vec<usize>>::new(), Vec::new());
        for (at, rule) in rules.iter().enumerate() {
            match rule.exact_tools() {
                Some(names) => {
                    for name in names {
                        by_tool.entry(name.clone()).or_default().push(at);
                    }
                }
                None => others.push(at),
            }
        }
        let (root, effects) = (Root::new(workspace), EffectLimits::default());
        Rules { rules, by_tool, others, root, effects }
    }

    /// The rules, in the order in which they were written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Adds the reasons of all rules that apply, among those that have a say.
    fn hear(
        &self,
        call: &Subject<'_>,
        because: &mut Vec<Reason>,
        has_a_say: impl Fn(&Rule) -> bool,
    ) {
        let others = self.others.iter().filter_map(|at| self.rules.get(*at));
        for rule in others.chain(self.naming(call)).filter(|it| has_a_say(it) && it.applies(call)) {
            because.push(rule.reason());
        }
    }

    /// The rules that name the tool, by whichever of its names, each once.
    fn naming<'a>(&'a self, call: &'a Subject<'_>) -> impl Iterator<Item = &'a Rule> {
        let names = std::iter::once(call.name).chain(call.aliases.iter().map(String::as_str));
        let before = move |count: usize| {
            std::iter::once(call.name).chain(call.aliases.iter().map(String::as_str)).take(count)
        };
        names.enumerate().flat_map(move |(count, name)| {
            let rules = self.by_tool.get(name).into_iter().flatten();
            let rules = rules.filter_map(|at| self.rules.get(*at));
            rules.filter(move |rule| !before(count).any(|it| rule.names(it)))
        })
    }
}

impl Policy for Rules {
    fn judge(&self, call: &Validated) -> Verdict {
        let mut because = Vec::with_capacity(4);
        let scripts: Vec<Script> = call
            .touches()
            .iter()
            .filter_map(|touch| match touch {
                Touch::Run(text) => Some(Script::read(text)),
                Touch::Read(_) | Touch::Write(_) | Touch::Fetch(_) | Touch::Unknown => None,
            })
            .collect();
        let mut paths = floors(call, &self.root, &mut because);
        for script in &scripts {
            script.floors(&mut because);
            script.paths(&self.root, &mut paths);
        }
        let floors = because.len();
        let subject = self.subject(call, call.touches(), &paths);
        self.hear(&subject, &mut because, |it| !it.is_about_commands());
        let heard = because.get(floors..).unwrap_or_default();
        let allowed = heard.iter().any(|it| it.decision == Decision::Allow);
        let commands: Vec<&Rule> = self.rules.iter().filter(|it| it.is_about_commands()).collect();
        for script in &scripts {
            script.judge(&subject, &commands, allowed, &mut because);
        }
        let judged = !scripts.is_empty() && call.facts().stages && !call.facts().sensitive;
        if !allowed && !judged {
            // Said only where it is news: what is as strict already needs no further reason.
            let strictest = because.iter().map(|it| it.decision).max();
            let (decision, text) = unruled(call);
            if strictest.is_none_or(|it| it < decision) {
                because.push(reason(decision, Source::Default, "defaults", text));
            }
        }
        Verdict::of(because)
    }

    fn explain(&self, call: &Validated) -> Explanation {
        Rules::explain(self, call)
    }

    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        Rules::judge_effects(self, effects)
    }

    fn counts_lines(&self) -> bool {
        self.effects.max_lines.is_some()
    }

    fn hidden(&self, call: &Validated) -> Hidden {
        self.hidden_from(call)
    }

    fn judge_host(&self, call: &Validated, host: &str) -> Verdict {
        Rules::judge_host(self, call, host)
    }
}

/// What no rule can loosen. Gives the paths in the workspace that the call touches.
fn floors<'a>(
    call: &'a Validated,
    root: &Root,
    because: &mut Vec<Reason>,
) -> Vec<(Access, Cow<'a, str>)> {
    let mut paths = Vec::new();
    let (mut runs, mut unknown) = (call.class() == PermissionClass::Shell, false);
    for touch in call.touches() {
        let (access, path) = match touch {
            Touch::Read(path) => (Access::Read, path),
            Touch::Write(path) => (Access::Write, path),
            Touch::Run(_) => {
                runs = true;
                continue;
            }
            Touch::Unknown => {
                unknown = true;
                continue;
            }
            Touch::Fetch(_) => continue,
        };
        match root.place(path) {
            Place::Inside(path) => paths.push((access, path)),
            Place::Outside => {
                let text = format!("`{}` is outside the workspace", path.escape_debug());
                because.push(Reason { text: text.into(), ..deny("workspace") });
            }
            Place::Nowhere => {
                let text = format!("`{}` does not say which file it means", path.escape_debug());
                because.push(Reason { text: text.into(), ..deny("workspace") });
            }
        }
    }
    // What a command changes is a value first, or a person is asked.
    if runs && !call.facts().stages {
        because.push(reason(Decision::Ask, Source::Floor, "shell", "it runs shell text"));
    }
    if unknown {
        let text = "nobody can tell what it would touch";
        because.push(reason(Decision::Ask, Source::Floor, "touches", text));
    }
    paths
}

/// What holds where no rule allows: the class decides, and a sensitive tool is asked about.
///
/// The labels `read_only` and `destructive` are not looked at (S3.13, S3.14, C27).
fn unruled(call: &Validated) -> (Decision, &'static str) {
    let mut touches = call.touches().iter();
    match call.class() {
        _ if call.facts().sensitive => (Decision::Ask, "the tool is sensitive"),
        PermissionClass::ReadOnly if touches.all(|it| matches!(it, Touch::Read(_))) => {
            (Decision::Allow, "it only looks")
        }
        PermissionClass::ReadOnly => {
            (Decision::Ask, "its class is read-only, but it does more than read")
        }
        PermissionClass::File if call.touches().is_empty() => {
            (Decision::Ask, "it does not say which files it touches")
        }
        PermissionClass::File if touches.all(|it| matches!(it, Touch::Read(_))) => {
            (Decision::Allow, "it only reads in the workspace")
        }
        PermissionClass::File if call.facts().stages && touches_files(call) => {
            (Decision::Stage, "what it changes is judged before it is real")
        }
        PermissionClass::File => (Decision::Ask, "it does more than read files"),
        PermissionClass::Shell if call.facts().stages => {
            (Decision::Stage, "what it changes is judged before it is real")
        }
        PermissionClass::Shell => (Decision::Ask, "it runs shell text"),
        PermissionClass::Web => (Decision::Ask, "it talks to a host"),
        PermissionClass::Generic => (Decision::Ask, "no rule allows it"),
    }
}

/// True when a call touches nothing but files.
fn touches_files(call: &Validated) -> bool {
    call.touches().iter().all(|it| matches!(it, Touch::Read(_) | Touch::Write(_)))
}

fn reason(decision: Decision, source: Source, origin: &'static str, text: &'static str) -> Reason {
    Reason { decision, source, origin: origin.into(), text: text.into() }
}

fn deny(origin: &'static str) -> Reason {
    reason(Decision::Deny, Source::Floor, origin, "")
}
