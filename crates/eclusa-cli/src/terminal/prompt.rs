//! One question and what a person may say to it.

use std::{
    io::{self, Write},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use eclusa::{Answer, Question, Role, one_line, render};
use rustix::termios::tcgetwinsize;

use super::{
    edit::edit,
    key_reader::{KeyReader, TypedLine},
};
use crate::{
    commands::changes,
    remember,
    screen::{Paint, Style},
};

/// One question, put to a person.
pub(super) struct Prompt {
    question: Question,
    keys: KeyReader,
    rules: Option<PathBuf>,
    paint: Paint,
}

impl Prompt {
    pub(super) fn new(
        question: Question,
        tty: OwnedFd,
        rules: Option<PathBuf>,
        given_up: Arc<AtomicBool>,
    ) -> Prompt {
        let paint = Paint::on(&io::stderr());
        Prompt { question, keys: KeyReader::new(tty, given_up), rules, paint }
    }

    /// Asks until there is an answer. Enter alone is none; the end of the input is a no.
    pub(super) fn hold(mut self) -> io::Result<Answer> {
        self.show()?;
        self.keys.forget()?;
        loop {
            let choices = self.choices();
            let what = if self.question.preview.is_some() { "make it real?" } else { "run it?" };
            let Some(line) = self.ask(&format!("{what} [{choices}] "))? else {
                return Ok(Answer::No("nobody answered".to_owned()));
            };
            let answer = match line.to_lowercase().as_str() {
                "y" | "yes" => Some(Answer::Once),
                "n" | "no" => Some(self.no()?),
                "s" if self.question.grant.is_some() => Some(Answer::Session),
                "a" if self.can_always() => self.always()?,
                "e" if self.question.preview.is_none() => self.edited()?,
                "q" => Some(Answer::Abort),
                "?" | "h" => self.help()?,
                "" => {
                    self.say(Style::Warn, "Enter alone is no answer; `?` explains the letters")?
                }
                other => {
                    let other = one_line(other);
                    self.say(
                        Style::Warn,
                        &format!("`{other}` is no answer; `?` explains the letters"),
                    )?
                }
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    fn can_always(&self) -> bool {
        self.question.can_always && self.question.grant.is_some() && self.rules.is_some()
    }

    fn choices(&self) -> String {
        let mut choices = vec!["y", "n"];
        if self.question.grant.is_some() {
            choices.push("s");
        }
        if self.can_always() {
            choices.push("a");
        }
        if self.question.preview.is_none() {
            choices.push("e");
        }
        choices.extend(["q", "?"]);
        choices.join("/")
    }

    fn show(&self) -> io::Result<()> {
        let mut out = io::stderr().lock();
        // Wrapped by the renderer, not by the terminal: every line keeps its bar.
        let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { 80 } else { columns };
        writeln!(out)?;
        for line in render(&self.question).lines {
            let style = match (line.role, &line.text) {
                (Role::Change, Some(text)) => changes::style(text),
                (Role::Warning, _) => Style::Warn,
                _ => Style::Plain,
            };
            for piece in line.wrapped(columns) {
                writeln!(out, "{}", self.paint.text(style, &piece))?;
            }
        }
        out.flush()
    }

    /// Asks for a line; `None` when there will be none.
    fn ask(&mut self, prompt: &str) -> io::Result<Option<String>> {
        let mut out = io::stderr().lock();
        write!(out, "{}", self.paint.text(Style::Strong, prompt))?;
        out.flush()?;
        drop(out);
        Ok(match self.keys.line()? {
            TypedLine::Line(line) => Some(line),
            TypedLine::End | TypedLine::GivenUp => {
                writeln!(io::stderr())?;
                None
            }
        })
    }

    fn say(&self, style: Style, text: &str) -> io::Result<Option<Answer>> {
        writeln!(io::stderr(), "{}", self.paint.text(style, text))?;
        Ok(None)
    }

    fn no(&mut self) -> io::Result<Answer> {
        let reason = self.ask("why? (for the model; may be empty) ")?;
        Ok(Answer::No(reason.unwrap_or_default()))
    }

    /// A rule is written only after it was seen.
    fn always(&mut self) -> io::Result<Option<Answer>> {
        let (Some(grant), Some(file)) = (&self.question.grant, &self.rules) else {
            return Ok(None);
        };
        let text = format!("this would be added to {}:", file.display());
        let rule = remember::rule(grant);
        self.say(Style::Plain, &text)?;
        for line in rule.lines() {
            self.say(Style::Faint, &format!("    {}", one_line(line)))?;
        }
        let answer = self.ask("add it, and run the call? [y/n] ")?;
        Ok(answer.is_some_and(|it| it.eq_ignore_ascii_case("y")).then_some(Answer::Always))
    }

    fn edited(&mut self) -> io::Result<Option<Answer>> {
        let edited = match edit(&self.question.args) {
            Ok(Some(args)) => return Ok(Some(Answer::Edit(args))),
            Ok(None) => "nothing was changed".to_owned(),
            Err(what) => one_line(&what),
        };
        // Whatever was typed into the editor's terminal is no answer here.
        self.keys.forget()?;
        self.say(Style::Warn, &edited)
    }

    fn help(&self) -> io::Result<Option<Answer>> {
        for line in render(&self.question).lines {
            if line.role == Role::Answer {
                self.say(Style::Plain, &line.to_string())?;
            }
        }
        Ok(None)
    }
}
