//! Why a file could not be had, in words that say what to try next.

use std::{fmt, io, path::PathBuf};

use super::Kind;

/// Why a file could not be had. Paths in it are ready to be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path is empty.
    #[error("the path is empty; write it relative to the workspace, `.` is the workspace itself")]
    Empty,
    /// The path has a NUL character.
    #[error("`{asked}` has a NUL character, which no path can have; leave it out")]
    Nul {
        /// What was asked for.
        asked: String,
    },
    /// The path, or a name in it, is longer than any file's.
    #[error(
        "the path that begins with `{asked}` is too long; a name can have 255 bytes, a path 4095"
    )]
    TooLong {
        /// How what was asked for begins.
        asked: String,
    },
    /// The path starts at somebody's home directory.
    #[error(
        "`{asked}` starts at a home directory, which is not part of the workspace; write the path \
         relative to the workspace (`./~` for a file of that name)"
    )]
    Home {
        /// What was asked for.
        asked: String,
    },
    /// The path leads out of the workspace, by itself or through a link.
    #[error(
        "`{asked}` leads out of the workspace; only files in it can be reached, by paths relative \
         to it"
    )]
    Outside {
        /// What was asked for.
        asked: String,
    },
    /// The path is, or leads to, what nobody may see.
    #[error(
        "`{asked}` is blocked: {} matches the secret pattern `{pattern}`; continue without it{}",
        .reached.as_ref().map_or("it".to_owned(), |it| format!("it leads to `{it}`, which")),
        except(.reached.as_ref().unwrap_or(.asked), .pattern)
    )]
    Blocked {
        /// What was asked for.
        asked: String,
        /// Where it leads, if that is what is blocked.
        reached: Option<String>,
        /// The pattern that it fits.
        pattern: String,
    },
    /// The name fits a pattern of secrets, and so does the content.
    #[error(
        "`{asked}` is blocked: it matches the secret pattern `{pattern}` and holds {holds}; continue without it"
    )]
    SecretContent {
        /// What was asked for.
        asked: String,
        /// The pattern that it fits.
        pattern: String,
        /// What it holds.
        holds: &'static str,
    },
    /// Nothing is there.
    #[error(
        "no such file: `{asked}`; {}",
        .near.as_ref().map_or_else(
            || "list the directory to see its files".to_owned(),
            |it| format!("did you mean `{it}`?"),
        )
    )]
    NotFound {
        /// What was asked for.
        asked: String,
        /// A path that is there and looks like it.
        near: Option<String>,
    },
    /// The file is larger than what was asked for may be.
    #[error("`{asked}` has {size} bytes, and {most} is the most")]
    TooLarge {
        /// What was asked for.
        asked: String,
        /// How large it is.
        size: u64,
        /// How large it may be.
        most: u64,
    },
    /// Something is there, but not a file.
    #[error("`{asked}` is {kind}, not a file; {}", .kind.instead_of_reading())]
    NotAFile {
        /// What was asked for.
        asked: String,
        /// What is there.
        kind: Kind,
    },
    /// What was asked for, or something on the way to it, is not a directory.
    #[error("`{asked}` needs a directory where there is none: `{path}` is {kind}; {}",
        .kind.instead_of_entering())]
    NotADirectory {
        /// What was asked for.
        asked: String,
        /// What is not a directory.
        path: String,
        /// What it is.
        kind: Kind,
    },
    /// The links on the way have no end.
    #[error("`{asked}` goes through too many links, or round in a circle; use the file's own path")]
    Loop {
        /// What was asked for.
        asked: String,
    },
    /// A path that is to be used as it is goes through a link.
    #[error(
        "a directory on the way to `{asked}` is a link now, and nothing is changed through links; \
         look again and use the directory's own path"
    )]
    Linked {
        /// What was asked for.
        asked: String,
    },
    /// The file is written by somebody else all the time.
    #[error("`{asked}` changes while it is read; try again when no program writes it")]
    Changing {
        /// What was asked for.
        asked: String,
    },
    /// The workspace itself where a path in it is needed.
    #[error("`{asked}` is the workspace itself; name something in it")]
    Workspace {
        /// What was asked for.
        asked: String,
    },
    /// The workspace is not there, or not there any more.
    #[error("the workspace `{root}` is gone: it was deleted or moved; start again where it is now")]
    Vanished {
        /// Where it was.
        root: String,
    },
    /// A pattern for blocked files that is none.
    #[error("`{pattern}` is not a pattern for blocked files: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// The machine refused.
    #[error("cannot open `{asked}`: {}", describe_error(.source))]
    Io {
        /// What was asked for.
        asked: String,
        /// What the machine said.
        source: io::Error,
    },
}

impl FileError {
    pub(super) fn io(asked: &str, cause: impl Into<io::Error>) -> FileError {
        FileError::Io { asked: asked.to_owned(), source: cause.into() }
    }

    pub(super) fn vanished(root: &std::path::Path) -> FileError {
        FileError::Vanished { root: display_path(root) }
    }
}

/// A path as it stands in messages.
pub(super) fn display_path(path: &std::path::Path) -> String {
    match path.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => crate::one_line(&path.to_string_lossy()),
    }
}

/// Names as they stand in messages.
pub(super) fn shown_names(names: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> String {
    display_path(&names.into_iter().map(|it| PathBuf::from(it.as_ref())).collect::<PathBuf>())
}

/// The machine's words without its numbers, and what to do about it.
fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "permission denied; ask the person whose file it is".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::OutOfMemory => "it does not fit into memory".to_owned(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            text.to_lowercase()
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Link => "a link",
            Kind::Pipe => "a pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
            Kind::Unknown => "of no known kind",
        })
    }
}

impl Kind {
    fn instead_of_reading(self) -> &'static str {
        match self {
            Kind::Directory => "list it instead",
            _ => "continue without it",
        }
    }

    fn instead_of_entering(self) -> &'static str {
        match self {
            Kind::File => "leave out what follows it, the slash included",
            Kind::Link => "leave out the slash to mean the link itself",
            _ => "continue without it",
        }
    }
}

/// How a person makes an exception, where one can be made: not for a place of secrets.
fn except(path: &str, pattern: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match pattern.starts_with('/') || name.is_empty() {
        true => String::new(),
        false => format!(", or a person excepts it with files.blocked = [\"!{name}\"]"),
    }
}
