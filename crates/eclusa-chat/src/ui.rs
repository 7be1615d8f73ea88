//! What a person has of conversations: `eclusa chat` on the screen and in plain lines, `ask` and `feed` for
//! scripts, `models` and `sessions`.
//!
//! It uses the conversation, which does not know it. The options of each command stand beside what the command does.

use eclusa_app::{
    context, gates, global, open_model, person, read_text, reply, reviewers, servers, signals,
    surface, telemetry, undo,
};
use eclusa_term::{failure, screen, since, terminal, timestamp};

use crate::{archive, transcript_spool};

pub mod ask;
mod call_line;
pub mod chat;
mod chat_screen;
mod event_line;
pub mod feed;
mod model_choice;
pub mod models;
mod session_setup;
pub mod sessions;
