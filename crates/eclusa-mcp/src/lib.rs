//! The Model Context Protocol: our tools, through the gate, for every agent that speaks it.
//!
//! ```text
//! server/     what clients connect to: transports, dispatch, calls, answers
//!   │
//! gateway/    other people's servers, their tools as ours
//!   │
//! client.rs   the client of a call: what it can do, how it is asked and told
//! era.rs      which generation of the protocol a peer speaks: decided here and nowhere else
//! lines.rs    lines on a pipe                call_messages.rs  what is on them, for the usual call
//! uris.rs     addresses of our own resources
//! ```
//!
//! Two eras of the protocol are alive, and both are spoken on every connection. Up to 2025-11-25
//! ([`Era::Legacy`]) a client begins with `initialize`, and the server asks a person with a request
//! of its own. From 2026-07-28 ([`Era::Stateless`]) every request carries what it needs, and the
//! server asks by *answering*: the client puts the question to the person and makes the same request
//! again, with the answer and a sealed ticket. The call itself waits in the gate meanwhile
//! (`server/pending.rs`).

// What is deprecated in the newer era is alive in the older one.
#![expect(deprecated, reason = "roots, sampling, logging and subscriptions are passed on")]

mod call_messages;
mod client;
mod era;
mod gateway;
mod lines;
mod server;
mod uris;

pub use client::{ThroughClient, client_opens_addresses, open_address};
pub use era::Era;
pub use gateway::{
    Credentials, DefinitionChange, DefinitionFlag, DeniedAccess, Gateway, GatewaySetup,
    LaunchedServer, Launcher, ListedTool, Login, LoginOptions, MAX_NAME_LENGTH, PinStore,
    PinnedDefinitions, ServerInfo, ServerProcess, ServerStatus, ToolDefinition, tool_name,
};
pub use server::{
    Approve, Http, SERVER_TOOLS, StartedGate, Startup, WaitLimits, serve_http, serve_stdio,
};
