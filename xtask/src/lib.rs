//! The workshop: rules of the house that the compiler does not know, as functions from sources to complaints;
//! tables that are made from the code; mistakes that tests must notice.
//!
//! `tests/tidy/house.rs` holds the repository to them, `tests/tidy/can_fail.rs` shows that each of them can
//! complain. The examples of `docs/library.md` are compiled and run as doctests here.

pub mod bans;
pub mod circles;
pub mod crate_table;
pub mod dependencies;
pub mod direction;
mod homes;
pub mod messages;
pub mod mission;
pub mod mutants;
pub mod pages;
pub mod prelude;
pub mod shape;
pub mod source;
pub mod tokens;
pub mod tool_names;
pub mod words;

#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct Library;
