//! Extended attributes and access lists of a file that is replaced: the new one gets them too.

use std::{io, os::fd::AsFd, path::Path};

use rustix::{fs::XattrFlags, io::Errno};

use super::{
    parents::{self, Parents},
    stat,
};

/// The name of an attribute and its value.
pub(crate) type Attribute = (Vec<u8>, Vec<u8>);

/// The attributes of the file at this path. What cannot be read is left out: the file is looked at
/// again before anything is replaced.
pub(super) fn of_file(path: &Path, parents: &mut Parents<'_>) -> Vec<Attribute> {
    let opened = parents.of(path).and_then(|dir| stat::open_file(&*dir, parents::name(path)));
    opened.map(read).unwrap_or_default()
}

/// The attributes of what is open, as far as they can be read, in the order of their names.
pub(crate) fn read(file: impl AsFd) -> Vec<Attribute> {
    let names = whole(|buffer| rustix::fs::flistxattr(&file, buffer)).unwrap_or_default();
    let names = names.split(|it| *it == 0).filter(|it| is_carried(it));
    let read = names.filter_map(|name| {
        let value = whole(|buffer| rustix::fs::fgetxattr(&file, name, buffer)).ok()?;
        Some((name.to_vec(), value))
    });
    let mut read: Vec<Attribute> = read.collect();
    read.sort_unstable();
    read
}

/// Gives what is open these attributes and no others.
pub(crate) fn reset(file: impl AsFd, attributes: &[Attribute]) -> io::Result<()> {
    let has = read(&file);
    for (name, _) in has.iter().filter(|(name, _)| !attributes.iter().any(|it| it.0 == *name)) {
        rustix::fs::fremovexattr(&file, name.as_slice())?;
    }
    let differs: Vec<Attribute> =
        attributes.iter().filter(|it| !has.contains(it)).cloned().collect();
    set(file, &differs)
}

/// Attributes of people and access lists. What the kernel trusts (capabilities, labels, the marks
/// of overlays) belonged to the old content.
fn is_carried(name: &[u8]) -> bool {
    let overlay = name.starts_with(b"user.overlay.");
    (name.starts_with(b"user.") && !overlay) || name.starts_with(b"system.posix_acl_")
}

/// Gives a file these attributes. An error where that cannot be done: none is lost unseen.
pub(crate) fn set(file: impl AsFd, attributes: &[Attribute]) -> io::Result<()> {
    for (name, value) in attributes {
        rustix::fs::fsetxattr(&file, name.as_slice(), value, XattrFlags::empty()).map_err(
            |err| {
                let name = String::from_utf8_lossy(name);
                io::Error::other(format!("its attribute `{name}` cannot be kept: {err}"))
            },
        )?;
    }
    Ok(())
}

/// All that a call of the kernel gives, in a buffer that grows until it fits.
fn whole(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 1024];
    loop {
        match read(&mut buffer) {
            Ok(size) => {
                buffer.truncate(size);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            Err(err) => return Err(err),
        }
    }
}
