//! What the tools that change files work with: the way to a file, what was read before, and how
//! large a file may be. They compute what would change, and write nothing.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    path::Path,
};

use eclusa::{
    Change, Facts, FileNode, Files, Job, Node, Output, PermissionClass, ToolError, one_line,
    policy::HiddenPaths,
    workspace::{Content, FileError, files::PathState},
};
use tokio::task::JoinError;

use crate::{ReadTracker, search::permitted};

/// Directories that have to be made are made with this mode, and files with the one below.
pub(crate) const DIRECTORY: u32 = 0o755;
pub(crate) const FILE: u32 = 0o644;

/// What was there is held up to this size, so that it can be shown without reading it again.
const HELD: u64 = 1 << 20;
/// A file of up to this size that is in memory is read where the call stands.
const SMALL: usize = 32 << 10;
/// The bits that let a program run as somebody else: whoever writes a file takes them away, as
/// the kernel does.
const SET_ID: u32 = 0o6000;

/// What the tools share that change files of one workspace. A clone shares the same.
#[derive(Debug, Clone)]
pub struct FileToolContext {
    pub(crate) files: Files,
    pub(crate) seen: ReadTracker,
    pub(crate) max_size: u64,
}

impl FileToolContext {
    /// How large a file may be that is written or edited, unless somebody says otherwise.
    pub const MAX_SIZE: u64 = 10 << 20;

    /// Tools for this workspace.
    pub fn new(files: Files) -> FileToolContext {
        FileToolContext { files, seen: ReadTracker::default(), max_size: FileToolContext::MAX_SIZE }
    }

    /// The same for files of up to so many bytes.
    pub fn max_size(self, bytes: u64) -> FileToolContext {
        FileToolContext { max_size: bytes, ..self }
    }

    /// What sessions have read and written.
    pub fn read_tracker(&self) -> ReadTracker {
        self.seen.clone()
    }

    /// What a path leads to, links followed. A file is held, or refused because of its size
    /// before it is read.
    pub(crate) fn found(&self, path: &str) -> Result<PathState, ToolError> {
        let found = self.files.small_node(path, self.max_size).map_err(|err| match err {
            FileError::TooLarge { size, .. } => self.too_large(path, size),
            err => refused(err),
        })?;
        match &found.node {
            Some(Node::Directory { .. }) => {
                let name = one_line(path);
                Err(ToolError::new(format!("`{name}` is a directory; name a file in it")))
            }
            _ => Ok(found),
        }
    }

    /// The same for a call whose answer shows what is in the file: rules that keep it back hold
    /// under whatever name it was asked for.
    pub(crate) fn found_to_show(
        &self,
        caller: &CallContext,
        path: &str,
    ) -> Result<PathState, ToolError> {
        let found = self.found(path)?;
        led_elsewhere(&self.files, &caller.hidden, path, &found.path)?;
        Ok(found)
    }

    /// What is said where a file has other names: it is replaced, so that they keep what they had.
    pub(crate) fn other_names(&self, path: &Path) -> Option<String> {
        let others =
            self.files.link_count(asked(path)).ok()?.checked_sub(1).filter(|it| *it > 0)?;
        let names = counted(others, "other name", "other names");
        Some(format!(
            "`{}` had {names} (hard links): the old content stays there, this name is a file of its own now",
            display_path(path)
        ))
    }

    /// An error when a file would become larger than files may be.
    pub(crate) fn fits(&self, path: &str, size: usize) -> Result<(), ToolError> {
        match size as u64 > self.max_size {
            true => Err(self.too_large(path, size as u64)),
            false => Ok(()),
        }
    }

    fn too_large(&self, path: &str, size: u64) -> ToolError {
        let (path, most) = (one_line(path), self.max_size);
        ToolError::new(format!(
            "`{path}` has {size} bytes, or would have; files of up to {most} bytes are written \
             and edited (`files.max_size`), so split it, or leave it to a program"
        ))
    }

    /// An error when the session has read the file, and it has changed since.
    pub(crate) fn is_fresh(
        &self,
        session: &str,
        path: &Path,
        file: &FileNode,
    ) -> Result<(), ToolError> {
        match self.seen.is_stale(session, path, file) {
            false => Ok(()),
            true => {
                let path = display_path(path);
                Err(ToolError::new(format!(
                    "`{path}` has changed since this session last read it; nothing was changed; read it again first"
                )))
            }
        }
    }

    /// The directories that are not there yet on the way to a path, as changes.
    pub(crate) fn parents(&self, path: &Path) -> Result<Vec<Change>, ToolError> {
        let mut made = Vec::new();
        let above = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
        for directory in above {
            match self.files.entry(asked(directory), 0).map_err(refused)?.node {
                Some(Node::Directory { .. }) => break,
                None => made.push(make_directory(directory)),
                Some(other) => {
                    let (at, kind, path) =
                        (display_path(directory), other.kind(), display_path(path));
                    return Err(ToolError::new(format!(
                        "`{path}` needs a directory where there is none: `{at}` is a {kind}; \
                         use another path"
                    )));
                }
            }
        }
        made.reverse();
        Ok(made)
    }
}

/// A directory that is made.
pub(crate) fn make_directory(path: &Path) -> Change {
    let after = Some(Node::Directory { mode: DIRECTORY });
    Change { path: path.to_owned(), from: None, before: None, after }
}

/// A file with new content, its mode kept, and what was there.
pub(crate) fn write_change(path: &Path, before: Option<FileNode>, content: Vec<u8>) -> Change {
    let mode = before.as_ref().map_or(FILE, |it| it.mode & !SET_ID);
    let after = Some(Node::File(FileNode::new(content, mode)));
    let before = before.map(|it| Node::File(let_go(it)));
    Change { path: path.to_owned(), from: None, before, after }
}

/// The file, held no longer where it is large: it can be read where it is.
pub(crate) fn let_go(file: FileNode) -> FileNode {
    match file.size > HELD {
        true => FileNode { content: Content::InPlace, ..file },
        false => file,
    }
}

/// What other programs call the arguments of their file tools, and our name for each.
const ARG_ALIASES: [(&str, &str); 7] = [
    ("file_path", "path"),
    ("filePath", "path"),
    ("file_text", "content"),
    ("old_str", "old_string"),
    ("new_str", "new_string"),
    ("oldString", "old_string"),
    ("newString", "new_string"),
];

/// Other names of the arguments of tools over files.
pub(crate) fn arg_aliases() -> Vec<(String, String)> {
    ARG_ALIASES.map(|(alias, name)| (alias.to_owned(), name.to_owned())).to_vec()
}

/// The facts of a tool that changes files.
pub(crate) fn facts(aliases: &[&str], search_hint: &str, audit_operation: &str) -> Facts {
    Facts {
        aliases: aliases.iter().map(|it| (*it).to_owned()).collect(),
        arg_aliases: arg_aliases(),
        search_hint: search_hint.to_owned(),
        class: Some(PermissionClass::File),
        audit_operation: audit_operation.to_owned(),
        stages: true,
        ..Facts::default()
    }
}

/// An error when a name leads to another one, through a link, that rules keep back: the call was
/// judged by the name that was asked for.
pub(crate) fn led_elsewhere(
    files: &Files,
    hidden: &HiddenPaths,
    asked: &str,
    reached: &Path,
) -> Result<(), ToolError> {
    match files.name(asked).is_ok_and(|name| name == reached) {
        true => Ok(()),
        false => permitted(hidden, asked, reached),
    }
}

/// On whose behalf a tool works.
pub(crate) struct CallContext {
    pub(crate) session: String,
    /// What the call may not look at.
    pub(crate) hidden: HiddenPaths,
}

impl CallContext {
    fn new(job: &Job) -> CallContext {
        CallContext { session: job.session().to_owned(), hidden: job.hidden() }
    }
}

/// Works away from the threads that calls pass on.
pub(crate) async fn work(
    job: &Job,
    work: impl FnOnce(&CallContext) -> Result<Output, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    let caller = CallContext::new(job);
    tokio::task::spawn_blocking(move || work(&caller)).await.unwrap_or_else(broke_off)
}

/// The same for work on one file.
pub(crate) async fn work_on(
    context: &FileToolContext,
    path: &str,
    job: &Job,
    work: impl FnOnce(&CallContext) -> Result<Output, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    let caller = CallContext::new(job);
    with_file(&context.files, path, move || work(&caller)).await.unwrap_or_else(broke_off)
}

/// Work on one file, done where the call stands if that is small and in memory: two changes of
/// threads take longer.
pub(crate) async fn with_file<T: Send + 'static>(
    files: &Files,
    path: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match files.is_in_memory(path, SMALL) {
        true => Ok(work()),
        false => tokio::task::spawn_blocking(work).await,
    }
}

fn broke_off(_: JoinError) -> Result<Output, ToolError> {
    Err(ToolError::new("internal error, nothing changed; try again"))
}

/// A path that was reached, in a form that can be asked for again whatever it begins with.
pub(crate) fn asked(path: &Path) -> Cow<'_, OsStr> {
    match path.as_os_str().as_encoded_bytes().starts_with(b"~") {
        true => Cow::Owned(OsString::from(Path::new(".").join(path))),
        false => Cow::Borrowed(path.as_os_str()),
    }
}

/// A path as it stands in answers.
pub(crate) fn display_path(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// Why a path could not be had.
pub(crate) fn refused(err: FileError) -> ToolError {
    ToolError::new(err.to_string())
}

/// `1 line`, `3 lines`
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
