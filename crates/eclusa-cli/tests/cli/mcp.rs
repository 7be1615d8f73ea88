//! The tools over MCP, with a client that is written by hand: the real binary on its real pipes.

mod agents;
mod approval;
mod approve;
pub(crate) mod client;
mod faults;
pub(crate) mod http;
mod page_address;
mod protocol;
mod tasks;
mod tools;
