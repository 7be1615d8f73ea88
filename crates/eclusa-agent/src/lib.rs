//! The conversation with a model: write down, then act; act, then write down.
//!
//! A [`Conversation`] asks a [`Model`], keeps what it said, passes its calls through the gate of
//! `eclusa`, keeps each answer, and asks again. Everything is kept in a [`TranscriptStore`] before what
//! follows from it, so that a session can be resumed after a kill at any point without repeating an
//! effect. Whoever watches gets [`AgentEvent`]s; whoever speaks meanwhile has a [`ConversationHandle`].
//!
//! No terminal, no database, no environment: the program brings them.

mod context;
mod conversation;
mod events;
mod http;
mod item;
mod limits;
mod message_cache;
pub mod model;
mod persona;
mod retry;
mod script;
mod task;
mod task_parent;
mod thinker;
mod timestamp;
pub mod transcript;
mod wire;

pub use context::{SystemText, project_words, system_text};
pub use conversation::{
    Conversation, ConversationHandle, ConversationSetup, OpenError, UserMessage, WaitingCall, fork,
    keep_import,
};
pub use events::{AgentEvent, CallOutcome, TurnEnd, TurnReport};
pub use http::{HttpModel, ReplyReader};
pub use item::{AnswerItem, ItemBody, PictureRef, TaskOrigin, TranscriptItem};
pub use limits::{TurnLimits, money};
pub use model::Model;
pub use persona::Persona;
pub use script::ScriptModel;
pub use task::{TaskRole, TaskTool};
pub use thinker::{ModelThinker, read_report};
pub use transcript::{ConversationHead, MemoryTranscripts, TranscriptStore};
pub use wire::{Thinking, WireKind, WireSettings};
