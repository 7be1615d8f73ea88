//! Whether a repository has an object, found out without running git.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use crate::directory::read_small;

/// What an index of a pack of version 2 begins with.
const HEAD: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// Where its counts by first byte end, and its names begin.
const NAMES: u64 = 8 + 256 * 4;

/// So often repositories may borrow from another.
const MAX_BORROWED: usize = 5;

/// Whether the repository in this directory has the object of this name of 40 hexadecimal digits: by itself, in a
/// pack, or where it borrows. Where nobody can tell, it is taken to be there.
#[must_use]
pub fn has_object(common: &Path, id: &str) -> bool {
    match parsed(id) {
        Some(name) => has(&common.join("objects"), id, &name, MAX_BORROWED),
        None => true,
    }
}

fn parsed(id: &str) -> Option<[u8; 20]> {
    let mut name = [0; 20];
    if id.len() != 40 || !id.is_ascii() {
        return None;
    }
    for (byte, at) in name.iter_mut().zip((0..40).step_by(2)) {
        *byte = u8::from_str_radix(id.get(at..at + 2)?, 16).ok()?;
    }
    Some(name)
}

fn has(objects: &Path, id: &str, name: &[u8; 20], borrowed: usize) -> bool {
    let loose = id.split_at_checked(2).map(|(first, rest)| objects.join(first).join(rest));
    if loose.is_some_and(|it| it.symlink_metadata().is_ok()) {
        return true;
    }
    let packs = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
    let mut indexes =
        packs.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "idx"));
    if indexes.any(|it| is_in_pack(&it, name).unwrap_or(true)) {
        return true;
    }
    let Some(others) = read_small(&objects.join("info/alternates"), 1 << 20) else { return false };
    let others = String::from_utf8_lossy(&others).into_owned();
    let mut others = others.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    others.any(|it| borrowed == 0 || has(&borrows(objects, it), id, name, borrowed - 1))
}

/// Where a repository borrows objects.
fn borrows(objects: &Path, line: &str) -> PathBuf {
    objects.join(line)
}

/// Whether the index of a pack names this object; `None` where that cannot be read.
fn is_in_pack(index: &Path, name: &[u8; 20]) -> Option<bool> {
    let index = File::open(index).ok()?;
    let mut head = [0; 8];
    index.read_exact_at(&mut head, 0).ok()?;
    if head != HEAD {
        return None;
    }
    let first = u64::from(*name.first()?);
    let count = |at: u64| {
        let mut count = [0; 4];
        index.read_exact_at(&mut count, 8 + at * 4).ok()?;
        Some(u64::from(u32::from_be_bytes(count)))
    };
    let mut low = if first == 0 { 0 } else { count(first - 1)? };
    let mut high = count(first)?;
    while low < high {
        let middle = low + (high - low) / 2;
        let mut found = [0; 20];
        index.read_exact_at(&mut found, NAMES + middle * 20).ok()?;
        match found.cmp(name) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests;
