//! What has changed in the workspace where a command had its effects.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use super::{
    Effect, Effects, LayerScan, Note, ScanError, ScannedNode,
    handle::{self, Look, Sort},
};

/// A path that is not as the command found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Which, relative to the workspace.
    pub path: PathBuf,
    /// What has become of it.
    pub clash: Clash,
}

/// What has become of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clash {
    /// Somebody changed it while the command ran.
    Meanwhile,
    /// Somebody changed it after the effects were read.
    Altered,
    /// It is no longer there.
    Deleted,
    /// Something is there, where nothing was.
    Appeared,
    /// Something of another kind is there.
    Replaced,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.clash {
            Clash::Meanwhile => "was changed by another program while the command ran",
            Clash::Altered => "was changed by another program after the command",
            Clash::Deleted => "was deleted by another program",
            Clash::Appeared => "was also made by another program",
            Clash::Replaced => "was replaced by another program",
        };
        write!(f, "`{}` {what}", self.path.display())
    }
}

impl LayerScan {
    /// Looks again, without reading, at every path that the command changed.
    pub fn conflicts(&self, effects: &Effects) -> Result<Vec<Conflict>, ScanError> {
        let mut conflicts = Vec::new();
        for effect in &effects.entries {
            if let Some(clash) = self.clash(effect)? {
                conflicts.push(Conflict { path: effect.path.clone(), clash });
            }
        }
        Ok(conflicts)
    }

    fn clash(&self, effect: &Effect) -> Result<Option<Clash>, ScanError> {
        if effect.notes.contains(&Note::Since) {
            return Ok(Some(Clash::Meanwhile));
        }
        let now = self.now(&effect.path).map_err(ScanError::at("look at", &effect.path))?;
        let (before, now) = match (&effect.before, now) {
            (None, None) => return Ok(None),
            (None, Some(_)) => return Ok(Some(Clash::Appeared)),
            (Some(_), None) => return Ok(Some(Clash::Deleted)),
            (Some(before), Some(now)) => (before, now),
        };
        let since = now.stamp.changed > self.began.0;
        Ok(match (before, now.sort) {
            (ScannedNode::File(file), Sort::File) => {
                (file.stamp != now.stamp).then_some(Clash::Altered)
            }
            (ScannedNode::Directory { mode }, Sort::Directory) => {
                (*mode != now.mode).then_some(Clash::Altered)
            }
            (ScannedNode::Link { .. }, Sort::Link) => since.then_some(Clash::Altered),
            (ScannedNode::Other(was), Sort::Other(is)) if *was == is => None,
            _ => Some(Clash::Replaced),
        })
    }

    /// What is at a path of the workspace. What is behind a link is not there.
    fn now(&self, path: &Path) -> rustix::io::Result<Option<Look>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(None);
        };
        match handle::beneath(&self.lower, parent, handle::SEARCH) {
            Ok(dir) => Look::at(dir, name),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(err) => Err(err),
        }
    }
}

impl From<Conflict> for io::Error {
    fn from(conflict: Conflict) -> io::Error {
        io::Error::other(conflict.to_string())
    }
}
