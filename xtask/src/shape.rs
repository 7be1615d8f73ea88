//! What every Rust file looks like: short, introduced by its first line, with a name of its own.

use crate::source::Source;

/// Files stay below this many lines.
pub const LINES: usize = 400;

/// Names of drawers, into which things are put that nobody found a name for.
const DRAWERS: [&str; 10] = [
    "common",
    "helper",
    "helpers",
    "misc",
    "miscellaneous",
    "shared",
    "stuff",
    "util",
    "utils",
    "utilities",
];

/// What is wrong with the shape of this file.
pub fn complaints(source: &Source) -> Vec<String> {
    let Source { path, text } = source;
    let mut wrong = Vec::new();
    let lines = text.lines().count();
    if lines >= LINES {
        wrong.push(format!("{path}: {lines} lines; split it, files stay under {LINES}"));
    }
    let first = text.lines().next().unwrap_or_default();
    let says = first.strip_prefix("//! ").unwrap_or_default();
    if says.split_whitespace().count() < 3 {
        wrong.push(format!("{path}: the first line must be `//! ` and say what the file is for"));
    }
    if text.lines().any(|it| it == "mod tests {") {
        wrong.push(format!("{path}: tests stand in a file of their own, `mod tests;`"));
    }
    for part in path.split('/') {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        if is_drawer(stem) {
            wrong.push(format!("{path}: `{stem}` is a drawer; name it after what is in it"));
        }
    }
    wrong
}

fn is_drawer(stem: &str) -> bool {
    let last = stem.rsplit(['_', '-']).next().unwrap_or_default();
    DRAWERS.contains(&last)
}
