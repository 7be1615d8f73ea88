//! The built-in tools, and the pure text work beneath them.
//!
//! - [`Read`], [`PagedOutput`], [`ToolSearch`], [`Todo`]: tools that change nothing.
//! - [`text`]: what encoding and newlines a file has, and edits that keep both.
//! - [`patch`]: unified diffs and the `*** Begin Patch` form, parsed and applied.
//! - [`search`]: the tools `list`, `glob` and `grep`.
//! - [`diagnostics`]: what the checks say that a person has named.
//! - [`web`]: which addresses may be fetched, and the tool `web_fetch`.
//!
//! `text` and `patch` are functions from bytes or text to bytes or text. Paths are only strings
//! there, and no file is opened: a tool has read it through the one way there is to it
//! ([`Files`](eclusa::Files)), and makes the result into a [`Changes`](eclusa::Changes) value.

mod bash;
mod cells;
pub mod diagnostics;
mod output;
pub mod patch;
mod read;
pub mod search;
pub mod text;
mod todo;
mod tool_search;
pub mod web;
#[cfg(test)]
mod world;

pub use bash::{Bash, BashArgs, Jobs, JobsArgs};
pub use cells::{CellSettings, Cells, Order, Ran, RunError, Running, Writes};
pub use output::PagedOutput;
pub use read::Read;
pub use todo::Todo;
pub use tool_search::ToolSearch;
