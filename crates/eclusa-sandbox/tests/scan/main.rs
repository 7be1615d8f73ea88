//! Effects read back from real overlays, as the superuser and in a user namespace.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed"
)]

mod cases;
mod conflicts;
mod differential;
mod discarding;
mod ordinary;
#[expect(dead_code, reason = "not everything is needed here")]
mod overlay;
mod scripts;
mod tree;
