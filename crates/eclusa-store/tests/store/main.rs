//! The store through its front door: what it promises, what it refuses, and what it survives.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod append;
mod approval_queue;
mod at_once;
mod blocking;
mod child;
mod gate;
mod outbox;
mod power;
mod power_questions;
mod processes;
mod questions;
mod refusal;
mod room;
mod sealed_answers;
mod sessions;
mod spool;
mod tamper;
mod turns;
