//! Calls that wait for an answer, made by real programs over real overlays.
#![cfg(enforced)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

#[path = "../scan/ordinary.rs"]
mod ordinary;
#[path = "../scan/overlay.rs"]
mod overlay;
mod renames;
mod supervised;
#[path = "../scan/tree.rs"]
mod tree;
