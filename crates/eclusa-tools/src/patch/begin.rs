//! The `*** Begin Patch` form: files by name, hunks by their lines, and no numbers.

use super::{
    PatchError,
    file::{FilePatch, Kind},
    hunk::{Hunk, HunkLine, LineRole},
    unified::{anchor, body, numbers},
};
use crate::text::short;

/// The first line.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";

/// True for a line that begins what is said of a file.
pub(super) fn is_header(line: &str) -> bool {
    [ADD, UPDATE, DELETE].iter().any(|it| line.starts_with(it))
}

/// Reads all files of a patch.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, PatchError> {
    let all: Vec<&str> = patch.split('\n').collect();
    let missing = || PatchError::new(1, format!("the patch does not begin with `{BEGIN}`"));
    let begin = all.iter().position(|it| it.trim_end() == BEGIN).ok_or_else(missing)?;
    let windows = all.get(begin).is_some_and(|it| it.ends_with('\r'));
    let lines =
        all.into_iter().map(|it| if windows { it.strip_suffix('\r').unwrap_or(it) } else { it });
    let lines: Vec<&str> = lines.collect();
    let cut_off = || {
        PatchError::new(
            lines.len(),
            format!("`{END}` is missing, so the patch may have been cut off; send it again, whole"),
        )
    };
    let end = lines.iter().position(|it| it.trim_end() == END).ok_or_else(cut_off)?;
    let outside = lines.iter().enumerate().filter(|(at, _)| *at < begin || *at > end);
    if let Some((at, line)) = outside.into_iter().find(|(_, it)| !is_wrapping(it)) {
        let what = format!(
            "`{}` is outside of `{BEGIN}` and `{END}`; send one patch and nothing else",
            short(line)
        );
        return Err(PatchError::new(at + 1, what));
    }
    let mut reader = PatchReader { lines: lines.get(..end).unwrap_or_default(), at: begin + 1 };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim().is_empty() {
            reader.at += 1;
            continue;
        }
        files.push(reader.file(line)?);
    }
    if files.is_empty() {
        return Err(PatchError::new(
            begin + 1,
            format!(
                "the patch is empty; it needs `{UPDATE} path`, `{ADD} path` or `{DELETE} path`"
            ),
        ));
    }
    Ok(files)
}

/// What models put around a patch: fences of Markdown, and the call of a shell.
fn is_wrapping(line: &str) -> bool {
    let line = line.trim();
    let word = !line.is_empty() && line.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    let call = line.starts_with("apply_patch") || (line.starts_with("cat ") && line.contains("<<"));
    line.is_empty() || line.starts_with("```") || line.starts_with("~~~") || call || word
}

struct PatchReader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> PatchReader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn fault(&self, what: impl Into<String>) -> PatchError {
        PatchError::new(self.at + 1, what)
    }

    fn file(&mut self, header: &str) -> Result<FilePatch, PatchError> {
        let line = self.at + 1;
        let (path, kind) = if let Some(path) = header.strip_prefix(ADD) {
            (path, Kind::Add)
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            (path, Kind::Update)
        } else if let Some(path) = header.strip_prefix(DELETE) {
            (path, Kind::Delete)
        } else {
            let what = format!(
                "`{}` is not a header; write `{UPDATE} path`, `{ADD} path` or `{DELETE} path`",
                short(header)
            );
            return Err(self.fault(what));
        };
        let path = self.path(path)?;
        self.at += 1;
        let mut file = FilePatch {
            path,
            from: None,
            kind,
            new_mode: None,
            line,
            hunks: Vec::new(),
            unseen: false,
        };
        match kind {
            Kind::Add => file.hunks = vec![self.added(line)?],
            Kind::Delete => file.unseen = true,
            _ => self.update(&mut file)?,
        }
        Ok(file)
    }

    fn path(&self, text: &str) -> Result<String, PatchError> {
        match text.trim() {
            "" => Err(self.fault("the path is missing")),
            path => Ok(path.to_owned()),
        }
    }

    /// The lines of a new file.
    fn added(&mut self, line: usize) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk { header: ADD.to_owned(), line, ..Hunk::default() };
        let mut empty = 0;
        while let Some(text) = self.peek().filter(|it| !it.starts_with("*** ")) {
            if text.is_empty() {
                // Between lines it is one of them whose `+` was lost, at the end it is nothing.
                empty += 1;
            } else if let Some(rest) = text.strip_prefix('+') {
                hunk.lines.extend((0..empty).map(|_| HunkLine::new(LineRole::Add, "")));
                hunk.lines.push(HunkLine::new(LineRole::Add, rest));
                empty = 0;
            } else if let (true, Some(last)) = (text.starts_with('\\'), hunk.lines.last_mut()) {
                last.ended = false;
            } else {
                return Err(self.fault(format!(
                    "`{}` has no `+` in front; all lines of a new file have one",
                    short(text)
                )));
            }
            self.at += 1;
        }
        Ok(hunk)
    }

    fn update(&mut self, file: &mut FilePatch) -> Result<(), PatchError> {
        if let Some(to) = self.peek().and_then(|it| it.strip_prefix(MOVE)) {
            let to = self.path(to)?;
            file.from = Some(std::mem::replace(&mut file.path, to));
            file.kind = Kind::Move;
            self.at += 1;
        }
        while let Some(text) = self.peek().filter(|it| !is_header(it)) {
            if text.is_empty() && self.only_empty_lines_follow() {
                break;
            }
            file.hunks.push(self.hunk()?);
        }
        if file.hunks.is_empty() && file.kind == Kind::Update {
            let what = format!(
                "the patch has no hunk for `{}`; begin one with `@@` and give lines with ` `, `-` or `+` in front",
                file.path
            );
            return Err(PatchError::new(file.line, what));
        }
        Ok(())
    }

    fn only_empty_lines_follow(&self) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        rest.iter().find(|it| !it.is_empty()).is_none_or(|it| is_header(it))
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk { header: "@@".to_owned(), line: self.at + 1, ..Hunk::default() };
        while let Some(text) = self.peek().filter(|it| it.starts_with("@@")) {
            hunk.header = text.trim_end().to_owned();
            match numbers(text) {
                Some(numbers) => hunk.start = Some(numbers.start),
                None => hunk.anchors.extend(anchor(text)),
            }
            self.at += 1;
        }
        while let Some(text) = self.peek() {
            if text.starts_with("@@")
                || is_header(text)
                || (text.is_empty() && self.only_empty_lines_follow())
            {
                break;
            }
            if text.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                self.at += 1;
                break;
            }
            if let (true, Some(last)) = (text.starts_with('\\'), hunk.lines.last_mut()) {
                last.ended = false;
            } else if let Some(line) = body(text) {
                hunk.lines.push(line);
            } else {
                let what = format!(
                    "`{}` is neither a header nor part of a hunk; lines of a hunk begin with a space, `-` or `+`",
                    short(text)
                );
                return Err(self.fault(what));
            }
            self.at += 1;
        }
        if !hunk.changes() {
            return Err(PatchError::new(
                hunk.line,
                "the hunk changes nothing; lines that go begin with `-`, lines that come with `+`",
            ));
        }
        // Lines without any context belong at the end.
        let nowhere =
            hunk.anchors.is_empty() && hunk.start.is_none() && hunk.old().next().is_none();
        hunk.at_end |= nowhere;
        Ok(hunk)
    }
}
