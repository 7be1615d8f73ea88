//! Shell text, read as a shell reads it: every simple command anywhere in it, every word either
//! its final text or marked as unknown, every redirection, and what the programs it names do.
//!
//! Pure: no disk, no clock, no environment, nothing is run.

mod command;
pub mod programs;
mod word;

pub use command::{Assignment, Command, Doubt, Redirect, RedirectKind};
pub use word::{Part, Unknown, Word};
