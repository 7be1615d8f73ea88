//! The tools that look for files and for text in them: [`List`], [`Glob`] and [`Grep`].
//!
//! They are made of the crates that ripgrep is made of, with three differences. Which names are
//! ignored is read from the `.gitignore` files of the workspace alone, through the one way to a
//! file (`ignores.rs`): nothing above the workspace and nothing of the machine's own settings has
//! a say. Every file is opened through [`Files`](eclusa::Files), so that links, blocked names,
//! pipes and devices are never read. And what is kept is bounded (`page.rs`, `matches.rs`): the
//! walk runs on several threads in any order, and only what can still be on the page is held.

mod cancel;
mod collector;
mod glob;
mod grep;
mod grep_run;
mod ignores;
mod line;
mod list;
mod matches;
mod meets;
mod messages;
mod names;
mod page;
mod report;
mod walk;

#[cfg(test)]
mod tests;

pub use glob::{Glob, GlobArgs};
pub use grep::{Grep, GrepArgs, GrepMode, OutputShape};
pub use list::{List, ListArgs};
pub use meets::{meets_hidden, start_of, without_hidden};
pub(crate) use messages::permitted;
