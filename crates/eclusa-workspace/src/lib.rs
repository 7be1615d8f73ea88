//! The files of a workspace, and changes to them as values.
//!
//! - [`Files`] is the one way to a file: everything is opened beneath the workspace, and what is
//!   opened is what was judged. [`Blocked`] says which files nobody may see.
//! - [`Changes`] is what a call would do, before it is done: its [`Diff`] has a face for people,
//!   for programs and for records.
//! - [`Workspace`] commits changes all or none, survives a crash at any step, and undoes them.
//! - [`Snapshot`] puts a workspace back after a command that ran on the real files.
//! - [`visible`] and [`one_line`] of `eclusa-text` show text that somebody else wrote: nothing
//!   hidden, nothing left out.
//!
//! The crate decides nothing: rules, approvals and records are in `eclusa`.

mod changes;
mod commit;
mod digest;
mod durability;
pub mod files;
mod git;
pub mod globs;
mod hash;
mod hooks;
mod pending;
mod places;
pub mod private_file;
mod scratch;
mod snapshot;
mod undo;

pub use changes::{
    Bounds, Change, Changes, Content, ContentDigest, ContentKind, Contents, Diff, FileNode,
    InlineContents, LineNumbers, Node, Side, Stamp, Summary, natural,
};
pub use commit::{
    Clash, ComingNode, ComingStep, CommitError, Committed, Conflict, IoFailure, KeepStrategy,
    Recovered, Rescued, Unrestored, Workspace,
};
pub use digest::{digest, write_canonical};
pub use durability::Durability;
pub use eclusa_text::{is_hidden, is_ignorable, one_line, visible};
pub use files::{Beneath, Blocked, FileError, Files, Opened, OpenedDirectory};
pub use git::GitRun;
pub use hash::{Hash, HashBuilder};
pub use hooks::{ChangedHook, is_git_hook};
pub use pending::{PendingError, PendingOutcome, PendingRun, PendingTerms};
pub use places::Places;
pub use scratch::ScratchWorkspace;
pub use snapshot::{
    LiveDirectories, PutBack, Snapshot, SnapshotError, SnapshotOptions, is_build_output,
};
pub use undo::{
    ChangedBy, Compacted, DroppedUndo, LatestEntries, Retention, UndoConflict, UndoEntry,
    UndoError, UndoStatus, Undone,
};
