//! Every test goes through the front door: a call in, a reply and a log out.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is the point"
)]

mod approval;
#[cfg(feature = "shell")]
mod characters;
mod execute;
mod exits;
mod faults;
mod instead;
mod mission;
mod pages;
mod preflight;
mod records;
mod refusals;
mod registry;
mod release;
mod review;
mod runs;
mod schedule;
mod sessions;
mod settle;
#[cfg(feature = "shell")]
mod unapplied;
#[cfg(not(feature = "shell"))]
mod unread_commands;
mod validate;
mod world;
