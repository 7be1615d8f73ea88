//! Models: what is sent to one, what it answers, and how both are written on each wire.
//!
//! A [`Model`] gets a request and gives a reply. [`HttpModel`] asks a service on one of its wires;
//! [`ScriptModel`] reads its replies from a file. No terminal, no environment: the program brings keys.

mod http;
pub mod limits;
pub mod measure;
mod message_cache;
pub mod model;
pub mod retry;
mod script;
mod thinker;
pub mod turn;
mod wire;

pub use http::{HttpModel, ReplyReader, sse::EventReader};
pub use limits::{TurnLimits, money};
pub use model::Model;
pub use script::ScriptModel;
pub use thinker::{ModelThinker, read_report};
pub use wire::{WireSettings, default_url, headers, in_words};
