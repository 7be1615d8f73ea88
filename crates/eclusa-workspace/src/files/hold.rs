//! How much of a file's content is held in memory while it is looked at.

use super::{error::FileError, requested_path::RequestedPath};

/// What becomes of the content of a file that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hold {
    /// Up to so many bytes it is held; more is hashed and stays where it is.
    OrHash(u64),
    /// Up to so many bytes it is held; more is refused.
    OrRefuse(u64),
}

impl Hold {
    /// How much is held, unless a file of this size is refused.
    pub(super) fn checked(self, asked: &RequestedPath, size: u64) -> Result<u64, FileError> {
        match self {
            Hold::OrRefuse(most) if size > most => {
                Err(FileError::TooLarge { asked: asked.shown.clone(), size, most })
            }
            Hold::OrHash(hold) | Hold::OrRefuse(hold) => Ok(hold),
        }
    }
}
