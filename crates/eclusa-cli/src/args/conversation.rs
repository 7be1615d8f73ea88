//! Arguments of the commands about models and conversations with them.

use clap::{Args as Group, Subcommand, ValueEnum};

const FEED_EXAMPLES: &str = "\
Examples:
  fetch-answer | eclusa feed                    `tool` blocks in text, `tool_result` blocks back
  eclusa feed --shape anthropic < message.json  a whole response, or the events of a stream
  eclusa tools --shape anthropic                the declarations for the request

For programs that talk to a model themselves: the calls in its answer pass the gate, and the results
are printed in the shape that the same model expects in the next request. Exit codes: 0 every call did
what was asked, 1 one failed, 3 one was refused, 130 a person ended the turn.";

/// The commands about models and conversations.
#[derive(Debug, Subcommand)]
pub(crate) enum ConversationCommand {
    /// Pass the calls in a model's answer, from stdin, and print the results for the model
    #[command(after_help = FEED_EXAMPLES)]
    Feed(FeedArgs),
}

/// How a model's answer is read.
#[derive(Debug, Group)]
pub(crate) struct FeedArgs {
    /// The shape of the answer, and of the results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) shape: WireShape,
    /// The session that the calls belong to, for the log and for undo
    #[arg(long, value_name = "NAME", default_value = "feed")]
    pub(crate) session: String,
    /// Which turn of the session it is: what one turn changed can be undone together
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) turn: u64,
}

/// The shape in which a model asks for tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WireShape {
    /// `tool` blocks in text, for models without native calls
    #[default]
    Fenced,
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Responses
    Openai,
    /// OpenAI Chat Completions, and what is compatible with it
    OpenaiChat,
    /// Gemini
    Gemini,
}
