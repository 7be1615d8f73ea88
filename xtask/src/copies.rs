//! Copies below `target/`: of the workspace, and of what packages of others were built to.

use std::{collections::BTreeSet, fs, io, path::Path};

/// Makes `to` like `from`: what is the same keeps its time stamp, what is gone goes.
pub(crate) fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    if from.is_file() {
        return write(to, &fs::read(from)?);
    }
    fs::create_dir_all(to)?;
    let names = |path: &Path| -> io::Result<BTreeSet<_>> {
        fs::read_dir(path)?.map(|it| it.map(|it| it.file_name())).collect()
    };
    let (here, there) = (names(from)?, names(to)?);
    for gone in there.difference(&here) {
        remove(&to.join(gone))?;
    }
    here.iter().try_for_each(|name| mirror(&from.join(name), &to.join(name)))
}

#[expect(clippy::disallowed_methods, reason = "a copy below target/ that can be made again")]
fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[expect(clippy::disallowed_methods, reason = "a binary below target/ that can be made again")]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "a copy below target/ that can be made again")]
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

/// Copies what packages of others were built to, with the times by which cargo knows it, unless it was copied
/// before. What belongs to a crate of the workspace is left out.
pub(crate) fn packages_of_others(from: &Path, to: &Path, ours: &[String]) -> io::Result<()> {
    if to.exists() {
        return Ok(());
    }
    // Names of files have the crate's name with `_`, directories have it with `-`.
    let is_ours = |name: &str| {
        let name = name.strip_prefix("lib").unwrap_or(name).replace('_', "-");
        let first = name.rsplit_once('-').map_or(name.as_str(), |(first, _)| first);
        name.starts_with("eclusa") || ours.iter().any(|it| it == first)
    };
    let part = to.with_extension("part");
    for directory in ["deps", "build", ".fingerprint"] {
        fs::create_dir_all(part.join(directory))?;
        for entry in fs::read_dir(from.join(directory))? {
            let name = entry?.file_name();
            if !is_ours(&name.to_string_lossy()) {
                copy(&from.join(directory).join(&name), &part.join(directory).join(&name))?;
            }
        }
    }
    rename(&part, to)
}

/// Copies a file or a directory with its times and modes; what another build has taken away meanwhile is left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let known = match fs::metadata(from) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        known => known?,
    };
    if known.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    fs::copy(from, to)?;
    fs::File::options().append(true).open(to)?.set_modified(known.modified()?)
}
