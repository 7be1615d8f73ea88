//! Commands of the shell that change how the rest of the script is read, or that run text which
//! looks like data.

use crate::commands::variable_origin::assigned;
use crate::variables::{Influence, influence, is_plain_pager};
use crate::{Assignment, Command, Part, Word};

/// Builtins that take names of variables, and work out an index in them.
const INDEXERS: &[&str] = &[
    "test",
    "[",
    "[[",
    "printf",
    "read",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
];

/// Builtins whose operands are variables that they set.
const SETTERS: &[&str] = &[
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "mapfile",
    "readarray",
    "getopts",
];

/// A doubt, and whether a sandbox contains whatever it is about.
pub(super) type RaisedDoubt = (String, bool);

/// A doubt about what else may be run or loaded: in a sandbox that costs nothing.
fn contained(what: impl Into<String>) -> RaisedDoubt {
    (what.into(), true)
}

/// A doubt about how the rest of the text is read.
fn grave(what: &str) -> RaisedDoubt {
    (what.to_owned(), false)
}

/// Every doubt that this command raises by itself.
pub(super) fn doubts(command: &Command) -> Vec<RaisedDoubt> {
    let mut found = Vec::new();
    let mut words = command.words.iter();
    let name = words.next().and_then(Word::text);
    for assignment in &command.assignments {
        // `IFS= read` is how lines are read; it changes nothing else.
        let lines = assignment.name == "IFS" && name.as_deref() == Some("read");
        if !lines && !is_plain_pager(&assignment.name, assignment.value.text().as_deref()) {
            steers(&assignment.name, &mut found);
        }
        if works_out(assignment) {
            found.push(contained("an index or a number is worked out, and can run commands"));
        }
    }
    let Some(name) = name.as_deref() else { return found };
    let operands = words.as_slice();
    if SETTERS.contains(&name) {
        for operand in operands {
            steers(assigned(operand.prefix()).0, &mut found);
            counts(assigned(operand.prefix()).0, &mut found);
        }
    }
    if INDEXERS.contains(&name) && operands.iter().any(runs_index) {
        found.push(contained("an index in a name is worked out, and can run commands"));
    }
    match name {
        "let" => {
            found.push(contained("arithmetic over names can run commands that their values hold"))
        }
        "[[" | "test" | "[" => test(operands, name == "[[", &mut found),
        "printf" => {
            for target in after(operands, "-v") {
                match target.text() {
                    Some(text) => {
                        steers(assigned(&text).0, &mut found);
                        counts(assigned(&text).0, &mut found);
                    }
                    None => found.push(contained("the variable that it sets is not known")),
                }
            }
        }
        "alias" if !operands.is_empty() => {
            found.push(grave("an alias changes what later words mean"));
        }
        "shopt"
            if operands
                .iter()
                .any(|it| it.text().is_none_or(|it| it.starts_with('-') && it.contains('s'))) =>
        {
            found.push(grave("a shell option changes how the rest is read"));
        }
        _ => {}
    }
    found
}

/// True for a command that works out numbers or indexes in the names that it is given.
pub(super) fn works_out_names(command: &Command) -> bool {
    let name = command.words.first().and_then(Word::text).unwrap_or_default();
    let named = ["let", "[[", "test", "[", "declare", "typeset", "local"].contains(&&*name);
    named || INDEXERS.contains(&&*name) || command.assignments.iter().any(works_out)
}

/// `cd -P sub; cd ..`: by then the way back is that of what a link leads to.
pub(super) fn leaves_by_links(commands: &[Command]) -> bool {
    let mut physical = false;
    commands.iter().any(|it| {
        let texts: Vec<_> = it.words.iter().map(|it| it.text().unwrap_or_default()).collect();
        let name = texts.first().map(|it| &**it).unwrap_or_default();
        let flags = texts.iter().filter(|it| it.starts_with('-') && !it.starts_with("--"));
        let up = texts.iter().any(|it| it.split('/').any(|it| it == ".."));
        let leaves = physical && up;
        physical |=
            matches!(name, "cd" | "pushd" | "set") && flags.into_iter().any(|it| it.contains('P'));
        physical |= name == "set" && texts.iter().any(|it| it == "physical");
        leaves
    })
}

/// `a[b]=1`, `a=([b]=1)`, and a variable that holds a number: what `b` holds is arithmetic.
fn works_out(assignment: &Assignment) -> bool {
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let index = assignment.name.split_once('[').map(|(_, it)| it.trim_end_matches(']'));
    let list = assignment.value.source.starts_with('(');
    let indexed = ["]=", "]+="].iter().any(|it| assignment.value.source.contains(it));
    let base = assignment.name.split('[').next().unwrap_or_default();
    let number = influence(base) == Influence::Counts;
    index.is_some_and(|it| !digits(it))
        || (list && indexed)
        || (number && !assignment.value.text().is_some_and(|it| digits(&it)))
}

fn steers(name: &str, found: &mut Vec<RaisedDoubt>) {
    let name = name.split('[').next().unwrap_or(name);
    if influence(name) == Influence::Steers {
        // These change how the shell itself reads the rest of the text.
        let shell = ["IFS", "CDPATH", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_COMPAT"];
        let what = format!("`{name}` decides what later commands run or load");
        found.push((what, !shell.contains(&name)));
    }
}

/// What is put into a number is worked out.
fn counts(name: &str, found: &mut Vec<RaisedDoubt>) {
    let name = name.split('[').next().unwrap_or(name);
    if influence(name) == Influence::Counts {
        found.push(contained(format!("what is put into `{name}` is worked out")));
    }
}

fn runs_index(word: &Word) -> bool {
    // `declare -a 'x=($(…))'` works out the list.
    let listed = word.text().and_then(|it| it.split_once("=(").map(|(_, list)| list.to_owned()));
    if listed.is_some_and(|it| it.contains(['$', '`'])) {
        return true;
    }
    let mut open = false;
    for part in &word.parts {
        match part {
            Part::Text(text) | Part::Glob(text) => {
                let index = text.split_once('[').map(|(_, index)| index);
                let inside = if open { Some(text.as_str()) } else { index };
                if inside.is_some_and(|it| it.contains(['$', '`'])) {
                    return true;
                }
                open |= index.is_some();
            }
            Part::Unknown { .. } if open => return true,
            Part::Unknown { .. } => {}
        }
    }
    false
}

/// `-v` works out an index; between `[[` and `]]` the comparisons of numbers are arithmetic.
fn test(operands: &[Word], double: bool, found: &mut Vec<RaisedDoubt>) {
    for flag in ["-v", "-R"] {
        let plain = |it: &&Word| it.text().is_some_and(|it| !it.contains(['[', '$', '`']));
        if after(operands, flag).any(|it| !plain(&it)) {
            found.push(contained(format!("`{flag}` works out the name that it is given")));
        }
    }
    if !double {
        return;
    }
    let compares = |it: &Word| {
        let text = it.text().unwrap_or_default();
        matches!(&*text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
    };
    for (index, _) in operands.iter().enumerate().filter(|(_, it)| compares(it)) {
        let sides = [index.checked_sub(1), Some(index + 1)];
        let sides = sides.into_iter().flatten().filter_map(|it| operands.get(it));
        let number = |it: &Word| {
            it.text()
                .is_some_and(|it| it.trim_start_matches('-').bytes().all(|it| it.is_ascii_digit()))
        };
        if sides.into_iter().any(|it| !number(it)) {
            found.push(contained("comparing numbers works out names, and can run commands"));
        }
    }
}

/// The operands that follow `flag`.
fn after<'a>(operands: &'a [Word], flag: &'a str) -> impl Iterator<Item = &'a Word> {
    operands
        .windows(2)
        .filter(move |pair| pair.first().and_then(Word::text).is_some_and(|it| it == flag))
        .filter_map(|pair| pair.get(1))
}
