//! The conversation with a model: write down, then act; act, then write down.
//!
//! A [`Conversation`] asks a [`Model`](eclusa_models::Model), keeps what it said, passes its calls through the gate of
//! `eclusa`, keeps each answer, and asks again. Everything is kept in a [`TranscriptStore`] before what
//! follows from it, so that a session can be resumed after a kill at any point without repeating an
//! effect. Whoever watches gets [`AgentEvent`]s; whoever speaks meanwhile has a [`ConversationHandle`].
//!
//! The conversation knows no terminal, no database and no environment. [`ui`] is the part of the program `eclusa` that
//! brings them: its commands, the screen, and the [`Archive`] in the store of the workspace.

use eclusa_models::{limits, model, retry};

mod archive;
mod context;
mod conversation;
mod events;
mod item;
mod persona;
mod task;
mod task_parent;
mod timestamp;
pub mod transcript;
mod transcript_spool;
pub mod ui;

pub use archive::Archive;
pub use context::{SystemText, project_words, system_text};
pub use conversation::{
    Conversation, ConversationHandle, ConversationSetup, OpenError, UserMessage, WaitingCall, fork,
    keep_import,
};
pub use events::{AgentEvent, CallOutcome, TurnEnd, TurnReport};
pub use item::{AnswerItem, ItemBody, PictureRef, TaskOrigin, TranscriptItem};
pub use persona::Persona;
pub use task::{TaskRole, TaskTool};
pub use transcript::{TranscriptHead, TranscriptStore};
