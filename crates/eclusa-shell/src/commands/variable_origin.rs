//! Which variables of a script have a value that came from the script itself.
//!
//! A variable that nobody set is the environment's, and may hold a secret. A loop variable holds
//! what the loop goes through; where those words are written in the script, each value is known.

use std::collections::{HashMap, HashSet};

use crate::Unknown;
use crate::syntax::outline::{Outline, ParsedCommand, Scope, Shape, Span};
use crate::variables::{Influence, influence};

/// Commands of the shell whose operands are names of variables that they set.
const SETTERS: &[&str] = &[
    "declare",
    "typeset",
    "export",
    "readonly",
    "local",
    "unset",
    "printf",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "wait",
    "eval",
    "source",
    ".",
    "coproc",
];

/// Variables that the shell keeps itself, and that tell nothing of the environment.
const SHELL_VARIABLES: &[&str] = &[
    "?",
    "#",
    "$",
    "!",
    "-",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "BASH_VERSION",
    "OSTYPE",
    "HOSTTYPE",
    "MACHTYPE",
];

/// Variables that the shell sets or reads itself.
const SPECIAL: &[&str] = &[
    "_",
    "COLUMNS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "HOME",
    "LINENO",
    "LINES",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

/// What is known about the variables of a script.
#[derive(Debug, Default)]
pub(crate) struct VariableOrigins {
    scopes: Vec<Scope>,
    /// Set by an assignment, or by something that cannot be followed.
    set: HashSet<String>,
    /// How often each is assigned to.
    assigned: HashMap<String, usize>,
    /// Set by something else than an assignment.
    otherwise: HashSet<String>,
    /// Set by `read`.
    read: HashSet<String>,
    /// `eval` and its like can set any variable.
    opaque: bool,
    moves: bool,
}

impl VariableOrigins {
    pub(crate) fn collect(source: &str, outlines: [&Outline; 2]) -> VariableOrigins {
        let mut names = VariableOrigins::default();
        for outline in outlines {
            for seen in &outline.commands {
                names.add(source, seen);
            }
        }
        let [_, second] = outlines;
        for span in second.commands.iter().flat_map(|it| &it.assignments) {
            let text = text(source, *span);
            let (name, _) = assigned(text);
            // What is put behind a value, or at an index, is not the whole value.
            if !text.get(name.len()..).is_some_and(|it| it.starts_with('=')) {
                names.otherwise.insert(name.to_owned());
            }
            *names.assigned.entry(name.to_owned()).or_default() += 1;
        }
        names.scopes = second.scopes.clone();
        for span in outlines.iter().flat_map(|it| it.parameters.iter().chain(&it.arithmetic)) {
            names.add_expansion(text(source, *span));
        }
        names
    }

    fn add(&mut self, source: &str, seen: &ParsedCommand) {
        for span in &seen.assignments {
            self.set.insert(assigned(text(source, *span)).0.to_owned());
        }
        let mut words = seen.words.iter().map(|it| text(source, *it));
        let Some(first) = words.next() else { return };
        if seen.shape == Shape::Loop {
            self.otherwise.insert(first.to_owned());
        }
        if seen.shape != Shape::Simple {
            return;
        }
        match first {
            "read" => self.read.extend(words.map(str::to_owned)),
            "cd" | "pushd" | "popd" => self.moves = true,
            // What a trap runs can come between any two commands.
            "eval" | "source" | "." | "trap" => self.opaque = true,
            // Behind these stands the command that is meant.
            "command" | "builtin" => {
                let plain = |it: &str| !it.contains(['\'', '"', '\\', '$', '`']);
                let sets = |it: &str| it == "read" || it == "trap" || SETTERS.contains(&it);
                self.opaque |= words.any(|it| !plain(it) || sets(it));
            }
            _ if SETTERS.contains(&first) => {
                let set = words.map(|it| assigned(it).0.to_owned());
                self.otherwise.extend(set.clone());
                self.set.extend(set);
            }
            // Quotes or escapes in a name: it could be any of the above.
            _ if !first
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || b"-_./+:[".contains(&it)) =>
            {
                self.opaque = true;
            }
            _ => {}
        }
    }

    /// `${name:=value}` and arithmetic set variables too.
    fn add_expansion(&mut self, text: &str) {
        let inside = text.trim_start_matches(['$', '{', '(', '[']);
        // A length sets nothing.
        let inside = inside.strip_prefix('#').unwrap_or(inside);
        let plain = inside.trim_end_matches('}');
        if !plain.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric()) {
            for name in inside.split(|it: char| it != '_' && !it.is_ascii_alphanumeric()) {
                self.otherwise.insert(name.to_owned());
                self.set.insert(name.to_owned());
            }
        }
    }

    /// The name of a variable that one assignment sets, and nothing else does.
    pub(crate) fn once(&self, name: &str) -> Option<&str> {
        let (name, count) = self.assigned.get_key_value(name)?;
        let special = SPECIAL.contains(&name.as_str()) || name.starts_with("BASH");
        let looped = self.scopes.iter().any(|it| it.name == *name);
        let other = self.otherwise.contains(name) || self.read.contains(name);
        let alone = *count == 1 && !self.opaque && !looped && !other && !special;
        (alone && influence(name) == Influence::Unlisted).then_some(name)
    }

    /// Why the value of `name` is not known at this place.
    pub(crate) fn why(&self, name: &str, at: usize) -> Unknown {
        let untouched = !self.opaque && !self.set.contains(name) && !self.read.contains(name);
        match name {
            "HOME" if untouched => Unknown::Home,
            "PWD" if untouched && !self.moves => Unknown::Here,
            _ if SHELL_VARIABLES.contains(&name) && untouched => Unknown::Local,
            _ if self.opaque || self.set.contains(name) => Unknown::Variable,
            _ if self.around(name, at).next().is_some() => Unknown::Local,
            _ => Unknown::Variable,
        }
    }

    /// The `for` loops around this place whose variable has only the values of the loop.
    pub(crate) fn loops(&self, at: usize) -> Vec<&Scope> {
        let around = Span { start: at, end: at };
        let inside = |it: &&Scope| it.values.is_some() && it.body.holds(around);
        let candidates: Vec<&Scope> = self.scopes.iter().filter(inside).collect();
        let alone = |it: &&Scope| {
            !self.opaque
                && !self.set.contains(&it.name)
                && !self.read.contains(&it.name)
                && candidates.iter().filter(|other| other.name == it.name).count() == 1
        };
        candidates.iter().copied().filter(alone).collect()
    }

    fn around<'a>(&'a self, name: &'a str, at: usize) -> impl Iterator<Item = &'a Scope> {
        let place = Span { start: at, end: at };
        self.scopes.iter().filter(move |it| it.name == name && it.body.holds(place))
    }

    /// Keeps the loops whose values come from the script, not from variables. The variable of
    /// another loop may hold anything, also where a loop that is kept uses the same name.
    pub(crate) fn keep_local(&mut self, source: &str) {
        let local = |scope: &Scope| {
            let values = scope.values.iter().flatten();
            values.into_iter().all(|it| !takes_variable(text(source, *it)))
        };
        let others = self.scopes.iter().filter(|it| !local(it)).map(|it| it.name.clone());
        self.set.extend(others.collect::<Vec<_>>());
        self.scopes.retain(local);
    }
}

/// True when `$name` or `${…}` stands in the text, even if it is quoted.
fn takes_variable(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        if !after.starts_with('(') {
            return true;
        }
        rest = after;
    }
    false
}

/// The name and the value of `NAME=value`, `NAME+=value`, `NAME[index]=value`; the whole text is
/// the name when there is no value.
pub(crate) fn assigned(text: &str) -> (&str, Option<usize>) {
    let name_end =
        text.find(|it: char| it != '_' && !it.is_ascii_alphanumeric()).unwrap_or(text.len());
    let name = text.get(..name_end).unwrap_or_default();
    let rest = text.get(name_end..).unwrap_or_default();
    let value = if let Some(inside) = rest.strip_prefix('[') {
        // The index ends at the first bracket that an assignment follows.
        let close =
            inside.find("]=").map(|it| it + 2).or_else(|| inside.find("]+=").map(|it| it + 3));
        close.map(|it| name_end + 1 + it)
    } else if rest.starts_with('=') {
        Some(name_end + 1)
    } else if rest.starts_with("+=") {
        Some(name_end + 2)
    } else {
        None
    };
    (name, value)
}

fn text(source: &str, span: Span) -> &str {
    source.get(span.start..span.end).unwrap_or_default()
}
