//! `/rewind`: back to before a turn, with what it and later ones changed in the workspace.

use super::{AfterCommand, CommandContext, say};
use crate::ui::{
    failure::{Exit, Failure},
    screen::sanitize,
    sessions,
    terminal::Terminal,
    undo::{self, UndoArgs},
};
use crate::{ItemBody, TranscriptItem};

impl CommandContext<'_> {
    /// Without a turn: which there are.
    pub(super) async fn rewind(&self, turn: &str) -> Result<AfterCommand, Failure> {
        let (_, items) = sessions::read(&self.chat.archive, Some(&self.chat.id)).await?;
        let turns = turns(&items);
        if turn.is_empty() {
            for (turn, words) in &turns {
                say(&format!("{turn:>4}  {}", first_line(words)))?;
            }
            say("`/rewind TURN` goes back to before it")?;
            return Ok(AfterCommand::GoOn);
        }
        let found =
            turn.parse().ok().and_then(|it: u64| turns.iter().find(|(turn, _)| *turn == it));
        let Some((turn, words)) = found else {
            return Err(Failure::usage(format!("there is no turn `{}`", sanitize(turn)))
                .hint("`/rewind` lists them"));
        };
        let calls = sessions::changed_after(&self.chat.ctx, &items, turn - 1)?;
        let changes = match calls.is_empty() {
            true => "no change in the workspace is undone".to_owned(),
            false => {
                let plan =
                    self.chat.ctx.workspace()?.would_undo(&calls).map_err(Failure::failed)?;
                let paths: Vec<String> =
                    plan.paths.iter().map(|it| sanitize(&it.display().to_string())).collect();
                format!("undoes {}: {}", numbered(calls.len()), paths.join(", "))
            }
        };
        say(&format!("turn {turn}: {}", first_line(words)))?;
        say(&format!("going back to before it {changes}"))?;
        let terminal = Terminal::new(true, None);
        match terminal.confirm("Go back? [y/n] ") {
            Ok(true) => {}
            Ok(false) => return Ok(AfterCommand::GoOn),
            Err(why) => return Err(Failure::refused(format!("nobody can be asked: {why}"))),
        }
        if !calls.is_empty() {
            let these = UndoArgs { calls, ..UndoArgs::default() };
            if undo::run(&self.chat.ctx, these, false).await? != Exit::Done {
                return Ok(AfterCommand::GoOn);
            }
        }
        let copy = sessions::copy(&self.chat.archive, &self.chat.id, Some(turn - 1)).await?;
        say(&format!(
            "rewound to before turn {turn} (new session {copy}; {} keeps all of it)",
            self.chat.id
        ))?;
        // Files that came with them are read again when they are sent again.
        let typed = words.split("\n\n[the file ").next().unwrap_or_default();
        Ok(self.elsewhere(Some(copy), typed.to_owned()))
    }
}

/// The turns, with the words that began them.
fn turns(items: &[TranscriptItem]) -> Vec<(u64, String)> {
    let mut turns: Vec<(u64, String)> = Vec::new();
    for item in items {
        if let ItemBody::Person { text, .. } = &item.body
            && item.turn > 0
            && turns.last().is_none_or(|(turn, _)| *turn != item.turn)
        {
            turns.push((item.turn, text.clone()));
        }
    }
    turns
}

fn first_line(words: &str) -> String {
    let line = words.lines().next().unwrap_or_default();
    sanitize(&line.chars().take(70).collect::<String>())
}

fn numbered(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}
