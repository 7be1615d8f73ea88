//! What rules and defaults say of shell text: of each command in it, wherever it stands.
//!
//! The text is read once ([`Script`]), and everything that judges it looks at that reading. A
//! command that only reads inside the workspace is allowed: it runs where nothing can be written.
//! Everything else is staged; what talks to other machines or wants more rights is asked about;
//! what cannot be had back is denied. A doubt about the text is a question at least.

use std::borrow::Cow;

use eclusa_shell::{
    Analysis, Command, Influence, Inner, Part, RedirectKind, Unknown, Word, analyse_with,
    influence,
    programs::{self, Class, How, Reading},
};

use super::{
    Access, Root,
    paths::Place,
    rule::{Rule, Subject},
};
use crate::{Decision, Reason, Source};

mod explain;
mod prefix;
mod variables;
pub(crate) use prefix::{Fit, Prefix};

/// What becomes of a command that does more than read in the workspace, and why.
type Refused = (Decision, String);

/// How much of a command a reason quotes.
const QUOTED: usize = 80;

/// Files that everybody may write to, because nothing is kept there.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/2"];
/// Files outside that tell nothing about anybody.
const HARMLESS: [&str; 6] =
    ["/dev/null", "/dev/stdin", "/dev/zero", "/etc/os-release", "/proc/cpuinfo", "/proc/meminfo"];

/// Shell text, read.
#[derive(Debug)]
pub(crate) struct Script {
    analysis: Analysis,
    readings: Vec<Reading>,
}

impl Script {
    pub(crate) fn read(text: &str) -> Script {
        let analysis = analyse_with(text, &|argv| {
            let Reading { runs, scripts, reads_script, .. } = programs::read(argv);
            Inner { runs, scripts, reads_script }
        });
        let readings = analysis.commands.iter().map(|it| programs::read(&it.words)).collect();
        Script { analysis, readings }
    }

    fn commands(&self) -> impl Iterator<Item = (&Command, &Reading)> {
        self.analysis.commands.iter().zip(&self.readings)
    }

    /// What no rule loosens: what could not be read, what is in doubt, and catastrophes.
    pub(super) fn floors(&self, because: &mut Vec<Reason>) {
        let mut floor = |decision, origin: &'static str, text: String| {
            let (source, text) = (Source::Floor, text.into());
            because.push(Reason { decision, source, origin: origin.into(), text });
        };
        if let Some(doubt) = &self.analysis.refused {
            floor(Decision::Deny, "shell", format!("it cannot be judged: {}", doubt.what));
        }
        if let Some(name) = &self.analysis.fork_bomb {
            let text = format!("`{}` starts itself again and again", name.escape_debug());
            floor(Decision::Deny, "catastrophe", text);
        }
        for doubt in &self.analysis.doubts {
            let at = quoted(&doubt.at);
            floor(Decision::Ask, "shell", format!("{} ({at})", doubt.what));
        }
        for (command, reading) in self.commands() {
            let what = programs::catastrophe(&command.words, reading, &command.moved);
            if let Some(what) = what {
                floor(Decision::Deny, "catastrophe", format!("{} {what}", said(command)));
            }
            for redirect in command.redirects.iter().filter(|it| writes(it.kind)) {
                if let Some(what) = programs::catastrophic_write(&redirect.target) {
                    floor(Decision::Deny, "catastrophe", format!("{} {what}", said(command)));
                }
            }
        }
    }

    /// The paths in the workspace that its commands name, as far as they are known.
    pub(super) fn paths(&self, root: &Root, paths: &mut Vec<(Access, Cow<'_, str>)>) {
        for (command, reading) in self.commands() {
            for (access, word) in uses(command, reading) {
                for place in places(&word, command, root) {
                    if let Where::Inside(path) = place {
                        paths.push((access, Cow::Owned(path)));
                    }
                }
            }
        }
    }

    /// What the rules about commands say, and the defaults for every command that none allows.
    /// Where a rule allows the whole call there are no defaults.
    pub(super) fn judge(
        &self,
        subject: &Subject<'_>,
        rules: &[&Rule],
        all_allowed: bool,
        because: &mut Vec<Reason>,
    ) {
        for (command, reading) in self.commands() {
            let mut allowed = None;
            for rule in rules {
                match rule.fits_command(subject, command, reading) {
                    Fit::No => {}
                    Fit::Yes if rule.decision() == Decision::Allow => allowed = Some(*rule),
                    Fit::Yes => because.push(about(command, rule.reason())),
                    Fit::Perhaps if rule.decision() == Decision::Allow => {}
                    Fit::Perhaps => {
                        let decision = rule.decision().min(Decision::Ask);
                        let text = format!("perhaps {}", &*rule.reason().text);
                        let reason = Reason { decision, text: text.into(), ..rule.reason() };
                        because.push(about(command, reason));
                    }
                }
            }
            match allowed {
                Some(rule) => because.push(about(command, rule.reason())),
                None if all_allowed => {}
                None => because.push(Self::default(command, reading, subject.root)),
            }
        }
    }

    /// True when no command of it does more than read.
    fn is_read_only(&self) -> bool {
        let unsure = !self.analysis.doubts.is_empty() || self.analysis.refused.is_some();
        !unsure && self.commands().all(|(command, reading)| only_reads(command, reading).is_ok())
    }

    /// What holds for a command that no rule allows.
    fn default(command: &Command, reading: &Reading, root: &Root) -> Reason {
        let judged = only_reads(command, reading)
            .and_then(|()| reaches(command, reading, root))
            .and_then(|()| variables::told(command));
        let (decision, text) = match judged {
            Err(refused) => refused,
            Ok(()) => (Decision::Allow, "only reads in the workspace".to_owned()),
        };
        let text = format!("{} {text}", said(command)).into();
        Reason { decision, source: Source::Default, origin: "commands".into(), text }
    }
}

/// True when no command of a shell text does more than read, as far as its text tells. It can then
/// run where nothing can be written.
pub fn only_reads_files(text: &str) -> bool {
    Script::read(text).is_read_only()
}

/// A reason about one of several commands says which.
fn about(command: &Command, reason: Reason) -> Reason {
    let text = format!("{}: {}", said(command), &*reason.text);
    Reason { text: text.into(), ..reason }
}

/// `Ok` when a command does nothing but read, wherever that is. Otherwise what becomes of it.
fn only_reads(command: &Command, reading: &Reading) -> Result<(), Refused> {
    let stage = |why: String| Err((Decision::Stage, why));
    for class in [Class::Privilege, Class::Network] {
        if reading.class.contains(class) {
            let why = why(reading, class);
            return Err((Decision::Ask, why));
        }
    }
    if !reading.class.is_read_only() {
        let worst = reading.class.worst().unwrap_or(Class::Unknown);
        return stage(why(reading, worst));
    }
    if reading.needs.contains(&"trusted-project") {
        return stage("may run what files of the project say".to_owned());
    }
    for assignment in &command.assignments {
        let name = quoted(&assignment.name);
        match influence(&assignment.name) {
            Influence::Looks => {}
            Influence::Steers => return stage(format!("sets {name}, which steers other programs")),
            Influence::Unlisted if command.words.is_empty() => {}
            Influence::Unlisted => return stage(format!("sets {name} for a program")),
        }
    }
    for redirect in command.redirects.iter().filter(|it| writes(it.kind)) {
        let target = redirect.target.text();
        if !target.as_deref().is_some_and(|it| SINKS.contains(&it)) {
            return stage(format!("writes to {}", quoted(&redirect.target.source)));
        }
    }
    match command.background {
        true => stage("goes on in the background".to_owned()),
        false => Ok(()),
    }
}

/// `Ok` when everything that a command reads is known and lies in the workspace.
fn reaches(command: &Command, reading: &Reading, root: &Root) -> Result<(), Refused> {
    for (_, word) in uses(command, reading) {
        for place in places(&word, command, root) {
            match place {
                Where::Inside(_) | Where::Harmless => {}
                Where::Outside => {
                    let why = format!("reads outside the workspace: {}", quoted(&word.source));
                    return Err((Decision::Ask, why));
                }
                Where::Unknown => {
                    let why =
                        format!("reads what is only known when it runs: {}", quoted(&word.source));
                    return Err((Decision::Stage, why));
                }
            }
        }
    }
    Ok(())
}

/// Every path that a command names, and whether it is written.
fn uses<'a>(
    command: &'a Command,
    reading: &'a Reading,
) -> impl Iterator<Item = (Access, Cow<'a, Word>)> {
    let access = |how: How| match how {
        How::Read | How::Listed | How::Executed | How::Entered => Access::Read,
        How::Written | How::Deleted | How::Moved | How::Changed => Access::Write,
    };
    let named = reading.paths.iter().map(move |it| (access(it.how), Cow::Borrowed(&it.word)));
    let redirects = command.redirects.iter().filter_map(|it| match it.kind {
        RedirectKind::Read => Some((Access::Read, Cow::Borrowed(&it.target))),
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
            Some((Access::Write, Cow::Borrowed(&it.target)))
        }
        RedirectKind::Descriptor | RedirectKind::Text => None,
    });
    named.chain(redirects)
}

/// Where a word leads.
enum Where {
    /// To this path, relative to the workspace.
    Inside(String),
    /// To something that is the same for everybody.
    Harmless,
    /// Out of the workspace.
    Outside,
    /// Nobody knows.
    Unknown,
}

/// Where a path can lead: from where the script began, and from wherever it may have gone.
fn places(word: &Word, command: &Command, root: &Root) -> Vec<Where> {
    let mut all = vec![place(word, None, root)];
    let absolute = word.prefix().starts_with('/');
    if !absolute {
        all.extend(command.moved.iter().map(|moved| place(word, Some(moved), root)));
    }
    all
}

fn place(word: &Word, from: Option<&Word>, root: &Root) -> Where {
    let (known, whole) = known(word);
    match word.parts.first() {
        Some(Part::Unknown { why: Unknown::Home, .. }) => return Where::Outside,
        // A pipe that the shell makes itself.
        Some(Part::Unknown { why: Unknown::Process, .. }) if word.parts.len() == 1 => {
            return Where::Harmless;
        }
        _ => {}
    }
    let from = match from {
        None => String::new(),
        Some(from) => match from.text() {
            Some(text) if text.starts_with('-') => return Where::Unknown,
            Some(text) => format!("{text}/"),
            None if matches!(
                from.parts.first(),
                Some(Part::Unknown { why: Unknown::Home, .. })
            ) =>
            {
                return Where::Outside;
            }
            None => return Where::Unknown,
        },
    };
    if HARMLESS.contains(&&*known) && whole {
        return Where::Harmless;
    }
    let is_unknown = word
        .parts
        .iter()
        .any(|it| matches!(it, Part::Unknown { why, .. } if *why != Unknown::Here));
    match root.place(&format!("{from}{known}")) {
        Place::Inside(_) if is_unknown => Where::Unknown,
        Place::Inside(path) => Where::Inside(path.into_owned()),
        Place::Outside => Where::Outside,
        // The empty word names nothing.
        Place::Nowhere if known.is_empty() && whole => Where::Harmless,
        Place::Nowhere => Where::Unknown,
    }
}

/// The text of a word with its patterns as they stand, and whether that is all of it.
fn known(word: &Word) -> (String, bool) {
    let mut text = String::new();
    let mut whole = true;
    for part in &word.parts {
        match part {
            Part::Text(it) => text.push_str(it),
            Part::Glob(it) => {
                whole = false;
                text.push_str(it);
            }
            Part::Unknown { why: Unknown::Here, .. } => text.push('.'),
            Part::Unknown { .. } => {
                whole = false;
                text.push('?');
            }
        }
    }
    (text, whole)
}

fn writes(kind: RedirectKind) -> bool {
    matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite)
}

/// What led to a class.
fn why(reading: &Reading, class: Class) -> String {
    let reason = reading.why.iter().find(|it| it.class == class);
    reason.map_or_else(|| class.name().to_owned(), |it| it.what.clone())
}

/// A command, as it is named in a reason.
fn said(command: &Command) -> String {
    let words: Vec<&str> = command.words.iter().map(|it| it.source.as_str()).collect();
    let text = match words.is_empty() {
        true => match (command.assignments.first(), command.redirects.first()) {
            (Some(it), _) => format!("{}=…", it.name),
            (None, Some(it)) => format!("a redirection to {}", it.target.source),
            (None, None) => "an empty command".to_owned(),
        },
        false => words.join(" "),
    };
    quoted(&text)
}

fn quoted(text: &str) -> String {
    let text = text.escape_debug().to_string();
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("`{}…`", text.get(..at).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}
