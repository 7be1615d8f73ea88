//! The wires of models.

/// How a model's API writes messages, tools and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Openai,
    /// OpenAI Chat Completions, and what is compatible with it.
    OpenaiChat,
    /// Gemini.
    Gemini,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat, Wire::Gemini];

    /// The word for it in configurations and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::Openai => "openai",
            Wire::OpenaiChat => "openai-chat",
            Wire::Gemini => "gemini",
        }
    }
}
