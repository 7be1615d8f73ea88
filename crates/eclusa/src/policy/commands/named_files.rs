//! The files that a shell text names, as they are now: a yes to `sh deploy.sh` is one to what is in
//! that file.

use std::{
    collections::BTreeSet,
    fs::OpenOptions,
    io::Read,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

use super::Script;
use crate::{Hash, policy::BoundFile};

/// The most files that are looked at, and the most bytes that are read of all of them. Of what is
/// beyond that the times and sizes count.
const MAX_FILES: usize = 256;
const MAX_BYTES: u64 = 16 << 20;

/// The digest of every file in a workspace that a shell text names as a word of its own; `None` where
/// it names none.
pub fn named_files(root: &Path, text: &str, directory: Option<&str>) -> Option<Hash> {
    named_by(root, &[Script::read(text, directory)])
}

/// The same of texts that were read before.
pub(crate) fn named_by(root: &Path, scripts: &[Script]) -> Option<Hash> {
    read_named(root, scripts).0
}

/// The same with what was read: exactly the bytes that are in the digest.
pub(crate) fn read_named(root: &Path, scripts: &[Script]) -> (Option<Hash>, Vec<BoundFile>) {
    let names: BTreeSet<String> = scripts.iter().flat_map(candidates).collect();
    let (mut left, more) = (MAX_BYTES, names.len().saturating_sub(MAX_FILES));
    let (mut text, mut files) = (String::new(), Vec::new());
    for name in names.into_iter().take(MAX_FILES) {
        let Some((state, bytes)) = state(&root.join(&name), &mut left) else { continue };
        text.push_str(&format!("{} {name} {state}\n", name.len()));
        files.extend(bytes.map(|bytes| BoundFile { name, bytes: bytes.into() }));
    }
    if more > 0 {
        text.push_str(&format!("and {more} more names\n"));
    }
    ((!text.is_empty()).then(|| Hash::sha256(text.as_bytes())), files)
}

/// Every word that may be the name of a file, from each directory that the text may stand in.
fn candidates(script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    for command in &script.text.commands {
        let mut places = vec![script.start.clone()];
        if let Some(directories) = &command.working_directories {
            let moved = std::iter::once(&directories.reached).chain(&directories.otherwise);
            places.extend(moved.map(|it| joined(&script.start, it)));
        }
        let redirected = command.redirects.iter().map(|it| &it.target);
        for word in command.words.iter().chain(redirected).filter_map(|it| it.text()) {
            let value = word.rsplit_once('=').map(|(_, value)| value.to_owned());
            for name in std::iter::once(word.into_owned()).chain(value) {
                found.extend(places.iter().map(|place| joined(place, &name)));
            }
        }
    }
    found.retain(|it| !it.contains('\0'));
    found
}

/// A name seen from a directory; one that starts at the root is what it is.
fn joined(place: &str, name: &str) -> String {
    match place.is_empty() || place == "." || name.starts_with('/') {
        true => name.to_owned(),
        false => format!("{place}/{name}"),
    }
}

/// What a file is now, where there is one: its digest with what is in it, or its times where it is too
/// large.
fn state(path: &Path, left: &mut u64) -> Option<(String, Option<Vec<u8>>)> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let known = path.metadata().ok().filter(|it| it.is_file())?;
    let stamp = || {
        let times = (known.mtime(), known.mtime_nsec(), known.ctime(), known.ctime_nsec());
        format!("{:?}", (known.dev(), known.ino(), known.size(), times))
    };
    if known.len() > *left {
        return Some((stamp(), None));
    }
    *left -= known.len();
    let mut bytes = Vec::new();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    match opened.and_then(|it| it.take(known.len().saturating_add(1)).read_to_end(&mut bytes)) {
        Ok(_) => Some((Hash::sha256(&bytes).to_string(), Some(bytes))),
        // What cannot be read here may be readable to somebody else.
        Err(_) => Some((stamp(), None)),
    }
}
