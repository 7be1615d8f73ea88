//! Sandboxes, through the front door: what they let through, what they refuse, and what is left after.
#![cfg(enforced)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and tests make and remove their own files"
)]

mod basics;
mod context;
mod directory_renames;
mod escape;
mod git_config;
mod layer_pool;
mod leases;
mod levels;
mod limits;
mod network;
mod network_alone;
mod network_pool;
mod outside;
mod own_tmp;
mod places;
mod programs;
mod reading;
mod sockets;
mod talked_to;
mod together;
mod user;
mod world;
