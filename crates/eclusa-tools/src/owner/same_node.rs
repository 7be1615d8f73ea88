//! Whether what lies in the layer of a job is the same as what comes.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    os::fd::OwnedFd,
    path::Path,
};

use eclusa::workspace::ComingNode;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat};

/// How a path of a layer is opened: through no link, and whatever lies there, nobody waits for it.
const WALK: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const SHUT: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// So much is compared at once.
const PIECE: u64 = 64 << 10;

/// Whether the path of a layer holds what the node says. The job may write to it at any moment: whoever asks compares
/// its stamp too.
pub(super) fn same(upper: &OwnedFd, path: &Path, node: &mut ComingNode) -> io::Result<bool> {
    let lies = openat2(upper, path, LOOK, Mode::empty(), WALK)?;
    let about = fstat(&lies)?;
    let kind = FileType::from_raw_mode(about.st_mode);
    Ok(match node {
        // A whiteout.
        ComingNode::Nothing => kind == FileType::CharacterDevice && about.st_rdev == 0,
        ComingNode::Directory(_) => kind == FileType::Directory,
        ComingNode::Link(target) => {
            use std::os::unix::ffi::OsStrExt as _;
            kind == FileType::Symlink
                && readlinkat(&lies, "", Vec::new())?.as_bytes() == target.as_os_str().as_bytes()
        }
        ComingNode::File { content, mode } => {
            kind == FileType::RegularFile
                && about.st_mode & 0o7777 == *mode & 0o7777
                && u64::try_from(about.st_size).is_ok_and(|it| it == length(content))
                && equal(openat2(upper, path, SHUT, Mode::empty(), WALK)?.into(), content)?
        }
    })
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(u64::MAX, |it| it.len())
}

/// Compared piece by piece: a log may be long.
fn equal(own: File, content: &mut File) -> io::Result<bool> {
    content.rewind()?;
    let piece = |file: &mut dyn io::Read| {
        let mut bytes = Vec::new();
        file.take(PIECE).read_to_end(&mut bytes).map(|_| bytes)
    };
    let mut own = own;
    loop {
        let (one, other) = (piece(&mut own)?, piece(&mut *content)?);
        if one != other {
            return Ok(false);
        }
        if one.is_empty() {
            return Ok(true);
        }
    }
}
