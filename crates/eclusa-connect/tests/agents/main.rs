//! What agents send and get back, and what is written into their settings.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, which is the point; golden files are written by hand"
)]

mod golden;
mod settings;
