//! Where layers can lie. Not every filesystem can carry the writable side of an overlay: another overlay
//! (a container's own disk), NFS and FUSE cannot. So there are several places, and a self-test finds
//! the first that works.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Where every user may make a directory: on a disk, and in memory.
const SHARED: [&str; 2] = ["/var/tmp", "/dev/shm"];

/// The places besides the state directory: directories of this user alone, which need not be there.
fn shared() -> impl Iterator<Item = PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let real = SHARED.iter().filter_map(|it| Path::new(it).canonicalize().ok());
    real.map(move |it| it.join(format!("eclusa-{user}")))
}

/// Every place for the layers over a workspace, best first: on its filesystem a commit renames.
pub(crate) fn candidates(state: &Path, workspace: &Path) -> Vec<PathBuf> {
    // What lies over the workspace cannot lie in it.
    let outside = |it: &PathBuf| !it.starts_with(workspace);
    let mut places: Vec<PathBuf> =
        std::iter::once(state.to_owned()).chain(shared()).filter(outside).collect();
    let device = |path: &Path| {
        let there = path.ancestors().find(|it| it.exists())?;
        fs::metadata(there).ok().map(|it| it.dev())
    };
    let wanted = device(workspace);
    places.sort_by_key(|it| device(it) != wanted);
    places
}

/// The places besides the state directory that are there, to be swept.
#[must_use]
pub fn shared_layer_places() -> Vec<PathBuf> {
    shared().filter(|it| is_private(it)).collect()
}

/// Makes a place that nobody else can look into. What somebody else has put there is refused.
pub(crate) fn open(place: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(place) {
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists => return Err(err),
        _ => {}
    }
    let foreign = || io::Error::other(format!("`{}` is not this user's alone", place.display()));
    is_private(place).then_some(()).ok_or_else(foreign)
}

fn is_private(place: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(place)
        .is_ok_and(|it| it.is_dir() && it.uid() == user && it.mode() & 0o077 == 0)
}

#[cfg(test)]
mod tests;
