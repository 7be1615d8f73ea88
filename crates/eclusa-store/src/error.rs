//! Everything that can be wrong with a store, in sentences that say how to fix it.

use std::{
    io,
    path::{Path, PathBuf},
};

use eclusa::{
    approve::QueueError,
    audit::{AuditError, VerifyError},
    store::TranscriptError,
};
use rusqlite::ErrorCode;

/// Why the store cannot do what was asked. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The path leads to a directory.
    #[error("`{}` is a directory; the log is a file: name a file", .0.display())]
    Directory(PathBuf),
    /// There is nothing to read.
    #[error("nothing recorded for this workspace yet (no log at `{}`)", .0.display())]
    Missing(PathBuf),
    /// The file is something else.
    #[error("`{}` is not a log of this program; nothing was written to it. Name another file", .0.display())]
    NotAStore(PathBuf),
    /// The file is damaged.
    #[error(
        "the log `{}` is damaged ({what}). Nothing more is written to it: move it aside and keep it as evidence, or restore a copy",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says about it.
        what: String,
    },
    /// A newer Eclusa has written it.
    #[error(
        "the log `{}` has format {found}; this program knows formats up to {known}. Use the newer program that wrote it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// The file may not be written, or is open for reading only.
    #[error("cannot write the log `{}` ({what})", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// There is no space left.
    #[error("no space left for the log `{}`: free some space on its disk", .0.display())]
    Full(PathBuf),
    /// Somebody else holds the lock.
    #[error(
        "another process has locked the log `{}` for too long: end it, or wait for it",
        .0.display()
    )]
    Busy(PathBuf),
    /// What is open is not what others will find.
    #[error(
        "the log `{}` was moved, replaced or deleted while it was open. Nothing more is written to it: put it back, or restart the program",
        .0.display()
    )]
    Moved(PathBuf),
    /// The writing thread has ended.
    #[error("the writer of the log `{}` has stopped: restart the program", .0.display())]
    Gone(PathBuf),
    /// An answer from the approval queue opens one call.
    #[error("approval {0} has opened another call already; ask again")]
    Opened(u64),
    /// What was handed in cannot be kept.
    #[error("this cannot be recorded: {0}")]
    Unfit(String),
    /// Anything else.
    #[error("the log `{}` failed ({what})", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite or the system says about it.
        what: String,
    },
}

impl From<StoreError> for AuditError {
    fn from(err: StoreError) -> AuditError {
        AuditError::new(err.to_string())
    }
}

impl From<StoreError> for VerifyError {
    fn from(err: StoreError) -> VerifyError {
        VerifyError::Unread(err.into())
    }
}

impl From<StoreError> for QueueError {
    fn from(err: StoreError) -> QueueError {
        QueueError::Store(err.to_string())
    }
}

impl From<StoreError> for TranscriptError {
    fn from(err: StoreError) -> TranscriptError {
        TranscriptError(err.to_string())
    }
}

/// Says which store an error is about.
pub(crate) trait InStore<T> {
    fn in_store(self, path: &Path) -> Result<T, StoreError>;
}

impl<T> InStore<T> for rusqlite::Result<T> {
    fn in_store(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|err| explain(path, &err))
    }
}

impl<T> InStore<T> for io::Result<T> {
    fn in_store(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|err| {
            let (path, what) = (path.to_owned(), err.to_string());
            match err.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    StoreError::ReadOnly { path, what }
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(path),
                io::ErrorKind::IsADirectory => StoreError::Directory(path),
                io::ErrorKind::NotFound => StoreError::Missing(path),
                _ => StoreError::Failed { path, what },
            }
        })
    }
}

fn explain(path: &Path, err: &rusqlite::Error) -> StoreError {
    let (path, what) = (path.to_owned(), err.to_string());
    match err.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotAStore(path),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, what },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            StoreError::ReadOnly { path, what }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full(path),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(path),
        Some(ErrorCode::TooBig) => StoreError::Unfit("it is too big".to_owned()),
        _ => StoreError::Failed { path, what },
    }
}
