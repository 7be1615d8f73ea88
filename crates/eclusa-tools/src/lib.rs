//! The built-in tools, and the pure text work beneath them.
//!
//! - [`Read`], [`PagedOutput`], [`ToolSearch`], [`Todo`]: tools that change nothing.
//! - [`Write`], [`EditFile`], [`MultiEdit`], [`ApplyPatch`], [`Delete`], [`Move`], [`MakeDir`]:
//!   tools that say what they would change, and write nothing. [`FileToolContext`] is what they share.
//! - [`text`]: what encoding and newlines a file has, and edits that keep both.
//! - [`patch`]: unified diffs and the `*** Begin Patch` form, parsed and applied.
//! - [`search`]: the tools `list`, `glob` and `grep`.
//! - [`diagnostics`]: what the checks say that a person has named.
//! - [`web`]: which addresses may be fetched, and the tool `web_fetch`.
//!
//! `text` and `patch` are functions from bytes or text to bytes or text. Paths are only strings
//! there, and no file is opened: a tool has read it through the one way there is to it
//! ([`Files`](eclusa::Files)), and makes the result into a [`Changes`](eclusa::Changes) value.

mod apply_patch;
mod bash;
mod delete;
pub mod diagnostics;
mod edit;
mod edit_summary;
mod file_tools;
mod make_dir;
mod move_file;
mod multi_edit;
mod output;
mod owner;
pub mod patch;
mod read;
mod read_back;
mod read_tracker;
mod register;
mod sandboxes;
pub mod search;
pub mod text;
mod todo;
mod tool_search;
mod tree;
pub mod web;
#[cfg(test)]
mod world;
mod write;

pub use apply_patch::ApplyPatch;
pub use bash::{
    Bash, BashArgs, JobView, Jobs, JobsArgs, ProgramRun, jobs_of, lost_jobs, run_program,
    running_jobs,
};
pub use delete::Delete;
pub use edit::EditFile;
pub use file_tools::FileToolContext;
pub use make_dir::MakeDir;
pub use move_file::Move;
pub use multi_edit::MultiEdit;
pub use output::PagedOutput;
pub use owner::{
    AgentProcess, JobHome, JobRecord, JobRecords, MAX_KEPT_OUTPUT, OwnerClient, OwnerError,
    OwnerProcess, refresh_jobs, run_of_job, run_owner, show_to_jobs, unreaped_owners,
};
pub use read::Read;
pub use read_tracker::ReadTracker;
pub use register::{BUILT_IN_NAMES, BuiltInTools, register_all, register_file_tools};
pub use sandboxes::{
    CommandOrder, ProgramStart, Ran, RunError, Running, SandboxSettings, Sandboxes, ScratchChanges,
    ScratchLayer, SigningPlace, WriteTracking, Writes,
};
pub use todo::Todo;
pub use tool_search::ToolSearch;
pub use write::Write;
