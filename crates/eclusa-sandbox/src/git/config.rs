//! What a git configuration file says, as git itself reads it.
//!
//! A file that has nothing but plain sections and plain values, as git writes them, is read here.
//! Whatever else is in one (quotes, escapes, lines that go on, comments that end with a backslash,
//! other bytes than ASCII), git is asked: two readers of one format differ sooner or later, and the
//! difference is a hole.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use super::ask;

/// Bytes of a configuration file. One that is longer cannot be judged.
const MAX_BYTES: u64 = 4 << 20;

/// A name: section and key without regard to case, subsection exactly. Subsections are bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) section: String,
    pub(super) subsection: Option<Vec<u8>>,
    pub(super) key: String,
}

impl Name {
    /// Reads `section.key` or `section.sub.section.key`.
    pub(super) fn parse(text: &[u8]) -> Option<Name> {
        let first = text.iter().position(|it| *it == b'.')?;
        let last = text.iter().rposition(|it| *it == b'.')?;
        let lower = |it: &[u8]| String::from_utf8_lossy(it).to_lowercase();
        Some(Name {
            section: lower(text.get(..first)?),
            subsection: (first < last)
                .then(|| text.get(first + 1..last))
                .flatten()
                .map(<[u8]>::to_vec),
            key: lower(text.get(last + 1..)?),
        })
    }

    /// The name as git takes it.
    pub(super) fn to_os_string(&self) -> OsString {
        let mut bytes = self.section.clone().into_bytes();
        for part in self.subsection.iter().map(Vec::as_slice).chain([self.key.as_bytes()]) {
            bytes.push(b'.');
            bytes.extend_from_slice(part);
        }
        OsString::from_vec(bytes)
    }
}

/// All names of a file with their values, in order; what it includes is not followed. `None`: nobody
/// can say what git would make of it.
pub(super) fn read(file: &Path) -> Option<Vec<(Name, Vec<u8>)>> {
    // A pipe or device in the place of a file would make us wait; git waits for it too.
    match std::fs::metadata(file) {
        Ok(it) if it.is_file() && it.len() > MAX_BYTES => return None,
        Ok(it) if it.is_file() => {}
        Ok(it) => return it.is_dir().then(Vec::new),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
        // What we may not read the command may not read either.
        Err(_) => return Some(Vec::new()),
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok();
    let read = opened.map(|it| it.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match read {
        None => return Some(Vec::new()),
        Some(Err(_)) => return None,
        Some(Ok(length)) if length as u64 > MAX_BYTES => return None,
        Some(Ok(_)) => {}
    }
    plain(&bytes).or_else(|| asked(file))
}

/// The names of a text in which nothing is special; `None` where anything is.
fn plain(bytes: &[u8]) -> Option<Vec<(Name, Vec<u8>)>> {
    let text = str::from_utf8(bytes).ok().filter(|it| it.is_ascii())?;
    if text.contains(['\r', '\0', '\\', '\x0b', '\x0c']) {
        return None;
    }
    let mut names = Vec::new();
    let mut section: Option<(String, Option<Vec<u8>>)> = None;
    for line in text.split('\n').map(|it| it.trim_matches([' ', '\t'])) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = Some(plain_header(header)?);
            continue;
        }
        let (section, subsection) = section.clone()?;
        let (key, value) = plain_pair(line)?;
        names.push((Name { section, subsection, key }, value));
    }
    Some(names)
}

/// `name]` or `name "sub"]`, and nothing behind it.
fn plain_header(header: &str) -> Option<(String, Option<Vec<u8>>)> {
    let header = header.strip_suffix(']')?;
    let is_name =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if is_name(header) {
        return Some((header.to_lowercase(), None));
    }
    let (name, rest) = header.split_once(' ')?;
    let sub = rest.strip_prefix('"')?.strip_suffix('"')?;
    let plain = is_name(name) && !sub.contains(['"', '[', ']', '#', ';']);
    plain.then(|| (name.to_lowercase(), Some(sub.as_bytes().to_vec())))
}

/// `key = value`, or a key alone, which means true.
fn plain_pair(line: &str) -> Option<(String, Vec<u8>)> {
    if line.contains(['"', '#', ';']) {
        return None;
    }
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let key = key.trim_end_matches([' ', '\t']);
    let mut letters = key.bytes();
    let first = letters.next().is_some_and(|it| it.is_ascii_alphabetic());
    let rest = letters.all(|it| it.is_ascii_alphanumeric() || it == b'-');
    let value = value.trim_matches([' ', '\t']).as_bytes().to_vec();
    (first && rest).then(|| (key.to_lowercase(), value))
}

/// What git says of a file. One that git cannot read stops every git that meets it.
fn asked(file: &Path) -> Option<Vec<(Name, Vec<u8>)>> {
    let mut command = ask::git()?;
    command.args(["config", "--no-includes", "--list", "-z", "--file"]).arg(file);
    let output = ask::output(command)?;
    Some(pairs(&output))
}

/// Reads what `git config --list -z` prints.
pub(super) fn pairs(output: &[u8]) -> Vec<(Name, Vec<u8>)> {
    let entries = output.split(|it| *it == 0).filter(|it| !it.is_empty());
    entries
        .filter_map(|entry| {
            let end = entry.iter().position(|it| *it == b'\n');
            let name = entry.get(..end.unwrap_or(entry.len()))?;
            let value = end.and_then(|it| entry.get(it + 1..)).unwrap_or_default();
            Some((Name::parse(name)?, value.to_vec()))
        })
        .collect()
}
