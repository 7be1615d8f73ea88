//! Unified diffs, with the headers that git adds, as tools and models write them.
//!
//! Models miscount. Where the numbers of a hunk do not fit its lines, the lines are believed, and
//! the note of the hunk says so. What is neither a header nor part of a hunk is refused, because
//! it may be a line that lost its first character.

use super::{
    PatchError,
    file::{FilePatch, Kind},
    hunk::{Hunk, HunkLine, LineRole},
    name::{self, FileNames},
};

const GIT: &str = "diff --git ";

/// True for lines that only a unified diff has.
pub(super) fn is_header(line: &str) -> bool {
    [GIT, "--- ", "+++ ", "@@ -"].iter().any(|it| line.starts_with(it))
}

/// Reads all files of a unified diff.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines: Vec<&str> = patch.split('\n').collect();
    let mut headers = lines.iter().filter(|it| is_header(it) && !it.starts_with("@@")).peekable();
    let windows = headers.peek().is_some() && headers.all(|it| it.ends_with('\r'));
    let unix = |it: &&'_ str| windows.then(|| it.strip_suffix('\r').map(str::len)).flatten();
    let lines = lines.iter().map(|it| unix(it).and_then(|end| it.get(..end)).unwrap_or(it));
    let mut reader = DiffReader { lines: lines.collect(), at: 0 };
    let mut files = Vec::new();
    // Before the first file and after a signature there may be any text, as in a mail.
    let mut letter = true;
    while let Some(line) = reader.peek() {
        if line.starts_with(GIT) || reader.at_names() {
            files.push(reader.file()?);
            letter = false;
            continue;
        }
        let number = reader.at + 1;
        if let Some(what) = unsupported(line, letter) {
            return Err(PatchError::new(number, what));
        }
        letter |= line.trim_end() == "--" || line.starts_with("From ");
        let between = ["```", "~~~", "diff ", "Index: ", "=====", "Only in "];
        let known = line.trim().is_empty() || between.iter().any(|it| line.starts_with(it));
        if !letter && !known {
            let what = format!(
                "`{}` is neither a header nor part of a hunk; lines of a hunk begin with a space, `-` or `+`",
                crate::text::short(line)
            );
            return Err(PatchError::new(number, what));
        }
        reader.at += 1;
    }
    if files.is_empty() {
        let what = "there is no patch here; write a unified diff (`--- a/path`, `+++ b/path`, `@@ -1,3 +1,3 @@` and the lines), or `*** Begin Patch`";
        return Err(PatchError::new(1, what));
    }
    Ok(files)
}

/// What cannot be read, and would otherwise be taken for text between files.
fn unsupported(line: &str, letter: bool) -> Option<&'static str> {
    if line.starts_with("diff --cc ")
        || line.starts_with("diff --combined ")
        || line.starts_with("@@@")
    {
        return Some(
            "a combined diff of a merge cannot be applied; make a diff against one parent",
        );
    }
    if line.starts_with("GIT binary patch")
        || (line.starts_with("Binary files ") && line.ends_with(" differ"))
    {
        return Some("the content of binary files cannot be patched; write the file as a whole");
    }
    let hunk = line.starts_with("@@ ") || line.trim_end() == "@@";
    (hunk && letter)
        .then_some("the hunk belongs to no file; put `--- a/path` and `+++ b/path` before it")
}

struct DiffReader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

/// What the headers of git say of a file.
#[derive(Default)]
struct Headers {
    git: Option<(String, bool)>,
    old_name: Option<String>,
    new_name: Option<String>,
    copied: bool,
    added: bool,
    deleted: bool,
    new_mode: Option<u32>,
}

impl<'a> DiffReader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// True at a `---` line with a `+++` line after it.
    fn at_names(&self) -> bool {
        let next = self.lines.get(self.at + 1);
        self.peek().is_some_and(|it| it.starts_with("--- "))
            && next.is_some_and(|it| it.starts_with("+++ "))
    }

    fn file(&mut self) -> Result<FilePatch, PatchError> {
        let line = self.at + 1;
        let headers = self.headers()?;
        let names = if self.at_names() { Some(self.names(&headers)?) } else { None };
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|it| it.starts_with("@@") && !it.starts_with("@@@")) {
            hunks.push(self.hunk()?);
        }
        build(headers, names, hunks, line).map_err(|what| PatchError::new(line, what))
    }

    /// The headers that only git writes.
    fn headers(&mut self) -> Result<Headers, PatchError> {
        let mut headers = Headers::default();
        let Some(rest) = self.peek().and_then(|it| it.strip_prefix(GIT)) else {
            return Ok(headers);
        };
        headers.git = name::in_git_line(rest.trim_end());
        self.at += 1;
        while let Some(line) = self.peek() {
            let fault = |what| PatchError::new(self.at + 1, what);
            if let Some(rest) = line.strip_prefix("new file mode ") {
                headers.added = true;
                headers.new_mode = Some(mode(rest).map_err(fault)?);
            } else if let Some(rest) = line.strip_prefix("deleted file mode ") {
                headers.deleted = true;
                mode(rest).map_err(fault)?;
            } else if let Some(rest) = line.strip_prefix("new mode ") {
                headers.new_mode = Some(mode(rest).map_err(fault)?);
            } else if let Some(rest) = line.strip_prefix("old mode ") {
                mode(rest).map_err(fault)?;
            } else if let Some(rest) = line.strip_prefix("rename from ") {
                headers.old_name = Some(name::whole(rest).map_err(fault)?);
            } else if let Some(rest) = line.strip_prefix("rename to ") {
                headers.new_name = Some(name::whole(rest).map_err(fault)?);
            } else if let Some(rest) = line.strip_prefix("copy from ") {
                headers.old_name = Some(name::whole(rest).map_err(fault)?);
                headers.copied = true;
            } else if let Some(rest) = line.strip_prefix("copy to ") {
                headers.new_name = Some(name::whole(rest).map_err(fault)?);
            } else if let Some(rest) = line.strip_prefix("index ") {
                let bits = rest.split(' ').nth(1).map_or(Ok(0), mode);
                bits.map_err(fault)?;
            } else if !["similarity index ", "dissimilarity index "]
                .iter()
                .any(|it| line.starts_with(it))
            {
                break;
            }
            self.at += 1;
        }
        Ok(headers)
    }

    fn names(&mut self, headers: &Headers) -> Result<FileNames, PatchError> {
        let mut read = |mark: &str| {
            let rest = self.peek().and_then(|it| it.strip_prefix(mark)).unwrap_or_default();
            self.at += 1;
            name::in_header(rest).map_err(|what| PatchError::new(self.at, what))
        };
        let (old, new) = (read("--- ")?, read("+++ ")?);
        let bare = headers.git.as_ref().is_some_and(|it| it.1);
        Ok(name::stripped(old, new, bare))
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let line = self.at + 1;
        let header = self.peek().unwrap_or_default().trim_end();
        self.at += 1;
        let numbers = numbers(header);
        let counted = numbers.and_then(|it| self.counted(it.old, it.new));
        let miscounted = counted.is_none() && numbers.is_some();
        let (lines, end) = counted.unwrap_or_else(|| self.uncounted());
        self.at = end;
        let anchors = if numbers.is_none() { anchor(header) } else { None };
        let hunk = Hunk {
            header: header.to_owned(),
            line,
            start: numbers.map(|it| it.start),
            anchors: anchors.into_iter().collect(),
            at_end: false,
            miscounted,
            lines,
        };
        match hunk.changes() {
            true => Ok(hunk),
            false => Err(PatchError::new(
                line,
                "the hunk changes nothing; lines that go begin with `-`, lines that come with `+`",
            )),
        }
    }

    /// As many lines as the header says, if they are there and no further ones follow.
    fn counted(&self, mut old: usize, mut new: usize) -> Option<(Vec<HunkLine>, usize)> {
        let (mut lines, mut at) = (Vec::new(), self.at);
        loop {
            let text = self.lines.get(at).copied();
            if text.is_some_and(|it| it.starts_with('\\')) {
                lines.last_mut().map(|it: &mut HunkLine| it.ended = false)?;
            } else if old == 0 && new == 0 {
                break;
            } else {
                let line = body(text?)?;
                old = old.checked_sub(usize::from(line.role != LineRole::Add))?;
                new = new.checked_sub(usize::from(line.role != LineRole::Remove))?;
                lines.push(line);
            }
            at += 1;
        }
        let rest = DiffReader {
            lines: self.lines.get(at..at + 2).or(self.lines.get(at..))?.to_vec(),
            at: 0,
        };
        let next = rest.peek().unwrap_or_default();
        let further =
            next.starts_with([' ', '+', '-']) && !rest.at_names() && next.trim_end() != "--";
        (!further).then_some((lines, at))
    }

    /// All lines up to the next that cannot belong to a hunk.
    fn uncounted(&self) -> (Vec<HunkLine>, usize) {
        let (mut lines, mut at) = (Vec::new(), self.at);
        // Empty lines may be context or only stand between hunks: that shows later.
        let mut solid = (0, at);
        while let Some(text) = self.lines.get(at) {
            let names = text.starts_with("--- ")
                && self.lines.get(at + 1).is_some_and(|it| it.starts_with("+++ "));
            let signature = text.trim_end() == "--" && at + 4 >= self.lines.len();
            if names || signature {
                break;
            }
            if text.starts_with('\\') {
                lines.last_mut().into_iter().for_each(|it: &mut HunkLine| it.ended = false);
            } else if let Some(line) = body(text) {
                lines.push(line);
            } else {
                break;
            }
            at += 1;
            if !text.is_empty() {
                solid = (lines.len(), at);
            }
        }
        lines.truncate(solid.0);
        (lines, solid.1)
    }
}

/// A line of a hunk. An empty one is an empty line of context whose space was lost.
pub(super) fn body(text: &str) -> Option<HunkLine> {
    let mut rest = text.chars();
    let role = match rest.next() {
        None => return Some(HunkLine::new(LineRole::Context, "")),
        Some(' ') => LineRole::Context,
        Some('-') => LineRole::Remove,
        Some('+') => LineRole::Add,
        Some('\r') if rest.as_str().is_empty() => {
            return Some(HunkLine::new(LineRole::Context, "\r"));
        }
        Some(_) => return None,
    };
    Some(HunkLine::new(role, rest.as_str()))
}

/// The numbers of a header of a hunk.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) start: usize,
    pub(super) old: usize,
    pub(super) new: usize,
}

pub(super) fn numbers(header: &str) -> Option<Numbers> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |it: &str| {
        let (start, count) = it.split_once(',').unwrap_or((it, "1"));
        Some((start.parse::<u32>().ok()? as usize, count.parse::<u32>().ok()? as usize))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some(Numbers { start, old, new })
}

/// What a header of a hunk has instead of numbers: a line that comes before it.
pub(super) fn anchor(header: &str) -> Option<String> {
    let text = header.trim_start_matches('@').trim();
    let text = text.strip_suffix("@@").unwrap_or(text).trim();
    (!text.is_empty() && !text.trim_matches(['.', '…', '-', '+', ' ']).is_empty())
        .then(|| text.to_owned())
}

fn mode(text: &str) -> Result<u32, String> {
    let bits = u32::from_str_radix(text.trim(), 8);
    let bits = bits
        .map_err(|_| format!("`{}` is not a file mode; write one such as `100644`", text.trim()))?;
    match bits & 0o170_000 {
        0o120_000 => Err("symbolic links cannot be patched".to_owned()),
        0o160_000 => Err("submodules cannot be patched".to_owned()),
        _ => Ok(bits & 0o7777),
    }
}

/// What headers, names and hunks mean together.
fn build(
    headers: Headers,
    names: Option<FileNames>,
    hunks: Vec<Hunk>,
    line: usize,
) -> Result<FilePatch, String> {
    let git = headers.git.map(|it| it.0);
    let names = names.unwrap_or_else(|| FileNames { old: git.clone(), new: git.clone() });
    let made = |path: Option<String>, from, kind| {
        let path = path
            .or(git.clone())
            .ok_or("the name of the file is missing; write `--- a/path` and `+++ b/path`")?;
        let new_mode = headers.new_mode;
        Ok::<_, String>(FilePatch {
            path,
            from,
            kind,
            new_mode,
            line,
            hunks: hunks.clone(),
            unseen: false,
        })
    };
    let file = match (headers.old_name, headers.new_name) {
        (Some(old), Some(new)) => {
            let kind = if headers.copied { Kind::Copy } else { Kind::Move };
            made(Some(new), Some(old), kind)?
        }
        (Some(_), None) | (None, Some(_)) => {
            return Err("a rename or copy needs both its lines, `from` and `to`".to_owned());
        }
        _ if headers.added => made(names.new, None, Kind::Add)?,
        _ if headers.deleted => made(names.old, None, Kind::Delete)?,
        _ => match (names.old, names.new) {
            (None, None) => made(None, None, Kind::Update)?,
            (None, new) => made(new, None, Kind::Add)?,
            (old, None) => made(old, None, Kind::Delete)?,
            (Some(old), Some(new)) if old == new => made(Some(new), None, Kind::Update)?,
            (Some(old), Some(new)) if is_backup(&old, &new) => made(Some(new), None, Kind::Update)?,
            (Some(old), Some(new)) => {
                return Err(format!(
                    "the patch names two files, `{old}` and `{new}`; to move the file, add the lines `diff --git`, `rename from` and `rename to`"
                ));
            }
        },
    };
    let only_adds = hunks.iter().flat_map(|it| &it.lines).all(|it| it.role == LineRole::Add);
    match file.kind {
        Kind::Add if !only_adds => {
            Err("a new file has no lines to keep or to remove; begin all of its lines with `+`"
                .to_owned())
        }
        Kind::Update if hunks.is_empty() && file.new_mode.is_none() => {
            Err(format!("the patch has no hunk for `{}`; hunks begin with `@@`", file.path))
        }
        _ => Ok(file),
    }
}

/// True for the name under which the old file is kept while somebody works on the new one.
fn is_backup(old: &str, new: &str) -> bool {
    old.strip_prefix(new).is_some_and(|it| [".orig", ".old", ".bak", "~"].contains(&it))
}
