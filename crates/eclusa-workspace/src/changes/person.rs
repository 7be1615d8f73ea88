//! Changes as a person sees them before saying yes: nothing hidden, nothing that passes for
//! something else, and never more than can be read.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Write,
    path::{Path, PathBuf},
};

use super::{
    Diff, Node,
    content::bytes,
    diff::{DiffBody, Part},
    line_ends::LineEnds,
    lines::{Compared, Sign},
    names::readable,
    order::natural,
};
use eclusa_text::one_line;

impl Diff<'_> {
    /// The changes for a person. Each begins with a line that says what becomes of which path;
    /// lines of files stand behind a sign and a space, so that none can pass for such a line.
    pub fn shown(&self) -> String {
        self.shown_whole().0
    }

    /// The same, and whether it is all there is: no lines were left out for want of room, and
    /// there are no contents that cannot be shown as lines.
    pub fn shown_whole(&self) -> (String, bool) {
        let mut page = PageLines { out: String::new(), room: self.bounds.shown, whole: true };
        let mut parts: Vec<&Part<'_>> = self.parts.iter().collect();
        parts.sort_by(|a, b| natural(&a.change.path, &b.change.path));
        for part in parts {
            page.part(part);
        }
        let whole = page.whole && page.out.len() < self.bounds.shown;
        (page.out, whole)
    }
}

impl Diff<'_> {
    /// What is shown of each path that can be picked alone ([`Changes::choices`]), in that order.
    ///
    /// [`Changes::choices`]: super::Changes::choices
    pub fn shown_choices(&self) -> Vec<(PathBuf, String)> {
        let mut parts: HashMap<&Path, Vec<&Part<'_>>> = HashMap::with_capacity(self.parts.len());
        for part in &self.parts {
            parts.entry(part.change.path.as_path()).or_default().push(part);
        }
        let mut page = PageLines { out: String::new(), room: self.bounds.shown, whole: true };
        let mut shown = Vec::new();
        let mut choices = self.changes.choices();
        choices.sort_by(|a, b| natural(a, b));
        for path in choices {
            for part in parts.get(path).into_iter().flatten() {
                page.part(part);
            }
            shown.push((path.to_owned(), std::mem::take(&mut page.out)));
        }
        shown
    }
}

struct PageLines {
    out: String,
    /// How many bytes of lines may still be shown.
    room: usize,
    /// False once something was left out.
    whole: bool,
}

impl PageLines {
    fn part(&mut self, part: &Part<'_>) {
        let _ = writeln!(self.out, "{}", part.describe());
        match &part.body {
            DiffBody::Text { old, new, compared } if part.is_file() => {
                self.lines(compared, old, new)
            }
            DiffBody::Same | DiffBody::Text { .. } => {}
            DiffBody::Opaque { .. } | DiffBody::Unread(_) => self.whole = false,
        }
    }

    fn lines(&mut self, compared: &Compared, old: &str, new: &str) {
        let (mut added, mut removed) = (0, 0);
        let ends_told =
            LineEnds::describe_change(LineEnds::detect(old), LineEnds::detect(new)).is_some();
        for hunk in &compared.hunks {
            if self.room == 0 {
                break;
            }
            let _ = writeln!(self.out, "{}", hunk.range());
            hunk.each(old, new, |sign, line| {
                let fits = self.line(sign, line, ends_told);
                added += u64::from(fits && sign == Sign::Added);
                removed += u64::from(fits && sign == Sign::Removed);
                fits
            });
        }
        let (added, removed) = (compared.added - added, compared.removed - removed);
        if added + removed > 0 {
            self.whole = false;
            let lines = |count: u64, what: &str| match count {
                0 => None,
                1 => Some(format!("1 more {what} line")),
                count => Some(format!("{count} more {what} lines")),
            };
            let left_out = [lines(added, "added"), lines(removed, "removed")];
            let left_out: Vec<String> = left_out.into_iter().flatten().collect();
            let _ = writeln!(self.out, "# … {}", left_out.join(", "));
        }
    }

    /// Writes a line, unless there is no room for it. How it ends may have been told already.
    fn line(&mut self, sign: Sign, line: &str, end_told: bool) -> bool {
        let (text, whole) = match line.strip_suffix('\n') {
            Some(text) if end_told => (text.strip_suffix('\r').unwrap_or(text), true),
            Some(text) => (text, true),
            None => (line, false),
        };
        if text.len() >= self.room {
            self.room = 0;
            return false;
        }
        self.room -= text.len() + 1;
        let _ = writeln!(self.out, "{} {}", sign.as_char(), behind_a_sign(text));
        if !whole {
            self.out.push_str("\\ no newline at the end\n");
        }
        true
    }
}

/// How a tab is drawn: it moves nothing out of sight.
const TAB: &str = "→   ";

/// A line with everything visible. Spaces that it begins with are seen, because it stands behind
/// a sign. Tabs are drawn, unless the line has what they are drawn with.
fn behind_a_sign(line: &str) -> String {
    let drawn = match line.contains('\t') && !line.contains(TAB) {
        true => Cow::Owned(line.replace('\t', TAB)),
        false => Cow::Borrowed(line),
    };
    let line = drawn.as_ref();
    let shown = one_line(&format!("|{line}"));
    match shown.strip_prefix('|') {
        Some(shown) => shown.to_owned(),
        // The bar became a part of something that is repeated.
        None => one_line(line),
    }
}

impl Part<'_> {
    /// What becomes of which path, and what stands in place of lines that are not shown.
    pub(super) fn describe(&self) -> String {
        let mut text = heading(self);
        match &self.body {
            DiffBody::Same | DiffBody::Text { .. } => {}
            DiffBody::Opaque { old, new } => {
                for (side, node, sort) in [("before", self.old, old), ("after", self.new, new)] {
                    if let (Some(Node::File(file)), Some(sort)) = (node, sort) {
                        let size = bytes(file.size);
                        let _ = write!(text, "\n# {side}: {size}, {}", sort.as_str());
                    }
                }
            }
            DiffBody::Unread(why) => {
                let _ = write!(text, "\n# the lines are left out: {}", one_line(why));
            }
        }
        text
    }

    /// True when it is about a file and nothing else.
    pub(super) fn is_file(&self) -> bool {
        self.old.or(self.new).is_some_and(|it| it.file().is_some())
    }
}

/// `moved a -> b, mode 0644 -> 0755, +1 -1`
fn heading(part: &Part<'_>) -> String {
    let kind = match part.new.or(part.old) {
        Some(Node::File(_)) | None => "",
        Some(node) => node.kind(),
    };
    let gap = if kind.is_empty() { "" } else { " " };
    let what = match (part.moved, part.old, part.new) {
        (Some(_), _, _) => "moved",
        (None, None, _) => "made",
        (None, _, None) => "deleted",
        (None, Some(_), Some(_)) => "altered",
    };
    let mut text = format!("{kind}{gap}{what} ");
    if let Some(from) = part.moved {
        let _ = write!(text, "{} -> ", readable(from));
    }
    text.push_str(&readable(&part.change.path));
    if let Some(target) = part.new.or(part.old).and_then(Node::target) {
        let _ = write!(text, ", leads to {}", readable(target));
    }
    if let Some(old) = part.old.and_then(Node::target).filter(|_| part.new.is_some())
        && part.new.and_then(Node::target) != Some(old)
    {
        let _ = write!(text, ", led to {}", readable(old));
    }
    match (part.modes(), part.new.and_then(Node::mode)) {
        (Some((old, new)), _) => {
            let _ = write!(text, ", mode {old:04o} -> {new:04o}");
        }
        (None, Some(mode)) if part.old.is_none() => {
            let _ = write!(text, ", mode {mode:04o}");
        }
        _ => {}
    }
    if let (DiffBody::Text { compared, .. }, true) = (&part.body, part.is_file()) {
        let _ = write!(text, ", +{} -{}", compared.added, compared.removed);
    }
    if let (DiffBody::Text { old, new, .. }, true) = (&part.body, part.is_file())
        && let Some(ends) = LineEnds::describe_change(LineEnds::detect(old), LineEnds::detect(new))
    {
        let _ = write!(text, ", {ends}");
    }
    text
}
