//! Shell text, read as a shell reads it: every simple command anywhere in it, every word either
//! its final text or marked as unknown, every redirection, and what the programs it names do.
//!
//! Two parsers that know nothing of each other read the text ([`analyse`]); where they differ,
//! where one of them errs, or where a form is met that can run commands unseen, the analysis says
//! so as a [`Doubt`].
//!
//! Pure: no disk, no clock, no environment, nothing is run.

mod agree;
mod analysis;
mod bytes;
mod command;
pub mod limits;
mod names;
mod outline;
pub mod programs;
mod reader;
mod screen;
mod shuck;
mod sitter;
mod variables;
mod word;

pub use analysis::{Analysis, Inner, analyse, analyse_with};
pub use command::{Assignment, Command, Doubt, Redirect, RedirectKind};
pub use variables::{Influence, influence, is_plain_pager};
pub use word::{Part, Unknown, Word};
