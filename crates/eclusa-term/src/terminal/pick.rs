//! Picking files: each is shown alone, and the person says yes or no to it.

use std::{io, path::PathBuf};

use eclusa::{Answer, one_line};

use super::prompt::{NO_ANSWER, Prompt};
use crate::screen::{Style, layout};

impl Prompt {
    /// The files that can be picked, where there is more than one.
    pub(super) fn choices_of_files(&self) -> &[(PathBuf, String)] {
        let choices = self.question.preview().map_or(&[][..], |it| &it.choices);
        if choices.len() > 1 { choices } else { &[] }
    }

    /// Asks about one file after the other. `None`: the person went back to the whole question.
    pub(super) fn pick(&mut self) -> io::Result<Option<Answer>> {
        let choices = self.choices_of_files().to_vec();
        let (mut picked, mut declined) = (Vec::new(), Vec::new());
        for (number, (path, shown)) in choices.iter().enumerate() {
            let name = one_line(&path.to_string_lossy());
            self.say(Style::Plain, "")?;
            self.show_file(shown)?;
            let prompt = format!("Apply `{name}` ({} of {})? [y/n/q] ", number + 1, choices.len());
            loop {
                let Some(line) = self.read(&prompt)? else {
                    return Ok(Some(Answer::No(NO_ANSWER.to_owned())));
                };
                match line.to_lowercase().as_str() {
                    "y" | "yes" => picked.push(path.clone()),
                    "n" | "no" => declined.push(name.clone()),
                    "q" => return Ok(None),
                    _ => {
                        self.say(Style::Warn, "Please type y or n (q: back to the question)")?;
                        continue;
                    }
                }
                break;
            }
        }
        match (picked.is_empty(), declined.is_empty()) {
            (_, true) => Ok(Some(Answer::Once)),
            (true, false) => Ok(Some(self.no()?)),
            (false, false) => {
                let text = format!("To be discarded: {}", declined.join(", "));
                self.say(Style::Warn, &text)?;
                let (some, all) = (picked.len(), choices.len());
                let prompt = format!("Apply {some} of {all} and discard the rest? [y/n] ");
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
        for line in self.paint.diff(&some) {
            self.write_line(&format!("  {line}"))?;
        }
        if lines.len() > room {
            let text = format!("… {} more lines (`q`, then `d` shows all)", lines.len() - room);
            self.write_line(&self.paint.text(Style::Warn, &layout::cut(&text, self.columns)))?;
        }
        Ok(())
    }
}
