//! Shell text, read as a shell reads it: every simple command anywhere in it, every word either
//! its final text or marked as unknown, every redirection, and what the programs it names do.
//!
//! Two parsers that know nothing of each other read the text ([`analyse`]); where they differ,
//! where one of them errs, or where a form is met that can run commands unseen, the analysis says
//! so as a [`Doubt`].
//!
//! Pure: no disk, no clock, no environment, nothing is run.

mod analysis;
pub mod catastrophe;
mod characters;
mod command;
mod compare;
mod hidden_forms;
pub mod limits;
mod nested;
mod outline;
pub mod programs;
mod reader;
mod shuck_parser;
mod tree_sitter;
mod variable_origin;
mod variables;
mod word;

#[cfg(test)]
mod tests;

pub use analysis::{Analysis, analyse, analyse_with};
pub use catastrophe::Catastrophe;
pub use characters::is_visible;
pub use command::{Assignment, Command, Doubt, Redirect, RedirectKind, WorkingDirectories};
pub use nested::NestedCommands;
pub use variables::{Influence, influence, is_plain_pager};
pub use word::{Part, Unknown, Word};
