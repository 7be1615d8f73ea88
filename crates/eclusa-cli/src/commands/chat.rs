//! `eclusa chat`: a conversation with a model, on the screen or in plain lines.

use std::io::{IsTerminal, Write};

use super::{ask::unopened, model_choice, session_setup, sessions};
use crate::{
    args::{ChatArgs, Global},
    failure::{Exit, Failure},
    screen::{Paint, Style},
};

mod hand_over;
mod live;
mod open_chat;
mod person_call;
mod plain;
mod signals;
mod slash;

use open_chat::{ChatChoice, OpenChat};

pub(super) async fn run(global: &Global, args: ChatArgs) -> Result<Exit, Failure> {
    let choice = ChatChoice {
        model: args.model,
        persona: args.persona,
        mode: global.mode,
        resume: args.resume,
        last: args.last,
    };
    let first = args.words.join(" ");
    let plain = args.plain || !has_screen();
    let (exit, id) = match plain {
        true => plain::run(global, choice, first).await?,
        false => live::run(global, choice, first).await?,
    };
    let Some(id) = id else { return Ok(exit) };
    let paint = Paint::on(&std::io::stderr());
    let line = format!("session {id}: go on with `eclusa chat --resume {id}`");
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
