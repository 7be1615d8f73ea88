//! The house rules, held over the whole repository.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod can_fail;
mod circles;
mod house;
mod pages;
mod tables_can_fail;
