//! Conversations through the front door: a scripted or a served model, a real gate, a real log.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod failing;
mod fake_events;
mod fake_server;
mod faults;
mod histories;
mod long;
mod memory_transcripts;
mod resume;
mod served;
mod stops;
mod task;
mod thinker;
mod turns;
mod world;
