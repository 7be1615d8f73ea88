//! What clients connect to: our tools, and those of the servers behind the gate.
//!
//! ```text
//! stdio.rs     one client on standard input and output      pipe.rs  its lines
//! http.rs      many clients over Streamable HTTP
//!   │
//! handler.rs   what a client can ask: tools, calls, resources   state.rs  what connections share
//! info.rs      what is said about the server itself
//!   │                                                        notifications.rs  what it is told
//! dispatch.rs  a request of any kind as a call               prompts_and_resources.rs
//!   │
//! call.rs      a call on its way through the gate            pending.rs  waiting for an answer
//!   │                                                        tasks.rs    the same as a task
//!   │
//! answer.rs    the reply as a result                         own_resources.rs, server_tools.rs
//! ```

mod answer;
mod call;
mod catalogue;
mod dispatch;
mod handler;
mod http;
mod info;
mod methods;
mod notifications;
mod own_resources;
mod peer;
mod pending;
mod pipe;
mod prompts_and_resources;
mod server_tools;
mod session;
mod startup;
mod state;
mod stdio;
mod task_requests;
mod tasks;
mod tool_calls;

pub use call::WaitLimits;
#[cfg(test)]
pub(crate) use handler::Server;
pub use http::{Http, serve_http};
#[cfg(test)]
pub(crate) use pipe::Pipe;
pub use server_tools::{Approve, SERVER_TOOLS};
pub use startup::{StartedGate, Startup};
#[cfg(test)]
pub(crate) use state::ServerState;
pub use stdio::serve_stdio;
