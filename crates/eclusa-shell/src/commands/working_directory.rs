//! Where a script stands at each of its commands: `cd a && make && cd ..`, followed step by step.
//!
//! Only a plain list is followed: commands that are joined by `&&`, `;`, `|` and line ends, and nothing
//! around them. Behind `&&` a `cd` has gone where it was told; behind `;` and at a line's end it may
//! have failed, and the script stands where it stood. From the first thing that is not plain on,
//! nothing is known.

use crate::{Command, Word, WorkingDirectories};

/// Commands of the shell that can move it, run text in it, or change what `cd` means.
const STEERING: [&str; 31] = [
    ".",
    "alias",
    "builtin",
    "chdir",
    "command",
    "coproc",
    "declare",
    "dirs",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "function",
    "getopts",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "source",
    "time",
    "trap",
    "typeset",
    "unalias",
    "unset",
];

/// Those of them that run other text here, or move the shell in ways that are not followed.
const MOVING: [&str; 10] =
    ["builtin", "chdir", "command", "coproc", "eval", "exec", "function", "popd", "pushd", "trap"];

/// More places than this are not followed.
const MAX_PLACES: usize = 16;

/// What stands between two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Next,
    Pipe,
}

impl Joint {
    /// Reads what stands between two commands; nothing where there is more than a joint.
    fn read(between: &str) -> Option<Joint> {
        let between = between.replace("\\\n", "");
        match between.trim() {
            "&&" => Some(Joint::And),
            ";" => Some(Joint::Next),
            "" if between.contains('\n') => Some(Joint::Next),
            "|" | "|&" => Some(Joint::Pipe),
            _ => None,
        }
    }
}

/// A directory, and where `cd -` goes from there.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    path: String,
    before: Option<String>,
}

impl Place {
    /// Where `cd` goes from here; nothing where that is not known.
    fn moved(&self, to: &str) -> Option<Place> {
        let path = match to {
            "-" => self.before.clone()?,
            to if to.starts_with('/') => shortened(to),
            to => {
                shortened(&format!("{}/{to}", if self.path.is_empty() { "." } else { &self.path }))
            }
        };
        Some(Place { path, before: Some(self.path.clone()) })
    }
}

/// A path without detours: `a/..` leads back by its name, whatever `a` is, as `cd` has it.
fn shortened(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// All that is known between two commands.
struct Trail {
    /// Where it stands if everything before went well.
    reached: Place,
    /// All places where it may stand here.
    here: Vec<Place>,
    /// Where it may stand when the next line begins: something of this one may have failed.
    left: Vec<Place>,
}

/// Says of each command where the script stands, as far as that can be followed, and gives back where it
/// leaves its shell if everything in it goes well. That is a guess: what sourced files and options do to
/// `cd` is not thought of. `spans` are where the commands are in the text.
pub(super) fn follow(
    script: &str,
    commands: &mut [Command],
    spans: &[(usize, usize)],
) -> Option<String> {
    // What is set there decides where `cd` goes.
    if ["CDPATH", "PWD", "<<"].iter().any(|it| script.contains(it)) {
        return None;
    }
    let (mut sure, mut ends) = (true, false);
    let home = Place { path: String::new(), before: None };
    let mut trail = Trail { reached: home.clone(), here: vec![home], left: Vec::new() };
    let (mut end, mut first) = (0, true);
    for (command, &(start, stop)) in commands.iter_mut().zip(spans) {
        if !first && start < end {
            // A substitution in a word of the command before: it has a shell of its own.
            if command.via.is_empty() {
                return None;
            }
            continue;
        }
        let between = script.get(end..start).unwrap_or("?");
        let joint = match first {
            true if between.trim().is_empty() => Joint::Next,
            true => return None,
            false => Joint::read(between)?,
        };
        (end, first) = (stop, false);
        if !command.via.is_empty() || command.background {
            return None;
        }
        if joint == Joint::Next {
            let left = std::mem::take(&mut trail.left);
            add(&mut trail.here, left);
        }
        if sure {
            command.working_directories = Some(trail.directories());
        }
        let next = script.get(stop..).unwrap_or_default().trim_start();
        let piped = joint == Joint::Pipe || (next.starts_with('|') && !next.starts_with("||"));
        sure &= !steers(command);
        ends |= ["exit", "return"]
            .iter()
            .any(|it| command.words.first().and_then(Word::text).is_some_and(|name| name == **it));
        trail.goes_on(command, piped)?;
    }
    let rest = script.get(end..).unwrap_or_default().trim();
    (!ends && (rest.is_empty() || rest == ";")).then_some(trail.reached.path)
}

/// Whether what follows need not stand where it seems to.
fn steers(command: &Command) -> bool {
    let name = command.words.first().and_then(Word::text);
    name.is_none_or(|it| STEERING.contains(&&*it) || (&*it == "printf" && has_variable(command)))
}

impl Trail {
    fn directories(&self) -> WorkingDirectories {
        let others = self.here.iter().filter(|it| it.path != self.reached.path);
        let mut otherwise: Vec<String> = others.map(|it| it.path.clone()).collect();
        otherwise.sort_unstable();
        otherwise.dedup();
        WorkingDirectories { reached: self.reached.path.clone(), otherwise }
    }

    /// Follows one command; nothing where it cannot be followed.
    fn goes_on(&mut self, command: &Command, piped: bool) -> Option<()> {
        let name = command.words.first().map(Word::text);
        // A variable is set, or a program runs whose name nobody knows.
        let name = name.flatten().unwrap_or_default();
        if MOVING.contains(&&*name) {
            return None;
        }
        // It may fail, and what stands behind `&&` is then passed over.
        let here = self.here.clone();
        add(&mut self.left, here);
        if &*name != "cd" {
            return Some(());
        }
        let [_, to] = command.words.as_slice() else { return None };
        let to = to.text().filter(|it| is_plain(it))?;
        if piped || !command.assignments.is_empty() {
            return None;
        }
        let here: Option<Vec<Place>> = self.here.iter().map(|it| it.moved(&to)).collect();
        self.here = Vec::new();
        add(&mut self.here, here?);
        self.reached = self.reached.moved(&to)?;
        (self.here.len() + self.left.len() <= MAX_PLACES).then_some(())
    }
}

/// A directory that `cd` goes to by this very name.
fn is_plain(to: &str) -> bool {
    to == "-" || !(to.is_empty() || to.starts_with(['-', '~', '+']) || to.contains('\0'))
}

/// `printf -v NAME`
fn has_variable(command: &Command) -> bool {
    let first = command.words.get(1).map(Word::text);
    first.is_some_and(|it| it.is_none_or(|it| it.starts_with("-v")))
}

fn add(places: &mut Vec<Place>, more: Vec<Place>) {
    for place in more {
        if !places.contains(&place) {
            places.push(place);
        }
    }
}
