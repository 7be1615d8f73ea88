//! Changes as a unified diff with git's headers, which `git apply` and `patch` accept.
//!
//! What the form cannot say (directories, permission bits other than git's, contents that are not
//! text) is said in lines that begin with `# `, which those programs skip. Where that leaves a
//! content out, the diff says that the files differ, so that nobody applies half of it.

use std::fmt::Write;

use super::{
    Diff, FileNode, Node,
    content::bytes,
    diff::{DiffBody, Part},
    lines::{Compared, Hunk, Sign},
    names::quoted,
};

impl Diff<'_> {
    /// The changes as a patch: for programs and for models. A person gets [`Diff::shown`], where
    /// nothing can hide.
    pub fn unified(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part.old.or(part.new) {
                Some(Node::Directory { .. }) => directory(&mut out, part),
                Some(Node::File(_) | Node::Link { .. }) => file(&mut out, part),
                None => {}
            }
        }
        out
    }
}

fn directory(out: &mut String, part: &Part<'_>) {
    let (path, to) = (part.moved.unwrap_or(&part.change.path), &part.change.path);
    let _ = match (part.old.and_then(Node::mode), part.new.and_then(Node::mode)) {
        (None, Some(mode)) => writeln!(out, "# directory made: {} ({mode:04o})", quoted("", to)),
        (Some(_), None) => writeln!(out, "# directory deleted: {}", quoted("", path)),
        _ if part.moved.is_some() => {
            writeln!(out, "# directory moved: {} -> {}", quoted("", path), quoted("", to))
        }
        _ => writeln!(out, "# directory altered: {}", quoted("", to)),
    };
    if let Some((old, new)) = part.modes() {
        let _ = writeln!(out, "# mode {old:04o} -> {new:04o}");
    }
}

fn file(out: &mut String, part: &Part<'_>) {
    let to = &part.change.path;
    let from = part.moved.unwrap_or(to);
    note_modes(out, part);
    let _ = writeln!(out, "diff --git {} {}", quoted("a/", from), quoted("b/", to));
    match (part.old.map(git_mode), part.new.map(git_mode)) {
        (Some(old), Some(new)) if old != new => {
            let _ = writeln!(out, "old mode {old}\nnew mode {new}");
        }
        (Some(old), None) => {
            let _ = writeln!(out, "deleted file mode {old}");
        }
        (None, Some(new)) => {
            let _ = writeln!(out, "new file mode {new}");
        }
        _ => {}
    }
    if part.moved.is_some() {
        let _ = writeln!(out, "rename from {}\nrename to {}", quoted("", from), quoted("", to));
    }
    let name = |node: Option<&Node>, name: String| match node {
        Some(_) => name,
        None => "/dev/null".to_owned(),
    };
    let (a, b) = (name(part.old, quoted("a/", from)), name(part.new, quoted("b/", to)));
    match &part.body {
        DiffBody::Same => {}
        DiffBody::Text { old, new, compared } => text(out, (&a, old), (&b, new), compared),
        DiffBody::Opaque { .. } => {
            let _ = writeln!(out, "Binary files {a} and {b} differ");
            describe(out, part);
        }
        DiffBody::Unread(why) => {
            let _ = writeln!(out, "Files {a} and {b} differ");
            describe(out, part);
            let _ = writeln!(out, "# the lines are left out: {why}");
        }
    }
}

/// The mode that git has for it: it knows no others.
fn git_mode(node: &Node) -> &'static str {
    match node {
        Node::Link { .. } => "120000",
        Node::File(file) if file.mode & 0o100 != 0 => "100755",
        Node::File(_) | Node::Directory { .. } => "100644",
    }
}

/// Says what git's modes do not.
fn note_modes(out: &mut String, part: &Part<'_>) {
    let plain = |mode: u32| matches!(mode, 0o644 | 0o755);
    let path = quoted("", &part.change.path);
    let _ = match (part.modes(), part.new.and_then(Node::mode)) {
        (Some((old, new)), _) if !plain(old) || !plain(new) => {
            writeln!(out, "# mode {old:04o} -> {new:04o}: {path}")
        }
        (None, Some(mode)) if part.old.is_none() && !plain(mode) => {
            writeln!(out, "# mode {mode:04o}: {path}")
        }
        _ => Ok(()),
    };
}

/// Sizes and digests in place of a content.
fn describe(out: &mut String, part: &Part<'_>) {
    let (old, new) = match &part.body {
        DiffBody::Opaque { old, new } => (*old, *new),
        DiffBody::Same | DiffBody::Text { .. } | DiffBody::Unread(_) => (None, None),
    };
    let sides = [("before", part.old, old), ("after", part.new, new)];
    for (side, node, sort) in sides {
        let _ = match node {
            Some(Node::File(FileNode { digest, size, .. })) => {
                let sort = sort.map_or("", |it| it.as_str());
                let gap = if sort.is_empty() { "" } else { ", " };
                writeln!(out, "# {side}: {}{gap}{sort}, blake3 {digest}", bytes(*size))
            }
            Some(Node::Link { target }) => writeln!(out, "# {side}: {}", quoted("", target)),
            Some(Node::Directory { .. }) | None => Ok(()),
        };
    }
}

fn text(out: &mut String, old: (&str, &str), new: (&str, &str), compared: &Compared) {
    if compared.hunks.is_empty() {
        return;
    }
    // As git does: a name with spaces ends with a tab, so that nobody takes a part for a date.
    let end = |name: &str| if name.contains(' ') { "\t" } else { "" };
    let _ = writeln!(out, "--- {}{}\n+++ {}{}", old.0, end(old.0), new.0, end(new.0));
    for hunk in &compared.hunks {
        let _ = writeln!(out, "{}", hunk.range());
        hunk.each(old.1, new.1, |sign, line| {
            out.push(sign.as_char());
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
            true
        });
    }
}

impl Hunk {
    /// `@@ -1,3 +1,4 @@`
    pub(super) fn range(&self) -> String {
        // A side without lines is named by the line before it.
        let side = |(at, count): (usize, usize)| match count {
            0 => format!("{at},0"),
            1 => format!("{}", at + 1),
            _ => format!("{},{count}", at + 1),
        };
        format!("@@ -{} +{} @@", side(self.old), side(self.new))
    }

    /// Hands out the lines with their ends, as long as they are wanted.
    pub(super) fn each(&self, old: &str, new: &str, mut take: impl FnMut(Sign, &str) -> bool) {
        for run in &self.runs {
            let text = if run.sign == Sign::Added { new } else { old };
            let text = text.get(run.bytes.clone()).unwrap_or_default();
            if !text.split_inclusive('\n').all(|line| take(run.sign, line)) {
                return;
            }
        }
    }
}

impl Sign {
    pub(super) fn as_char(self) -> char {
        match self {
            Sign::Same => ' ',
            Sign::Removed => '-',
            Sign::Added => '+',
        }
    }
}
