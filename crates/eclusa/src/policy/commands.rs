//! What rules and defaults say of shell text: of each command in it, wherever it stands.
//!
//! The text is read once ([`Script`]), and everything that judges it looks at that reading. A
//! command that only reads inside the workspace is allowed: it runs where nothing can be written.
//! Everything else is staged; what sends something to other machines or wants more rights is asked
//! about; what cannot be had back is denied. A doubt about the text is a question at least.

use std::borrow::Cow;

use eclusa_shell::{
    Analysis, Command, RedirectKind, Word, analyse,
    programs::{Class, CommandProfile},
};

use super::{
    Access, Allowed, Root, Rules, domains,
    exceptions::is_excepted,
    quote::{quoted, shortened},
    rule::{Rule, Subject},
    taint, without_excepted,
};
use crate::{Decision, Reason, Source};

mod defaults;
mod explain;
mod fetches;
mod globs;
mod known;
mod named_files;
mod places;
mod prefix;
mod services;
mod system_files;
mod variables;

use defaults::only_reads;
use places::{Where, places, uses};
pub(crate) use prefix::{Fit, Prefix};

/// Programs that talk to other machines to give them something, and bring nothing back to read.
const SENDS: [&str; 4] = ["git push", "cargo publish", "npm publish", "pnpm publish"];

#[cfg(test)]
thread_local! {
    /// How many texts this thread has read.
    static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many shell texts this thread has read.
#[cfg(test)]
pub(crate) fn texts_read() -> usize {
    READ.with(std::cell::Cell::get)
}

/// Shell text, read.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    text: Analysis,
    /// Where its relative paths start: a path in the workspace, or nothing for the workspace.
    start: String,
    /// Taken from a text of which another command runs code.
    beside_code: bool,
}

pub use named_files::named_files;
pub(crate) use named_files::{named_by, read_named};

/// Where a text leaves the shell that runs it, from where it began, if everything in it goes well: a
/// guess, by which nothing may be judged. `None`: it stays, or that cannot be followed.
#[must_use]
pub fn left_in(text: &str) -> Option<String> {
    let moves = text.contains("cd");
    moves.then(|| analyse(text).left_in).flatten().filter(|it| !it.is_empty())
}

impl Script {
    /// Reads a text that starts in this directory, or in the workspace.
    pub(crate) fn read(text: &str, directory: Option<&str>) -> Script {
        #[cfg(test)]
        READ.with(|it| it.set(it.get() + 1));
        let start = directory.unwrap_or_default().to_owned();
        Script { text: analyse(text), start, beside_code: false }
    }

    fn commands(&self) -> impl Iterator<Item = (&Command, &CommandProfile)> {
        self.text.commands.iter().map(|it| (it, &it.profile))
    }

    /// What no rule loosens: what could not be read, what is in doubt, catastrophes, and hosts that
    /// nothing may talk to.
    pub(super) fn floors(&self, because: &mut Vec<Reason>) {
        because.extend(self.hosts().find_map(|it| domains::refused(&it)));
        let mut floor = |decision, origin: &'static str, text: String| {
            let (source, text) = (Source::Floor, text.into());
            because.push(Reason { decision, source, origin: origin.into(), text });
        };
        if let Some(doubt) = &self.text.refused {
            floor(Decision::Deny, "shell", format!("could not be parsed: {}", doubt.what));
        }
        if let Some(what) = &self.text.catastrophe {
            let text = format!("{}: {what}", quoted(&what.at));
            floor(Decision::Deny, "catastrophe", text);
        }
        for doubt in &self.text.doubts {
            let at = quoted(&doubt.at);
            // A sandbox contains whatever else such a text runs.
            let decision = if doubt.contained { Decision::Stage } else { Decision::Ask };
            floor(decision, "shell", format!("{} ({at})", doubt.what));
        }
    }

    /// The paths in the workspace that its commands name, as far as they are known.
    pub(crate) fn paths(&self, root: &Root, paths: &mut Vec<(Access, Cow<'_, str>)>) {
        for (command, reading) in self.commands() {
            for (access, word) in uses(command, reading) {
                for place in places(&word, command, &self.start, root) {
                    if let Where::Inside(path) = place {
                        paths.push((access, Cow::Owned(path)));
                    }
                }
            }
        }
    }

    /// What the rules about commands say, and the defaults for every command that none allows.
    /// Where a rule allows the whole call there are no defaults. True when a rule allows every
    /// command by itself, and none writes anything by a redirection.
    pub(super) fn judge(
        &self,
        subject: &Subject<'_>,
        rules: &Rules,
        all: Allowed,
        because: &mut Vec<Reason>,
    ) -> bool {
        let mut ruled = !self.text.commands.is_empty();
        let excepted = rules.excepted_by_calls(subject);
        for (command, reading) in self.commands() {
            let fits = rules.index.about_command(&rules.rules, command, reading).into_iter();
            let fits = fits.filter(|it| !is_excepted(it, &excepted));
            let fits = fits.map(|it| (it, it.fits_command(subject, command, reading)));
            let (yes, perhaps): (Vec<_>, Vec<_>) =
                fits.filter(|it| it.1 != Fit::No).partition(|it| it.1 == Fit::Yes);
            let yes = without_excepted(yes.into_iter().map(|it| it.0).collect());
            because.extend(yes.iter().map(|it| about(command, it.reason())));
            let perhaps = perhaps.into_iter().map(|it| it.0);
            for rule in perhaps.filter(|it| it.decision() != Decision::Allow) {
                let decision = rule.decision().min(Decision::Ask);
                let text = format!("perhaps {}", &*rule.reason().text);
                let reason = Reason { decision, text: text.into(), ..rule.reason() };
                because.push(about(command, reason));
            }
            let allowing: Vec<_> =
                yes.iter().filter(|it| it.decision() == Decision::Allow).collect();
            let redirected = command.redirects.iter().any(|it| writes(it.kind));
            ruled &= !allowing.is_empty() && !redirected && command.assignments.is_empty();
            if allowing.is_empty() && all == Allowed::ByOtherClass {
                continue;
            }
            if allowing.is_empty() && all == Allowed::No {
                let tainted = subject.moment.taint.is_some();
                let default = self.default(command, reading, subject.root, tainted);
                if let (Decision::Ask, Some(from), Some(what)) =
                    (default.decision, &subject.moment.taint, taint::carried_by(reading.class))
                {
                    let what = format!("{} {what}", display_command(command));
                    because.push(taint::question(from, &what, Source::Default));
                }
                because.push(default);
            } else if let (Some(from), Some(what)) =
                (&subject.moment.taint, taint::carried_by(reading.class))
            {
                let thought_of =
                    all == Allowed::EvenTainted || allowing.iter().any(|it| it.holds_tainted());
                if !thought_of {
                    let what = format!("{} {what}", display_command(command));
                    because.push(taint::question(from, &what, Source::Rule));
                }
            }
        }
        ruled
    }

    /// How it brings text from outside into the session, if it does. `shut`: it runs where every way to
    /// another machine is seen, and whoever runs it says if it reached one; its name says nothing then.
    pub(super) fn brings(&self, root: &Root, shut: bool) -> Option<&'static str> {
        self.commands().find_map(|(command, reading)| {
            let reads = || uses(command, reading).filter(|it| it.0 == Access::Read);
            let outside = |word: &Word| {
                let mut places = places(word, command, &self.start, root).into_iter();
                places.any(|it| matches!(it, Where::Outside))
            };
            let sends = SENDS.contains(&reading.program.as_str());
            if reading.class.contains(Class::Network) && !sends && !shut {
                Some("came from the web")
            } else if reads().any(|it| outside(&it.1)) {
                Some("came from outside the workspace")
            } else {
                None
            }
        })
    }

    /// True when any of it talks to other machines, as far as is known.
    pub(super) fn talks(&self) -> bool {
        self.commands().any(|(_, it)| it.class.contains(Class::Network))
    }

    /// Whether a rule about commands applies: for one that tightens, to any of them, were it only
    /// perhaps; for one that allows, to all of them.
    pub(crate) fn fits(&self, rule: &Rule, subject: &Subject<'_>) -> bool {
        let fit = |(command, reading)| rule.fits_command(subject, command, reading);
        match rule.decision() {
            Decision::Allow => {
                !self.text.commands.is_empty() && self.commands().all(|it| fit(it) == Fit::Yes)
            }
            Decision::Stage | Decision::Ask | Decision::Deny => {
                self.commands().any(|it| fit(it) != Fit::No)
            }
        }
    }

    /// What is said of a command of it that needs a service which no sandbox has, if there is one.
    pub(crate) fn service(&self) -> Option<String> {
        let needing = self.commands().find(|(_, it)| services::needs(it))?.0;
        Some(format!("{} {}", display_command(needing), services::said_of(needing)))
    }

    /// True when nothing of the text is in doubt: it has no commands but those that were read.
    pub(in crate::policy) fn is_certain(&self) -> bool {
        self.text.doubts.is_empty() && self.text.refused.is_none()
    }

    /// True when no command of it does more than read.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_certain()
            && self.commands().all(|(command, reading)| only_reads(command, reading).is_ok())
    }
}

/// True when no command of a shell text does more than read, as far as its text tells. It can then
/// run where nothing can be written.
pub fn only_reads_files(text: &str) -> bool {
    Script::read(text, None).is_read_only()
}

/// A reason about one of several commands says which.
fn about(command: &Command, reason: Reason) -> Reason {
    let text = format!("{}: {}", display_command(command), &*reason.text);
    Reason { text: text.into(), ..reason }
}

fn writes(kind: RedirectKind) -> bool {
    matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite)
}

/// A command, as it is named in a reason.
fn display_command(command: &Command) -> String {
    quoted(&command_name(command))
}

/// A command, as it is written.
fn command_name(command: &Command) -> String {
    let words: Vec<&str> = command.words.iter().map(|it| it.source.as_str()).collect();
    match words.is_empty() {
        true => match (command.assignments.first(), command.redirects.first()) {
            (Some(it), _) => format!("{}=…", it.name),
            (None, Some(it)) => format!("a redirection to {}", it.target.source),
            (None, None) => "an empty command".to_owned(),
        },
        false => words.join(" "),
    }
}
