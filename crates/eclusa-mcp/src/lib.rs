//! The Model Context Protocol: our tools, through the gate, for every agent that speaks it.
//!
//! ```text
//! stdio.rs     one client on standard input and output      pipe.rs  its lines
//! http.rs      many clients over Streamable HTTP
//!   │
//! server.rs    what a client can ask: tools, calls, resources    hall.rs  where all doors lead
//!   │                                                        news.rs  what it is told of
//! passing.rs   a request of any kind as a call            reading.rs  for prompts and resources
//!   │
//! call.rs      a call on its way through the gate            approver.rs, asked.rs  asking
//!   │                                                        parked.rs  waiting for an answer
//! answer.rs    the reply as a result
//!   │
//! gateway.rs   other people's servers, their tools as ours
//! ```
//!
//! Two eras of the protocol are alive, and both are spoken on every connection. Up to 2025-11-25
//! a client begins with `initialize`, and the server asks a person with a request of its own. From
//! 2026-07-28 every request carries what it needs, and the server asks by *answering*: the client
//! puts the question to the person and makes the same request again, with the answer and a sealed
//! ticket. The call itself waits in the gate meanwhile (`parked.rs`).

// What is deprecated in the newer era is alive in the older one.
#![expect(deprecated, reason = "roots, sampling, logging and subscriptions are passed on")]

mod answer;
mod approver;
mod asked;
mod call;
mod catalogue;
mod conversation;
mod gateway;
mod hall;
mod http;
mod kept;
mod lines;
mod news;
mod opening;
mod own;
mod parked;
mod passing;
mod pipe;
mod question;
mod reading;
mod server;
mod stdio;

pub use approver::ThroughClient;
pub use call::Patience;
pub use gateway::{
    About, Condition, Definition, Difference, Flag, Gateway, Hindered, Keys, LONGEST_NAME,
    Launched, Launcher, Login, Pinned, Pins, Process, Terms, ToolSeen, World, tool_name,
};
pub use http::{Http, serve_http};
pub use opening::{Opened, Opening};
pub use own::Approve;
pub use stdio::serve_stdio;
