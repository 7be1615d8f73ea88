//! What is mounted where, as the kernel lists it.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The mounts that this process sees.
#[derive(Debug, Default)]
pub(super) struct MountTable(Vec<(PathBuf, String)>);

impl MountTable {
    pub(super) fn read() -> io::Result<MountTable> {
        Ok(MountTable::parse(&std::fs::read("/proc/self/mountinfo")?))
    }

    /// Reads the kernel's table. Lines that cannot be read are mounts of no kind at the root of everything, so that
    /// nothing is built on them.
    pub(super) fn parse(table: &[u8]) -> MountTable {
        let lines = table.split(|it| *it == b'\n').filter(|it| !it.is_empty());
        MountTable(
            lines.map(|it| mount(it).unwrap_or_else(|| ("/".into(), String::new()))).collect(),
        )
    }

    /// The kind of filesystem that a path lies on. Of several mounts at one place the last is on top.
    pub(super) fn kind(&self, path: &Path) -> &str {
        let above = self.0.iter().filter(|(at, _)| path.starts_with(at));
        above.max_by_key(|(at, _)| at.components().count()).map_or("", |(_, kind)| kind)
    }

    /// The mounts inside a directory that lie in no other one of them, in order.
    pub(super) fn inside(&self, directory: &Path) -> Vec<PathBuf> {
        let beneath = self.0.iter().map(|(at, _)| at);
        let mut beneath: Vec<&PathBuf> =
            beneath.filter(|at| at.starts_with(directory) && *at != directory).collect();
        beneath.sort();
        beneath.dedup_by(|later, earlier| later.starts_with(*earlier));
        beneath.into_iter().cloned().collect()
    }
}

/// Where a mount is, and of which kind, from its line.
fn mount(line: &[u8]) -> Option<(PathBuf, String)> {
    let mut words = line.split(|it| *it == b' ');
    let at = unescaped(words.nth(4)?);
    let kind = words.skip_while(|it| *it != b"-").nth(1)?;
    Some((PathBuf::from(OsString::from_vec(at)), String::from_utf8_lossy(kind).into_owned()))
}

/// Blanks, tabs, line ends and backslashes are written as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        let number = digits.and_then(|it| u8::from_str_radix(it, 8).ok());
        plain.push(number.unwrap_or(*first));
        rest = if number.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    plain
}

#[cfg(test)]
mod tests;
