//! Shell text, read as a shell reads it: every simple command anywhere in it, every word either
//! its final text or marked as unknown, every redirection, and what the programs it names do.
//!
//! Two parsers that know nothing of each other read the text ([`analyse`]); where they differ,
//! where one of them errs, or where a form is met that can run commands unseen, the analysis says
//! so as a [`Doubt`].
//!
//! It is read in stages, and each hands a value to the next:
//!
//! ```text
//! text ─ syntax ──► Syntax          what two parsers saw, compared
//!      ─ commands ► CommandList     words as the shell makes them, loops and `cd` followed
//!      ─ programs ► CommandProfile  what each command does, by the table of programs
//!      ─ analysis ► Analysis        commands, what they run in turn, doubts, catastrophes
//! ```
//!
//! What follows from it is a verdict, and that is for `eclusa` to say.
//!
//! Pure: no disk, no clock, no environment, nothing is run.

mod analysis;
pub mod catastrophe;
mod command;
mod commands;
pub mod limits;
mod nested;
pub mod programs;
mod syntax;
mod variables;
mod word;

#[cfg(test)]
mod tests;

pub use analysis::{Analysis, analyse, analyse_with};
pub use catastrophe::Catastrophe;
pub use command::{Assignment, Command, Doubt, Redirect, RedirectKind, WorkingDirectories};
pub use nested::NestedCommands;
pub use syntax::characters::is_visible;
pub use variables::{Influence, influence, is_plain_pager};
pub use word::{Part, Unknown, Word};
