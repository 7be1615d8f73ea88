//! Why a call was judged as it was: what was looked at, what each part of it came to, and which
//! rules had a say. For people; nothing here decides anything.

use super::{Allowed, Rules, Script, floors};
use crate::{CallView, Decision, PermissionClass, Policy, Touch, Verdict};

/// Everything that a verdict was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The tool, by its own name.
    pub tool: String,
    /// Its class, as rules see it.
    pub class: PermissionClass,
    /// What the call would touch.
    pub touches: Vec<Touch>,
    /// The shell texts that it would run, taken apart.
    pub scripts: Vec<ExplainedScript>,
    /// Every rule there is, and whether it applies.
    pub rules: Vec<ExplainedRule>,
    /// What rules hide from it while it runs, whatever it may do otherwise: the reason of each.
    pub hidden: Vec<String>,
    /// What came of it all.
    pub verdict: Verdict,
}

/// A shell text, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedScript {
    /// The text.
    pub text: String,
    /// Every command in it, in the order of the text.
    pub commands: Vec<ExplainedCommand>,
    /// Why the list may not be the whole truth.
    pub doubts: Vec<String>,
    /// Why it was not read whole, if so.
    pub refused: Option<String>,
    /// The name of a function that starts itself again and again.
    pub fork_bomb: Option<String>,
}

/// One command of a shell text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedCommand {
    /// As it was written.
    pub text: String,
    /// How it is reached, outermost first. Empty: it stands in the text itself.
    pub via: Vec<String>,
    /// Name and arguments.
    pub words: Vec<ExplainedWord>,
    /// Variables that are set for it.
    pub assignments: Vec<(String, ExplainedWord)>,
    /// Where its input comes from and its output goes.
    pub redirects: Vec<(&'static str, ExplainedWord)>,
    /// True when it goes on while the script does.
    pub background: bool,
    /// Directories that the script may have gone to before it.
    pub moved: Vec<ExplainedWord>,
    /// The program and its subcommand, as the table of programs knows them.
    pub program: String,
    /// What it can do beyond reading files; nothing: it only reads.
    pub classes: Vec<&'static str>,
    /// What led to each class.
    pub why: Vec<(&'static str, String)>,
    /// Paths that it names, and what happens to them.
    pub paths: Vec<(&'static str, ExplainedWord)>,
    /// Other machines that it names.
    pub hosts: Vec<ExplainedWord>,
    /// What is said of it alone. `None`: a rule allows the whole call, and nothing is said of
    /// single commands.
    pub verdict: Option<Verdict>,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedWord {
    /// As it was written.
    pub source: String,
    /// What the program will be handed, where that is known.
    pub text: Option<String>,
    /// Why it is not.
    pub unknown: Vec<&'static str>,
}

/// A rule, and whether it applies to the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedRule {
    /// Its name, if it has one.
    pub id: Option<String>,
    /// What it decides.
    pub decision: Decision,
    /// Where it is written.
    pub origin: String,
    /// True when it comes with the program.
    pub shipped: bool,
    /// Why it is there.
    pub text: String,
    /// Whether it applies to the call, or to a command of it.
    pub applies: bool,
}

impl Explanation {
    /// What can be told without knowing the rules.
    pub fn of(call: &CallView<'_>, verdict: Verdict) -> Explanation {
        Explanation {
            tool: call.name().to_owned(),
            class: call.class(),
            touches: call.touches().to_vec(),
            scripts: Vec::new(),
            rules: Vec::new(),
            hidden: Vec::new(),
            verdict,
        }
    }
}

impl Rules {
    /// The verdict on a call, and everything it was made of. Pure, like [`Policy::judge`].
    pub fn explain(&self, call: &CallView<'_>) -> Explanation {
        let texts = call.touches().iter().filter_map(|touch| match touch {
            Touch::Run(text) => Some(text.as_str()),
            Touch::Read(_)
            | Touch::Write(_)
            | Touch::Fetch(_)
            | Touch::Unknown
            | Touch::Unheld(_) => None,
        });
        let scripts: Vec<(&str, &Script)> = texts.zip(call.scripts()).collect();
        let mut paths = floors(call, &self.root, &mut Vec::new());
        for (_, script) in &scripts {
            script.paths(&self.root, &mut paths);
        }
        let touches = super::touches_and_hosts(call.touches(), call.scripts());
        let subject = self.subject(call, &touches, &paths);
        let matched = self.matching_rules(&subject, |_| true);
        let allowed = Allowed::by(&matched);
        let explained: Vec<ExplainedScript> = scripts
            .iter()
            .map(|(text, script)| script.explain(text, &subject, self, allowed))
            .collect();
        let fits = |rule| scripts.iter().any(|(_, script)| script.is_met_by(&subject, rule));
        let rules = self.rules.iter().map(|rule| ExplainedRule {
            id: rule.name().map(str::to_owned),
            decision: rule.decision(),
            origin: rule.written_at().to_owned(),
            shipped: rule.is_shipped(),
            text: rule.why().to_owned(),
            applies: match rule.is_about_commands() {
                true => fits(rule),
                false => rule.applies(&subject),
            },
        });
        let rules = rules.collect();
        let hidden = match scripts.is_empty() {
            true => Vec::new(),
            false => self.hidden_from(call).written_reasons(),
        };
        let told = Explanation::of(call, self.judge(call));
        Explanation { scripts: explained, rules, hidden, ..told }
    }
}
