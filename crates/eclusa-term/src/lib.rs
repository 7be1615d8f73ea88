//! The terminal: what is printed, how a question is put to a person, and how a command ends.
//!
//! It knows the questions of the gate and the rules that an answer can become, and nothing of the
//! program's commands.

pub mod failure;
pub mod language;
pub mod screen;
pub mod since;
pub mod terminal;
pub mod timestamp;
