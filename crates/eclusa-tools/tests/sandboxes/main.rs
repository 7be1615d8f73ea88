//! Commands in sandboxes, through the whole gate, against the same commands run plainly.

#![cfg(target_arch = "x86_64")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed"
)]

mod blocked;
mod differential;
mod directory;
mod least;
mod levels;
mod ordinary;
mod programs;
mod scripts;
mod session_tmp;
mod tree;
mod world;
