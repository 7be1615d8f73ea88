//! Arguments of the commands about models and conversations with them.

use clap::Subcommand;
use eclusa_chat::ui::{
    ask::{self, AskArgs},
    chat::{self, ChatArgs},
    feed::{self, FeedArgs},
    models::ModelsCommand,
    sessions::{self, SessionsSubcommand},
};

/// The commands about models and conversations.
#[derive(Debug, Subcommand)]
pub(crate) enum ConversationCommand {
    /// Pass the calls in a model's answer, from stdin, and print the results for the model
    #[command(after_help = feed::EXAMPLES)]
    Feed(FeedArgs),
    /// Ask a model to do one job, and print its answer
    #[command(after_help = ask::EXAMPLES)]
    Ask(AskArgs),
    /// Talk with a model; its calls pass the gate
    #[command(after_help = chat::EXAMPLES)]
    Chat(ChatArgs),
    /// List the models and personas of the configuration, and try one
    Models {
        #[command(subcommand)]
        what: Option<ModelsCommand>,
    },
    /// List the personas: how a model is asked to behave, and what it is kept to
    Personas,
    /// List, show, search, resume, copy and hand over sessions with models
    #[command(after_help = sessions::EXAMPLES)]
    Sessions {
        #[command(subcommand)]
        what: Option<SessionsSubcommand>,
    },
}
