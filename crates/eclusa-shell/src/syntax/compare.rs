//! Two witnesses, one account: the commands that both parsers saw, or all that either saw and a
//! doubt.

use crate::Doubt;
use crate::syntax::outline::{Outline, ParsedCommand, Span};

/// The commands of a script, in the order of the text.
pub(crate) struct Comparison<'o> {
    /// Each with the outline that its place is in.
    pub(crate) commands: Vec<(&'o ParsedCommand, &'o Outline)>,
    pub(crate) doubts: Vec<Doubt>,
}

/// Compares what `first` and `second` saw of `source`.
pub(crate) fn compare<'o>(source: &str, first: &'o Outline, second: &'o Outline) -> Comparison<'o> {
    let mut doubts = Vec::new();
    if let Some((why, at)) = first.trouble.as_ref().or(second.trouble.as_ref()) {
        let what = format!("not read with certainty: {why}");
        doubts.push(Doubt::new(what, line(source, *at)));
    }
    let differ = difference(first, second);
    if let Some(at) = differ {
        let what = "two parsers read this differently".to_owned();
        doubts.push(Doubt::new(what, line(source, at)));
    }
    let mut commands: Vec<_> = second.commands.iter().map(|it| (it, second)).collect();
    if differ.is_some() {
        let known: std::collections::HashSet<_> = second.commands.iter().map(key).collect();
        commands.extend(
            first.commands.iter().filter(|it| !known.contains(&key(it))).map(|it| (it, first)),
        );
        commands.sort_by_key(|(seen, _)| seen.start());
    }
    Comparison { commands, doubts }
}

fn key(seen: &ParsedCommand) -> (&[Span], &[Span], Vec<Span>) {
    (&seen.words, &seen.assignments, seen.redirects.iter().map(|it| it.target).collect())
}

/// The first place where the two differ.
fn difference(first: &Outline, second: &Outline) -> Option<usize> {
    let mut pairs = first.commands.iter().zip(&second.commands);
    if let Some((one, other)) = pairs.find(|(one, other)| !one.agrees(other)) {
        return Some(one.start().0.min(other.start().0));
    }
    let (shorter, longer) = if first.commands.len() < second.commands.len() {
        (first, second)
    } else {
        (second, first)
    };
    if let Some(extra) = longer.commands.get(shorter.commands.len()) {
        return Some(extra.start().0);
    }
    if first.substitutions != second.substitutions {
        let other: std::collections::HashSet<_> = second.substitutions.iter().collect();
        let one: std::collections::HashSet<_> = first.substitutions.iter().collect();
        let odd = one.symmetric_difference(&other).map(|it| it.start).min();
        return odd.or(Some(0));
    }
    let names = |it: &Outline| {
        let mut names: Vec<String> = it.functions.iter().map(|it| it.name.clone()).collect();
        names.sort_unstable();
        names
    };
    if first.functions.len() + second.functions.len() > 0 && names(first) != names(second) {
        return first.functions.iter().chain(&second.functions).map(|it| it.body.start).min();
    }
    None
}

/// The line that holds the byte at `at`, for people.
pub(crate) fn line(source: &str, at: usize) -> String {
    let at = (0..=at.min(source.len())).rev().find(|it| source.is_char_boundary(*it)).unwrap_or(0);
    let (before, after) = source.split_at_checked(at).unwrap_or((source, ""));
    let head = before.rsplit('\n').next().unwrap_or_default();
    let tail = after.split('\n').next().unwrap_or_default();
    let shown: String = head.chars().chain(tail.chars()).take(120).collect();
    shown.trim().to_owned()
}
