//! `eclusa chat`: a conversation with a model, on the screen or in plain lines.

use std::io::{IsTerminal, Write};

use clap::Args;

use super::{model_choice, sessions};
use crate::ui::{
    failure::{Exit, Failure},
    global::Global,
    screen::{Paint, Style},
};

mod hand_over;
mod open_chat;
mod person_call;
mod plain;
mod screen_chat;
mod signals;
mod slash;

use open_chat::{ChatChoice, OpenChat};

/// Examples, for its help.
const EXAMPLES: &str = "\
Examples:
  eclusa chat                                   with the model of the configuration
  eclusa chat --model script:FILE               without a network
  eclusa chat --last                            resume the latest session
  eclusa chat --plain                           labelled lines, for screen readers

Enter sends, Alt+Enter or Ctrl+J begins a new line. While the model works, Enter queues your words for its \
next request, Tab for after the turn, and Up takes them back. Esc interrupts. Questions appear when \
calls need them. Ctrl+G opens the input in your editor, Ctrl+T the transcript, Ctrl+O the last output. \
/help lists the commands; Ctrl+C twice leaves, and the session is kept.";

/// Talk with a model; its calls pass the gate
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ChatArgs {
    /// The first words
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// The model: a name of the configuration, or `script:FILE`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The persona [default: coder]
    #[arg(long, value_name = "NAME")]
    pub persona: Option<String>,
    /// Resume a session
    #[arg(long, value_name = "ID", conflicts_with = "last")]
    pub resume: Option<String>,
    /// Resume the latest session of this workspace
    #[arg(long)]
    pub last: bool,
    /// Labelled lines without motion; the default without a terminal and for TERM=dumb
    #[arg(long)]
    pub plain: bool,
    /// With `--dry-run`: apply the plan as one call, once everybody whom the rules name has approved
    #[arg(long)]
    pub apply: bool,
}

/// Talks with the model until the person leaves.
pub async fn run(global: &Global, args: ChatArgs) -> Result<Exit, Failure> {
    let choice = ChatChoice {
        model: args.model,
        persona: args.persona,
        mode: global.mode,
        keep_mode: false,
        resume: args.resume,
        last: args.last,
    };
    let first = args.words.join(" ");
    let plain = args.plain || !has_screen();
    let (exit, id) = match plain {
        true => plain::run(global, choice, first).await?,
        false => screen_chat::run(global, choice, first).await?,
    };
    let Some(id) = id else { return Ok(exit) };
    let paint = Paint::on(&std::io::stderr());
    let line = format!("session {id}: resume it with `eclusa chat --resume {id}`");
    writeln!(std::io::stderr(), "{}", paint.text(Style::Faint, &line))?;
    Ok(exit)
}

/// Whether there is a terminal that can be drawn on, and a person who types at it.
fn has_screen() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
    let terminals = [
        std::io::stdin().is_terminal(),
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    ];
    !dumb && terminals.iter().all(|it| *it)
}
