//! What a command did to the workspace, read back from the upper layer of the overlay it ran on.
//!
//! The walk visits what the command wrote and what it deleted, never the rest of the workspace, so
//! that its cost grows with the changes. Nothing is followed: each directory is opened beneath the
//! root of its layer, without links and without leaving the mount. The workspace is only read.
//!
//! ```text
//! upper layer                                         effect
//! a name that is not below                            made
//! a name that is below                                altered, or nothing if all is the same
//! a character device 0/0, or a file marked whiteout   deleted, with everything in it
//! a directory marked opaque                           what is below and not here is deleted
//! a name of another kind than below                   replaced
//! ```

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

pub use conflict::{Clash, Conflict};
pub use copy::{copy_layer, copy_layer_parts, list_layer};
pub use discard::discard;
pub(crate) use discard::empty;
pub use effects::{Effect, Effects, Kind, Moment, Note, ScannedFile, ScannedNode, Special};

mod conflict;
mod copy;
mod discard;
mod effects;
pub(crate) mod handle;
mod later;
pub(crate) mod moves;
mod release;
mod shut;
mod walk;

/// A workspace, the layer that a command wrote over it, and when the command began.
#[derive(Debug)]
pub struct LayerScan {
    lower: OwnedFd,
    upper: OwnedFd,
    upper_path: PathBuf,
    began: Moment,
    bounds: Bounds,
}

/// How much is read back. What is beyond is an error: effects that nobody has seen whole cannot be
/// judged, and the layer is to be discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most names that are looked at, in both layers together.
    pub names: usize,
    /// The most bytes that are read, in both layers together: a file of zeros without end costs its
    /// maker nothing.
    pub bytes: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { names: 500_000, bytes: 8 << 30 }
    }
}

/// Why the effects of a command cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// More than the bounds allow.
    #[error(
        "the command changed more than {0} names; discard its changes, or let it write to a \
         directory that is not staged"
    )]
    TooMany(usize),
    /// More bytes than the bounds allow.
    #[error(
        "the command changed files of more than {most} bytes, among them `{}`; discard its changes, \
         or let it write to a directory that is not staged",
        path.display()
    )]
    TooLarge {
        /// The file that was one too many.
        path: PathBuf,
        /// What is allowed.
        most: u64,
    },
    /// A path that no system call could name.
    #[error(
        "the command made a path that is longer than a path can be, below `{}`; discard its changes",
        .0.display()
    )]
    TooDeep(PathBuf),
    /// An overlay wrote it with features that only an overlay can read.
    #[error(
        "`{}` was written by an overlay with `redirect_dir` or `metacopy`, which cannot be read \
         back; mount it with `userxattr`",
        .0.display()
    )]
    Foreign(PathBuf),
    /// Somebody changed the layer after it was read.
    #[error("`{}` in the upper layer is not what was read back; discard the changes", .0.display())]
    Disturbed(PathBuf),
    /// The kernel refused.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Failed {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With what, relative to the workspace.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl ScanError {
    /// Says what was being done, and where.
    fn at(doing: &'static str, path: &Path) -> impl FnOnce(rustix::io::Errno) -> ScanError {
        move |err| match err {
            rustix::io::Errno::NAMETOOLONG => ScanError::TooDeep(path.to_owned()),
            err => ScanError::Failed { doing, path: path.to_owned(), source: err.into() },
        }
    }
}

impl LayerScan {
    /// A layer over a workspace. No overlay may be mounted on it any more, or at least nobody may
    /// write to one: what is read back is what is committed.
    pub fn open(lower: &Path, upper: &Path, began: Moment) -> Result<LayerScan, ScanError> {
        let open = |path: &Path| {
            let flags = handle::SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty()).map_err(ScanError::at("open", path))
        };
        Ok(LayerScan {
            lower: open(lower)?,
            upper: open(upper)?,
            upper_path: upper.to_owned(),
            began,
            bounds: Bounds::default(),
        })
    }

    /// The same layer, with other bounds.
    #[must_use]
    pub fn bounded(mut self, bounds: Bounds) -> LayerScan {
        self.bounds = bounds;
        self
    }

    /// Reads the effects back. Both layers are left as they are.
    pub fn scan(&self) -> Result<Effects, ScanError> {
        walk::run(self)
    }

    /// Where the new content of a path lies until it is committed.
    pub fn staged(&self, path: &Path) -> PathBuf {
        self.upper_path.join(path)
    }
}
