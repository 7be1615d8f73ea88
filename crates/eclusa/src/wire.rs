//! The wires of models.

use crate::words;

/// How a model's API writes messages, tools and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Openai,
    /// OpenAI Chat Completions and compatible servers.
    OpenaiChat,
    /// Gemini.
    Gemini,
}

words! {
    Wire, "a wire":
    Anthropic = "anthropic",
    Openai = "openai",
    OpenaiChat = "openai-chat",
    Gemini = "gemini",
}
