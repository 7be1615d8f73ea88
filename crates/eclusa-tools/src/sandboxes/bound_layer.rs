//! The files that a person's yes is bound to, in a layer over the workspace: what somebody writes in the
//! workspace while the command starts is not what the command sees.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsString,
    fs, io,
    io::Write as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Component, Path, PathBuf},
};

use eclusa::policy::BoundFile;
use eclusa_sandbox::LayerPool;

use super::{SandboxSettings, Stage};

/// How many parts of a path are followed, links included.
const MAX_PARTS: usize = 256;

/// A layer with these files as far as they lie in the workspace; `None` where none does. What is
/// hidden there, and what is written at once, is left as it is.
pub(super) fn lay(
    pool: &LayerPool,
    settings: &SandboxSettings,
    live: &[PathBuf],
    files: &[BoundFile],
) -> io::Result<Option<Stage>> {
    let root = settings.root.as_path();
    let found = files.iter().filter_map(|it| Some((followed(root, &it.name)?, &it.bytes)));
    let shown = |path: &Path| {
        settings.blocked.by(path).is_none() && !live.iter().any(|it| path.starts_with(it))
    };
    let found: Vec<_> = found.filter(|(it, _)| shown(&it.file)).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let stage = Stage::new(pool, root)?;
    let mut layer = BoundLayer { root, upper: stage.upper(), directories: BTreeSet::new() };
    for (path, bytes) in found {
        for (link, target) in &path.links {
            layer.link(link, target)?;
        }
        layer.file(&path.file, bytes)?;
    }
    layer.finish()?;
    Ok(Some(stage))
}

/// The links on the way to a file, and where it is: all relative to the workspace.
#[derive(Debug, PartialEq, Eq)]
struct Followed {
    links: Vec<(PathBuf, PathBuf)>,
    file: PathBuf,
}

/// Where a name leads, as far as that lies in the workspace.
fn followed(root: &Path, name: &str) -> Option<Followed> {
    let inside = |path: &Path| match path.is_absolute() {
        true => match path.strip_prefix(root) {
            Ok(inside) => Some(inside.to_owned()),
            // Another name of the workspace may be in it.
            Err(_) => path.canonicalize().ok()?.strip_prefix(root).ok().map(Path::to_owned),
        },
        false => Some(path.to_owned()),
    };
    let parts = |path: &Path| -> VecDeque<OsString> {
        path.components().map(|it| it.as_os_str().to_owned()).collect()
    };
    let (mut links, mut at) = (Vec::new(), PathBuf::new());
    let mut left = parts(&inside(Path::new(name))?);
    for _ in 0..MAX_PARTS {
        let Some(part) = left.pop_front() else {
            return Some(Followed { links, file: at });
        };
        match Path::new(&part).components().next() {
            Some(Component::Normal(_)) => {}
            Some(Component::ParentDir) if at.pop() => continue,
            Some(Component::CurDir) => continue,
            _ => return None,
        }
        let here = at.join(&part);
        if !fs::symlink_metadata(root.join(&here)).ok()?.is_symlink() {
            at = here;
            continue;
        }
        let target = fs::read_link(root.join(&here)).ok()?;
        if target.is_absolute() {
            at = PathBuf::new();
        }
        let mut further = parts(&inside(&target)?);
        further.append(&mut left);
        left = further;
        links.push((here, target));
    }
    None
}

/// A layer that is being made. Nobody else sees it yet.
struct BoundLayer<'a> {
    root: &'a Path,
    upper: PathBuf,
    directories: BTreeSet<PathBuf>,
}

impl BoundLayer<'_> {
    fn link(&mut self, path: &Path, target: &Path) -> io::Result<()> {
        self.make_way(path)?;
        unless_there(symlink(target, self.upper.join(path)))
    }

    /// As it was read, with the mode and the time that it has in the workspace.
    fn file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.make_way(path)?;
        let known = fs::metadata(self.root.join(path))?;
        let new = fs::OpenOptions::new().write(true).create_new(true).open(self.upper.join(path));
        unless_there(new.and_then(|mut file| {
            file.write_all(bytes)?;
            file.set_permissions(plain(&known))?;
            file.set_modified(known.modified()?)
        }))
    }

    fn make_way(&mut self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for it in above.into_iter().filter(|it| !it.as_os_str().is_empty()) {
            if self.directories.insert(it.to_owned()) {
                fs::create_dir(self.upper.join(it))?;
            }
        }
        Ok(())
    }

    /// Directories have the mode that they have in the workspace, at last: one may be read-only.
    fn finish(self) -> io::Result<()> {
        for it in self.directories.iter().rev() {
            let known = fs::metadata(self.root.join(it))?;
            fs::set_permissions(self.upper.join(it), plain(&known))?;
        }
        Ok(())
    }
}

/// The mode without what the owner of the layer must not give.
fn plain(known: &fs::Metadata) -> fs::Permissions {
    fs::Permissions::from_mode(known.permissions().mode() & 0o777)
}

/// Two names may lead to one file.
fn unless_there(made: io::Result<()>) -> io::Result<()> {
    match made {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests;
