//! Arguments of the commands about models and conversations with them.

use std::path::PathBuf;

use clap::{Args as Group, Subcommand, ValueEnum};

const FEED_EXAMPLES: &str = "\
Examples:
  fetch-answer | eclusa feed                    `tool` blocks in text, `tool_result` blocks back
  eclusa feed --shape anthropic < message.json  a whole response, or the events of a stream
  eclusa tools --shape anthropic                the declarations for the request

For programs that talk to a model themselves: the calls in its answer pass the gate, and the results \
are printed in the shape that the same model expects in the next request. Exit codes: 0 every call did \
what was asked, 1 one failed, 3 one was refused, 130 a person ended the turn.";

const ASK_EXAMPLES: &str = "\
Examples:
  eclusa ask 'fix the failing test'
  git diff | eclusa ask 'review this'           what is piped in counts as text from outside
  eclusa ask --json 'what does main do?'        one object: text, calls, refusals, cost
  eclusa ask --jsonl --answers stdin 'tidy up'  events out, answers to questions in
  eclusa ask --resume k3f9q2 'and the docs'     go on with a session
  eclusa ask --resume k3f9q2                    take up calls that somebody has approved since
  eclusa ask --model script:FILE 'hello'        without a network

Every call of the model passes the gate. Exit codes: 0 done, 1 the model or the log failed, 3 a call was \
refused because nobody could be asked (with --strict: any refusal), 4 not finished and can be resumed \
(a limit, or a call that waits for an approval), 130 interrupted.";

const CHAT_EXAMPLES: &str = "\
Examples:
  eclusa chat                                   with the model of the configuration
  eclusa chat --model script:FILE               without a network
  eclusa chat --last                            go on with the latest session
  eclusa chat --plain                           labelled lines, for screen readers

Enter sends, Alt+Enter or Ctrl+J begins a new line. While the model works, Enter queues your words for its \
next request, Tab for after the turn, and Up takes them back. Esc interrupts. Questions are asked where \
calls need them. Ctrl+G opens the input in your editor, Ctrl+T the transcript, Ctrl+O the last output. \
/help lists the commands; Ctrl+C twice leaves, and the session is kept.";

const ADD_MODEL_EXAMPLES: &str = "\
Examples:
  eclusa models add anthropic                   which models there are
  eclusa models add anthropic --model NAME --name pro
  eclusa models add http://localhost:8080 --model NAME --name local

No key is written down: the configuration names the variable that holds it.";

const SESSIONS_EXAMPLES: &str = "\
Examples:
  eclusa sessions                               the latest of this workspace
  eclusa sessions resume                        go on with the latest
  eclusa sessions show k3f9q2 --check           as Markdown, and compared with the log
  eclusa sessions fork k3f9q2 --at 3 --undo     another way from turn 3, files included
  eclusa sessions export --format html > s.html
  eclusa sessions search migration
  eclusa sessions import codex FILE             what was said to another agent, as text from outside

Sessions are kept in the store of the workspace. Each is open in one process at a time.";

/// The commands about models and conversations.
#[derive(Debug, Subcommand)]
pub(crate) enum ConversationCommand {
    /// Pass the calls in a model's answer, from stdin, and print the results for the model
    #[command(after_help = FEED_EXAMPLES)]
    Feed(FeedArgs),
    /// Ask a model to do one job, and print its answer
    #[command(after_help = ASK_EXAMPLES)]
    Ask(AskArgs),
    /// Talk with a model; its calls pass the gate
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(ChatArgs),
    /// List the models and personas of the configuration, and try one
    Models {
        #[command(subcommand)]
        what: Option<ModelsCommand>,
    },
    /// List the personas: how a model is asked to behave, and what it is kept to
    Personas,
    /// List, show, search, resume, copy and hand over sessions with models
    #[command(after_help = SESSIONS_EXAMPLES)]
    Sessions {
        #[command(subcommand)]
        what: Option<SessionsSubcommand>,
    },
}

/// A conversation with a model.
#[derive(Debug, Default, Group)]
pub(crate) struct ChatArgs {
    /// The first words
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// The model: a name of the configuration, or `script:FILE`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The persona [default: coder]
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<String>,
    /// Go on with a session
    #[arg(long, value_name = "ID", conflicts_with = "last")]
    pub(crate) resume: Option<String>,
    /// Go on with the latest session of this workspace
    #[arg(long)]
    pub(crate) last: bool,
    /// Labelled lines without motion; the default where there is no terminal, and for TERM=dumb
    #[arg(long)]
    pub(crate) plain: bool,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List them (default)
    List,
    /// Ask a model for one word
    Test {
        /// The model
        name: String,
    },
    /// Add a model to your configuration; without `--model`: which ones the server has
    #[command(after_help = ADD_MODEL_EXAMPLES)]
    Add(AddModelArgs),
}

/// A model to be added.
#[derive(Debug, Group)]
pub(crate) struct AddModelArgs {
    /// `anthropic`, `openai`, `gemini`, or the address of a server that speaks OpenAI Chat
    pub(crate) server: String,
    /// What the server calls the model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What you call it [default: main]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The variable that holds the key [default: the provider's usual one]
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) key_env: Option<String>,
}

/// One job for a model.
#[derive(Debug, Group)]
pub(crate) struct AskArgs {
    /// What to do; what is piped in comes with it, as text from outside
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// The model: a name of the configuration, or `script:FILE`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The persona [default: coder]
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<String>,
    /// Go on with a session
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Print every event as a line of JSON, the last being what `--json` prints
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Where questions are answered besides the terminal: as lines of JSON on stdin
    #[arg(long, value_enum, value_name = "WHERE", requires = "jsonl")]
    pub(crate) answers: Option<AnswerSource>,
    /// End with exit code 3 when any call was refused, also by a rule
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Where questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerSource {
    /// `{"binding": …, "answer": "once|session|no|abort", "reason": …}`, one a line
    Stdin,
}

/// What to do with sessions, in a chat or outside.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsSubcommand {
    /// Go on with a session in a chat
    Resume {
        /// The session [default: the latest]
        id: Option<String>,
        /// Another model than the session's
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Labelled lines without motion, as `eclusa chat --plain`
        #[arg(long)]
        plain: bool,
    },
    #[command(flatten)]
    Kept(SessionsCommand),
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this workspace, the latest first (default)
    List {
        /// All of them, not only the latest
        #[arg(long)]
        all: bool,
    },
    /// Show a session as Markdown
    Show {
        /// The session [default: the latest]
        id: Option<String>,
        /// With the model's reasoning
        #[arg(long)]
        thoughts: bool,
        /// Compare every output with its digest in the log
        #[arg(long)]
        check: bool,
    },
    /// Copy a session up to a turn, to try another way
    Fork {
        /// The session
        id: String,
        /// The last turn of the copy [default: the last there is]
        #[arg(long, value_name = "TURN")]
        at: Option<u64>,
        /// Also undo what later turns changed in the workspace, or nothing at all
        #[arg(long)]
        undo: bool,
    },
    /// Read what was said to another agent, as a session from outside
    Import {
        /// Whose file it is
        #[arg(value_enum)]
        from: ImportSource,
        /// The file: `~/.claude/projects/*/*.jsonl`, `~/.codex/sessions/**/*.jsonl`
        file: PathBuf,
    },
    /// Print a session for somebody else
    Export {
        /// The session [default: the latest]
        id: Option<String>,
        /// The format
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// With the model's reasoning
        #[arg(long)]
        thoughts: bool,
    },
    /// Find words in all sessions
    Search {
        /// The words: all of them must be in one entry
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Remove a session; what its calls did stays in the log
    Rm {
        /// The session
        id: String,
    },
}

/// Whose sessions can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportSource {
    /// A session of Claude Code
    ClaudeCode,
    /// A rollout of Codex
    Codex,
}

/// The formats of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Markdown, calls and results as blocks
    #[default]
    Md,
    /// One object with all entries
    Json,
    /// One entry a line
    Jsonl,
    /// One page, without scripts
    Html,
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
