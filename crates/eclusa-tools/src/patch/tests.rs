//! Patches as tools and models write them, good and bad.

use super::*;

mod any;
mod begins;
mod fits;
mod headers;
mod rejects;

/// The text after a patch for one file, and what had to be overlooked.
fn patched(old: &str, patch: &str) -> (String, Vec<String>) {
    let files = parse(patch).unwrap();
    let applied = files[0].apply(Some(old)).unwrap_or_else(|err| panic!("{err}"));
    (applied.text.unwrap(), applied.notes.iter().map(HunkNote::to_string).collect())
}

fn exactly(old: &str, patch: &str) -> String {
    let (text, notes) = patched(old, patch);
    assert!(notes.is_empty(), "{notes:?}");
    text
}

fn refused(patch: &str) -> String {
    parse(patch).unwrap_err().to_string()
}

fn rejected(old: &str, patch: &str) -> String {
    parse(patch).unwrap()[0].apply(Some(old)).unwrap_err().to_string()
}

/// `Update File` with these hunks.
fn update(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

/// A unified diff with these hunks.
fn unified(hunks: &str) -> String {
    format!("--- a/f\n+++ b/f\n{hunks}\n")
}

fn numbered(count: usize) -> String {
    (1..=count).map(|it| format!("line {it}\n")).collect()
}
