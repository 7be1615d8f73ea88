//! Picking files: each is shown alone, and the person says yes or no to it.

use std::{io, path::PathBuf};

use eclusa::{Answer, one_line};

use super::prompt::{NO_ANSWER, Prompt};
use crate::screen::{Style, diff_view::DiffView, layout};

/// Of so many files that are left out the names are told.
const MAX_NAMED: usize = 10;

const PICK_HELP: &str = "Please type y or n; a: this file and all the rest, d: neither this file nor \
the rest, q: back to the question, where `p` continues here";

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

impl Prompt {
    /// The files that can be picked, where there is more than one.
    pub(super) fn choices_of_files(&self) -> &[(PathBuf, String)] {
        let choices = self.question.preview().map_or(&[][..], |it| &it.choices);
        if choices.len() > 1 { choices } else { &[] }
    }

    /// Asks about one file after the other. `None`: the person went back to the whole question; what they said so far
    /// is kept for the next time.
    pub(super) fn pick(&mut self) -> io::Result<Option<Answer>> {
        let choices = self.choices_of_files().to_vec();
        let all = choices.len();
        while let Some((path, shown)) = choices.get(self.picks.len()) {
            let name = one_line(&path.to_string_lossy());
            self.say(Style::Plain, "")?;
            self.show_file(shown)?;
            let at = self.picks.len() + 1;
            let prompt = format!("Apply `{name}` ({at} of {all})? [y/n/a/d/q/?] ");
            let left = all - self.picks.len();
            loop {
                let Some(line) = self.read(&prompt)? else {
                    return Ok(Some(Answer::No(NO_ANSWER.to_owned())));
                };
                let picked = match line.to_lowercase().as_str() {
                    "y" | "yes" => vec![true],
                    "n" | "no" => vec![false],
                    "a" => vec![true; left],
                    "d" => vec![false; left],
                    "q" => {
                        if !self.picks.is_empty() {
                            let text = format!(
                                "Kept your answers for {}; `p` continues at `{name}`",
                                files(at - 1)
                            );
                            self.say(Style::Faint, &text)?;
                        }
                        return Ok(None);
                    }
                    _ => {
                        self.say(Style::Warn, PICK_HELP)?;
                        continue;
                    }
                };
                self.picks.extend(picked);
                break;
            }
        }
        let said = std::mem::take(&mut self.picks);
        let part = |wanted: bool| {
            let some = choices.iter().zip(&said).filter(move |it| *it.1 == wanted);
            some.map(|it| it.0.0.clone()).collect::<Vec<PathBuf>>()
        };
        let (picked, declined) = (part(true), part(false));
        match (picked.is_empty(), declined.is_empty()) {
            (_, true) => Ok(Some(Answer::Once)),
            (true, false) => Ok(Some(self.no()?)),
            (false, false) => {
                let named: Vec<String> = declined
                    .iter()
                    .take(MAX_NAMED)
                    .map(|it| one_line(&it.to_string_lossy()))
                    .collect();
                let more = match declined.len().saturating_sub(MAX_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let text = format!("To be discarded: {}{more}", named.join(", "));
                self.say(Style::Warn, &text)?;
                let prompt =
                    format!("Apply {} of {all} and discard the rest? [y/n] ", picked.len());
                let answer = self.read(&prompt)?.unwrap_or_default().to_lowercase();
                let yes = ["y", "yes"].contains(&answer.as_str());
                Ok(yes.then_some(Answer::Only(picked)))
            }
        }
    }

    /// What becomes of one file, as much as fits the screen.
    fn show_file(&self, shown: &str) -> io::Result<()> {
        let lines: Vec<&str> = shown.lines().collect();
        let room = self.rows.map_or(lines.len(), |rows| rows.saturating_sub(4).max(5));
        let some: Vec<&str> = lines.iter().take(room).copied().collect();
        let view = DiffView::of_width(self.paint, self.columns).indented(2);
        for line in view.lines(&some.join("\n")) {
            self.write_line(&format!("  {line}"))?;
        }
        if lines.len() > room {
            let text = format!("… {} more lines (`q`, then `d` shows all)", lines.len() - room);
            self.write_line(&self.paint.text(Style::Warn, &layout::cut(&text, self.columns)))?;
        }
        Ok(())
    }
}
