//! What programs do: a table of programs, as data, and the reading of a command by it.
//!
//! The table is in `table/*.toml`, one file per family, and is turned into statics when the crate
//! is built. It is a list of what is accepted: a program, a flag or a word that it does not know
//! makes the reading unknown, never harmless. Where flags and operands do not say it all (the
//! expression of `find`, a program for `sed`), an entry names a reader, which is code.
//!
//! Adding a program is adding an entry and two examples; a test runs the examples of every entry.

mod argv;
mod awk;
mod class;
mod entry;
mod find;
mod flag_name;
mod git;
mod listing;
mod operands;
mod pipe_data;
mod processes;
mod profile;
mod readers;
mod sed;
mod shapes;
mod table;
mod test;

use std::borrow::Cow;

use crate::{NestedCommands, Word};
use profile::{is_in_pieces, joined};

pub use class::{Class, Classes};
pub(crate) use listing::{Listing, lists};
pub(crate) use operands::as_far_as_known;
pub(crate) use pipe_data::{
    all_processes, counts, input_word, known_text, passed_through, picks_lines, printed,
    run_with_input, searched_places,
};
pub(crate) use processes::ends_all_that_fit;
pub use profile::{CommandProfile, How, PathUse, Reason};
pub use shapes::{FlagShape, ProgramShape, Takes, examples, shapes};
#[cfg(test)]
pub(crate) use table::{EXAMPLES, PROGRAMS};

/// Commands inside commands are followed this far; deeper ones are unknown.
pub const DEPTH: usize = 12;

/// Directories whose programs are what their names say.
const SYSTEM: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
];

/// Reads one command: name and arguments. What it runs in turn is listed in `runs` and `scripts`,
/// and not part of the class: see [`read_through`].
pub fn read(argv: &[Word]) -> CommandProfile {
    if argv.iter().any(is_in_pieces) {
        let argv: Vec<Word> = argv.iter().map(joined).collect();
        return read_joined(&argv);
    }
    read_joined(argv)
}

fn read_joined(argv: &[Word]) -> CommandProfile {
    let mut profile = CommandProfile::default();
    let Some((first, words)) = argv.split_first() else { return profile };
    let Some(name) = first.text() else {
        profile.doubt(format!("which program `{}` names is only known when it runs", first.source));
        return profile;
    };
    let place = locate(&name);
    profile.program = place.base.to_string();
    if !place.trusted {
        profile.path(first.clone(), How::Executed);
        profile.add(Class::RunsCode, format!("`{name}` is not a program of the system"));
    }
    if let Some(entry) = table::program(&place.base) {
        profile.entry = Some(entry.name);
        argv::read(entry, words, &mut profile);
        return profile;
    }
    if place.trusted {
        profile.doubt(format!("`{}` is not in the table of programs", place.base));
    }
    // A file system that ignores case finds the program all the same.
    let lower = place.base.to_lowercase();
    if let Some(entry) = table::program(&lower) {
        profile.entry = Some(entry.name);
        argv::read(entry, words, &mut profile);
    }
    profile
}

/// Reads a command and every command that it runs with words of its own: `sudo`, `env`, `xargs`,
/// `find -exec`. The first is the command itself. Scripts (`bash -c`) are not followed, since they
/// need a parser.
pub fn read_through(argv: &[Word]) -> Vec<(Vec<Word>, CommandProfile)> {
    let mut all = Vec::new();
    follow(argv, 0, &mut all);
    all
}

fn follow(argv: &[Word], depth: usize, all: &mut Vec<(Vec<Word>, CommandProfile)>) {
    let mut profile = read(argv);
    let runs = profile.runs.clone();
    let deep = depth >= DEPTH && !runs.is_empty();
    if deep {
        profile.doubt(format!("commands inside commands, more than {DEPTH} deep"));
    }
    all.push((argv.to_vec(), profile));
    if !deep {
        runs.iter().for_each(|inner| follow(inner, depth + 1, all));
    }
}

/// The class of a command and of all that it runs with words of its own.
#[cfg(test)]
pub(crate) fn class_through(argv: &[Word]) -> Classes {
    let all = read_through(argv);
    all.iter().fold(Classes::READ_ONLY, |sum, (_, profile)| sum | profile.class)
}

/// What a command runs in turn, for [`crate::analyse_with`].
pub fn inner(argv: &[Word]) -> NestedCommands {
    let CommandProfile { runs, scripts, reads_script, .. } = read(argv);
    NestedCommands { runs, scripts, reads_script }
}

/// What the name of a program says.
struct ProgramPath<'a> {
    /// Without its directory.
    base: Cow<'a, str>,
    /// True when the program of that name in the system is meant.
    trusted: bool,
}

fn locate(name: &str) -> ProgramPath<'_> {
    if !name.contains('/') {
        return ProgramPath { base: Cow::Borrowed(name), trusted: true };
    }
    let absolute = name.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let base = parts.pop().unwrap_or_default().to_owned();
    let directory = format!("/{}", parts.join("/"));
    let trusted = absolute && SYSTEM.contains(&directory.as_str());
    ProgramPath { base: Cow::Owned(base), trusted }
}
