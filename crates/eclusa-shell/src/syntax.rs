//! The first stage: from text to what two parsers that know nothing of each other saw in it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Doubt;
use crate::limits::MAX_BROKEN_BYTES;

pub(crate) mod characters;
mod compare;
mod hidden_forms;
pub(crate) mod outline;
mod shuck_parser;
mod split;
pub(crate) mod tree_sitter;

pub(crate) use compare::{Comparison, line};
use outline::Outline;
pub(crate) use split::split;

/// A text as both parsers saw it.
pub(crate) struct Syntax {
    pub(crate) first: Outline,
    pub(crate) second: Outline,
}

/// Reads a text with both parsers. The error says why it was not read whole.
///
/// A long text with a mistake in it is refused before the parser that takes very long over mistakes
/// sees it.
pub(crate) fn read(script: &str) -> Result<Syntax, Doubt> {
    if script.len() <= MAX_BROKEN_BYTES {
        let first = parse(tree_sitter::outline, script)?;
        let second = parse(shuck_parser::outline, script)?;
        return Ok(Syntax { first, second });
    }
    let second = parse(shuck_parser::outline, script)?;
    if let Some((why, at)) = second.trouble {
        let what = format!("a long text with a mistake in it: {why}");
        return Err(Doubt::new(what, line(script, at)));
    }
    Ok(Syntax { first: parse(tree_sitter::outline, script)?, second })
}

/// What a parser saw; an error when it panicked or gave up.
fn parse(parser: fn(&str) -> Outline, script: &str) -> Result<Outline, Doubt> {
    let outline = catch_unwind(AssertUnwindSafe(|| parser(script)))
        .unwrap_or_else(|_| Outline::unread("reading the text failed; this is a bug in Eclusa"));
    match outline.unread {
        Some((what, at)) => Err(Doubt::new(what, line(script, at))),
        None => Ok(outline),
    }
}

impl Syntax {
    pub(crate) fn outlines(&self) -> [&Outline; 2] {
        [&self.first, &self.second]
    }

    /// The commands that are in the text, and every reason to doubt that these are all: differences
    /// between the parsers, and forms that can run commands unseen.
    pub(crate) fn compare(&self, script: &str) -> Comparison<'_> {
        let mut comparison = compare::compare(script, &self.first, &self.second);
        let doubts = &mut comparison.doubts;
        for (what, at) in hidden_forms::find(script, self.outlines()) {
            doubts.push(Doubt::new(what, line(script, at)));
        }
        for (what, at) in hidden_forms::worked_out(script, self.outlines()) {
            doubts.push(Doubt { contained: true, ..Doubt::new(what, line(script, at)) });
        }
        comparison
    }

    /// True when something is worked out that can run commands which values hold: `$((name))`,
    /// `${name@P}`.
    pub(crate) fn works_out(&self, script: &str) -> bool {
        !hidden_forms::worked_out(script, self.outlines()).is_empty()
    }

    /// Text in groups that may be run although no parser lists it.
    pub(crate) fn groups(&self, script: &str) -> Vec<String> {
        hidden_forms::groups(script, self.outlines())
    }

    /// The name of a function that starts itself again and again.
    pub(crate) fn fork_bomb(&self, script: &str) -> Option<String> {
        self.second.bomb(script).or_else(|| self.first.bomb(script))
    }
}
