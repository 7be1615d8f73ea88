//! What a model is: a request in, a stream of pieces out, and one whole reply or none at all.

use std::{sync::Arc, time::Duration};

use eclusa::{Incoming, Wire, parse::ToolAnswer};
use futures::future::BoxFuture;
use serde_json::Value;

/// A model that can be asked. What it is asked is a pure function of the request, so that the same
/// request has the same bytes, and is on record before it is sent.
pub trait Model: Send + Sync {
    /// What is known of it.
    fn profile(&self) -> &ModelProfile;

    /// The body of the request, byte for byte.
    fn body(&self, request: &ModelRequest) -> Vec<u8>;

    /// Sends a body, tells each piece as it comes, and gives the whole reply. An error means that
    /// nothing of what was told counts.
    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

/// What is known of a model.
#[derive(Debug, Clone)]
pub struct ModelProfile {
    /// What the configuration calls it.
    pub name: String,
    /// What its server calls it.
    pub model: String,
    /// The wire that it speaks; blocks go back to the same wire and model only.
    pub wire: &'static str,
    /// The host that requests go to; empty where they do not leave this process.
    pub host: String,
    /// The wire whose native calls it has. `None`: `tool` blocks, taught by text.
    pub declares: Option<Wire>,
    /// How many tokens it can look at, and how many of them it may write.
    pub window: u64,
    /// How many tokens it may write in one reply.
    pub output: u64,
    /// Whether it looks at pictures.
    pub images: bool,
    /// What it costs, if that is known.
    pub price: Option<Price>,
}

/// What a million tokens cost, in millionths of the currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Read anew.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into the provider's cache.
    pub cache_write: u64,
    /// Such as `USD`.
    pub currency: String,
}

impl Price {
    /// What so much costs, in millionths, rounded up.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let total: u128 = parts.iter().map(|(n, price)| u128::from(*n) * u128::from(*price)).sum();
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read, and not from a cache.
    pub input: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_write: u64,
    /// Written, reasoning included.
    pub output: u64,
    /// Of those, reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Everything that was read.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Everything.
    pub fn total(&self) -> u64 {
        self.read().saturating_add(self.output)
    }

    /// Both together.
    pub fn add(&mut self, other: &Usage) {
        let pairs = [
            (&mut self.input, other.input),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.output, other.output),
            (&mut self.reasoning, other.reasoning),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What a model is asked.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The system text.
    pub system: String,
    /// The conversation so far. A message that was in an earlier request is the same `Arc`, so that a
    /// model need not write it again.
    pub messages: Vec<Arc<ViewMessage>>,
    /// The tools, declared in the shape that the model wants; with [`ModelProfile::declares`]
    /// `None` they are in the system text.
    pub tools: Option<Arc<Value>>,
    /// The conversation, for the provider's cache.
    pub conversation: String,
    /// How many messages of the model there have been, those that are no longer shown included.
    pub replies_so_far: u64,
}

/// One message, as a model is shown it.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewMessage {
    /// The person's, or something that is told in the person's place.
    User {
        /// The words.
        text: String,
        /// Pictures: type and bytes.
        pictures: Vec<(String, Arc<[u8]>)>,
    },
    /// The model's own.
    Assistant {
        /// The words.
        text: String,
        /// What it asked for: id, tool, arguments.
        calls: Vec<ViewCall>,
        /// What it sent, where it was this very model on this very wire.
        blocks: Option<Arc<Value>>,
    },
    /// The answers to its calls, in their order.
    Answers(Vec<ToolAnswer>),
}

/// A call, as its model is shown it again.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewCall {
    /// The model's id for it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub args: Value,
}

/// A piece of a reply, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Words.
    Text(String),
    /// Reasoning.
    Thought(String),
}

/// A whole reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelReply {
    /// The words, without the calls.
    pub text: String,
    /// The reasoning, as far as it was told.
    pub thoughts: Option<String>,
    /// What it asks for.
    pub asked: Vec<Incoming>,
    /// What it sent, to be sent back as it is.
    pub blocks: Option<Value>,
    /// Why it stopped.
    pub why: StopReason,
    /// What it cost.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StopReason {
    /// It has said what it wanted to say.
    #[default]
    Done,
    /// It waits for the answers to its calls.
    Calls,
    /// The provider wants to be asked to go on.
    Paused,
    /// It had written as much as it may.
    Length,
    /// It, or its provider, refuses.
    Refused,
    /// There is no more room in its window.
    Window,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ModelError {
    /// One sentence.
    pub what: String,
    /// What can be done about it.
    pub kind: ModelErrorKind,
}

/// What can be done about a reply that did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Ask again, after this time if the server named one.
    Retry(Option<Duration>),
    /// The request does not fit the window.
    TooLong,
    /// Nothing: asking again would give the same.
    Final,
}

impl ModelError {
    /// Asking again may help.
    pub fn retry(what: impl Into<String>, after: Option<Duration>) -> ModelError {
        ModelError { what: what.into(), kind: ModelErrorKind::Retry(after) }
    }

    /// A shorter request may help.
    pub fn too_long(what: impl Into<String>) -> ModelError {
        ModelError { what: what.into(), kind: ModelErrorKind::TooLong }
    }

    /// Asking again does not help.
    pub fn fatal(what: impl Into<String>) -> ModelError {
        ModelError { what: what.into(), kind: ModelErrorKind::Final }
    }
}
