//! What a git configuration says, as far as it is plain.
//!
//! A text that has nothing but plain sections and plain values, as git writes them, is read here.
//! Whatever else is in one (quotes, escapes, lines that go on, comments that end with a backslash,
//! other bytes than ASCII) is not: two readers of one format differ sooner or later, and the
//! difference is a hole. Whoever needs it then asks git, which prints a list.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// A name: section and key without regard to case, subsection exactly. Subsections are bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigName {
    /// The section, in lower case.
    pub section: String,
    /// The subsection, as written.
    pub subsection: Option<Vec<u8>>,
    /// The key, in lower case.
    pub key: String,
}

impl ConfigName {
    /// Reads `section.key` or `section.sub.section.key`.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<ConfigName> {
        let first = text.iter().position(|it| *it == b'.')?;
        let last = text.iter().rposition(|it| *it == b'.')?;
        let lower = |it: &[u8]| String::from_utf8_lossy(it).to_lowercase();
        Some(ConfigName {
            section: lower(text.get(..first)?),
            subsection: (first < last)
                .then(|| text.get(first + 1..last))
                .flatten()
                .map(<[u8]>::to_vec),
            key: lower(text.get(last + 1..)?),
        })
    }

    /// The name as git takes it.
    #[must_use]
    pub fn to_os_string(&self) -> OsString {
        let mut bytes = self.section.clone().into_bytes();
        for part in self.subsection.iter().map(Vec::as_slice).chain([self.key.as_bytes()]) {
            bytes.push(b'.');
            bytes.extend_from_slice(part);
        }
        OsString::from_vec(bytes)
    }
}

/// The names of a text in which nothing is special; `None` where anything is.
#[must_use]
pub fn read_plain_config(bytes: &[u8]) -> Option<Vec<(ConfigName, Vec<u8>)>> {
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
        names.push((ConfigName { section, subsection, key }, value));
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

/// Reads what `git config --list -z` prints.
#[must_use]
pub fn read_config_list(output: &[u8]) -> Vec<(ConfigName, Vec<u8>)> {
    let entries = output.split(|it| *it == 0).filter(|it| !it.is_empty());
    entries
        .filter_map(|entry| {
            let end = entry.iter().position(|it| *it == b'\n');
            let name = entry.get(..end.unwrap_or(entry.len()))?;
            let value = end.and_then(|it| entry.get(it + 1..)).unwrap_or_default();
            Some((ConfigName::parse(name)?, value.to_vec()))
        })
        .collect()
}
