//! What holds for a command that no rule allows, and why.

use eclusa_shell::{
    Assignment, Command, Influence, Word, influence, is_plain_pager,
    programs::{Class, CommandProfile},
};

use super::{
    Script, display_command, fetches, globs,
    places::{Where, places, strays_by_failure, uses},
    services, system_files, variables, writes,
};
use crate::{
    Access, Decision, Reason, Source,
    policy::{Root, quote::quoted},
};

/// What becomes of a command that does more than read in the workspace, and why.
pub(super) type Refused = (Decision, String);

/// Files that everybody may write to, because nothing is kept there.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/2"];

impl Script {
    /// What holds for a command that no rule allows.
    ///
    /// What only fetches is tried without a network, and a person is asked about the hosts that it
    /// turns out to want. While there is text from outside in the session (`tainted`) they are
    /// asked before it runs.
    pub(super) fn default(
        &self,
        command: &Command,
        reading: &CommandProfile,
        root: &Root,
        tainted: bool,
    ) -> Reason {
        let tried = !tainted && self.only_fetches(command, reading);
        let judged = [
            match tried {
                true => Err((Decision::Stage, fetches::tried(&why(reading, Class::Network)))),
                false => only_reads(command, reading),
            },
            reaches(command, reading, &self.start, root),
            variables::told(command),
        ];
        // All are matched: what is staged for one reason is asked about for another.
        let (decision, text) = strictest(judged.into_iter().filter_map(Result::err))
            .unwrap_or_else(|| (Decision::Allow, self.reads(command, reading, root).to_owned()));
        let mut text = format!("{} {text}", display_command(command));
        if decision == Decision::Ask && reading.class.contains(Class::Network) {
            let hosts: Vec<String> =
                self.hosts_of(command, reading).map(|it| quoted(&it)).collect();
            if !hosts.is_empty() {
                text = format!("{text}; approving opens {} for this call", hosts.join(", "));
            }
        }
        let (source, origin) = (Source::Default, "commands".into());
        Reason { decision, source, origin, text: text.into() }
    }
}

impl Script {
    /// Where a command reads that does nothing else and may.
    fn reads(&self, command: &Command, reading: &CommandProfile, root: &Root) -> &'static str {
        let outside = |place: &Where| matches!(place, Where::Public | Where::Outside);
        let mut words = uses(command, reading).map(|(_, word)| word);
        match words.any(|it| places(&it, command, &self.start, root).iter().any(outside)) {
            true => "only reads what every program may read",
            false => "only reads in the workspace",
        }
    }
}

/// `Ok` when a command does nothing but read, wherever that is. Otherwise what becomes of it.
pub(super) fn only_reads(command: &Command, reading: &CommandProfile) -> Result<(), Refused> {
    let stage = |why: String| Err((Decision::Stage, why));
    if services::needs(reading) {
        let why = services::said_of(command);
        // What only looks loses nothing by trying, and says at once that it cannot.
        let decision =
            if services::is_read_only(command) { Decision::Stage } else { Decision::Ask };
        return Err((decision, why.to_owned()));
    }
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
    // `IFS= read` is how lines are read; it changes nothing else.
    let reads = command.words.first().and_then(Word::text).is_some_and(|it| it == "read");
    let others = |it: &&Assignment| {
        let lines = it.name == "IFS" && reads;
        !lines && !is_plain_pager(&it.name, it.value.text().as_deref())
    };
    for assignment in command.assignments.iter().filter(others) {
        let name = quoted(&assignment.name);
        match influence(&assignment.name) {
            // A number that is none is a doubt of the text.
            Influence::Looks | Influence::Counts => {}
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
        true => stage("runs in the background".to_owned()),
        false => Ok(()),
    }
}

/// The first of the strictest.
fn strictest(refused: impl Iterator<Item = Refused>) -> Option<Refused> {
    refused.reduce(|one, other| if other.0 > one.0 { other } else { one })
}

/// `Ok` when everything that a command reads is known and lies in the workspace.
fn reaches(
    command: &Command,
    reading: &CommandProfile,
    start: &str,
    root: &Root,
) -> Result<(), Refused> {
    let refused = uses(command, reading).flat_map(|(access, word)| {
        let said = quoted(&word.source);
        let verb = if access == Access::Write { "changes something" } else { "reads" };
        let secret = globs::may_be_secret(&word)
            .then(|| (Decision::Stage, format!("may read a file with secrets: {said}")));
        let places = places(&word, command, start, root);
        let free = access == Access::Read && system_files::is_free(&word, command, reading);
        // Where it goes wrong only if a `cd` before it failed, the sandbox lets nothing happen.
        let strays = strays_by_failure(&places, command);
        let asked = if strays { Decision::Stage } else { Decision::Ask };
        let found = places.into_iter().filter_map(move |place| match place {
            Where::Inside(_) | Where::Harmless => None,
            Where::Scratch => Some((Decision::Stage, format!("uses a temporary file: {said}"))),
            Where::Public if access == Access::Read => None,
            Where::Outside if free => None,
            Where::Public | Where::Outside => {
                Some((asked, format!("{verb} outside the workspace: {said}")))
            }
            Where::Unknown => Some((
                Decision::Stage,
                format!("reads a path that is only known when it runs: {said}"),
            )),
        });
        secret.into_iter().chain(found)
    });
    strictest(refused).map_or(Ok(()), Err)
}

/// What a command does that is of this class, and what led to that where it is not the command
/// itself: `uses the network`, ``changes files (`-i` of `sed`)``.
fn why(reading: &CommandProfile, class: Class) -> String {
    let does = match class {
        Class::Reveals => "shows more than files",
        Class::Writes => "changes files",
        Class::RunsCode => "runs other code",
        Class::Network => "uses the network",
        Class::Privilege => "needs root",
        Class::Destructive => "deletes or overwrites",
        Class::Sweeping => "works on everything beneath",
        Class::Unknown => "is not known",
    };
    let what = reading.why.iter().find(|it| it.class == class).map(|it| it.what.as_str());
    // The name of the command stands before this.
    let is_name =
        |it: &str| it.starts_with('`') && it.ends_with('`') && it.matches('`').count() == 2;
    match what.filter(|it| !is_name(it)) {
        Some(what) if class == Class::Unknown => what.to_owned(),
        Some(what) => format!("{does} ({what})"),
        None => does.to_owned(),
    }
}
