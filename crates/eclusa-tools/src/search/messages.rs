//! What the tools say of what they left out, and of how to go on.

use std::{path::Path, sync::atomic::Ordering::Relaxed};

use eclusa::{
    Facts, PermissionClass, ToolError, one_line, policy::HiddenPaths, workspace::FileError,
};
use serde_json::{Map, Value};

use super::{page::FURTHEST, walk::LeftOut};

/// A path of the workspace as it is shown.
pub(super) fn path(path: &Path) -> String {
    match path.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => one_line(&path.to_string_lossy()),
    }
}

/// A file that cannot be reached, as a tool says it.
pub(super) fn unreachable(error: FileError) -> ToolError {
    ToolError::new(error.to_string())
}

/// A name that leads to what rules keep back: the call was permitted under another name.
pub(crate) fn permitted(
    hidden: &HiddenPaths,
    asked: &str,
    reached: &Path,
) -> Result<(), ToolError> {
    match hidden.hides(reached) {
        true => Err(ToolError::new(format!(
            "`{}` leads to `{}`, which rules keep back; ask for it by that name",
            one_line(asked),
            path(reached)
        ))),
        false => Ok(()),
    }
}

/// The offset and limit that were asked for, if they can be had.
pub(super) fn window(
    offset: Option<usize>,
    limit: Option<usize>,
    usual: usize,
    most: usize,
) -> Result<(usize, usize), ToolError> {
    let (offset, limit) = (offset.unwrap_or(0), limit.unwrap_or(usual).clamp(1, most));
    match offset.saturating_add(limit) > FURTHEST.min(most * 100) {
        true => Err(ToolError::new(format!(
            "`offset` {offset} is too far; narrow `path` or the pattern instead"
        ))),
        false => Ok((offset, limit)),
    }
}

/// How many of a thing there are, in words: `1 file`, `2 files`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What was left out and why, for the reader and for programs.
#[derive(Debug, Default)]
pub(super) struct Notes {
    words: Vec<String>,
    data: Map<String, Value>,
}

impl Notes {
    pub(super) fn new(left_out: &LeftOut) -> Notes {
        let mut notes = Notes::default();
        notes.add("blocked", left_out.blocked.load(Relaxed), "blocked");
        notes.add("kept_back", left_out.kept_back.load(Relaxed), "kept back by rules");
        let hint = "hidden by .gitignore (`ignored: true` shows them)";
        notes.add("hidden", left_out.ignored.load(Relaxed), hint);
        notes.add("unreadable", left_out.unreadable.load(Relaxed), "unreadable");
        notes
    }

    /// Adds a count, unless it is nought.
    pub(super) fn add(&mut self, key: &str, count: usize, word: &str) {
        if count > 0 {
            self.words.push(format!("{count} {word}"));
            self.data.insert(key.to_owned(), count.into());
        }
    }

    /// The words in parentheses, or nothing.
    pub(super) fn in_words(&self) -> String {
        match self.words.is_empty() {
            true => String::new(),
            false => format!(" (left out: {})", self.words.join(", ")),
        }
    }

    pub(super) fn data(self) -> Value {
        Value::Object(self.data)
    }
}

/// The facts that hold for every tool that looks.
pub(super) fn facts(aliases: &[&str], hint: &str) -> Facts {
    Facts {
        concurrent: true,
        read_only: true,
        aliases: aliases.iter().map(|it| (*it).to_owned()).collect(),
        search_hint: hint.to_owned(),
        class: Some(PermissionClass::ReadOnly),
        audit_operation: "read".to_owned(),
        ..Facts::default()
    }
}

/// The directory that is asked for; none, or an empty one, is the workspace.
pub(super) fn asked(path: Option<&str>) -> &str {
    path.filter(|it| !it.is_empty()).unwrap_or(".")
}

/// The sentence after a page of names: how many there are, and how to get the next page.
pub(super) fn page(shown: usize, offset: usize, total: usize, things: &str) -> String {
    let next = offset + shown;
    match (shown, next < total) {
        (0, _) => format!("no more: there are {total} {things}, and `offset` is {offset}"),
        (_, true) => {
            format!("{things} {} to {next} of {total}; for more: `offset: {next}`", offset + 1)
        }
        (_, false) if offset > 0 => {
            format!("{things} {} to {next} of {total}; these are the last", offset + 1)
        }
        _ => format!("{total} {things}"),
    }
}
