//! Who answers for a command that a person typed: their flag, or they themselves.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use eclusa::{Answer, Approver, NotAsked, Preview, Question};
use futures::future::BoxFuture;

use crate::{
    commands::changes,
    screen::{Paint, harmless, notice},
    terminal::Terminal,
};

/// What is to become of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The person says when they have seen them.
    Ask,
    /// They become real, if the rules let them.
    Commit,
    /// They are shown, and gone.
    Discard,
}

/// The person who typed the command.
pub(super) struct Person {
    terminal: Terminal,
    wanted: Wanted,
    quiet: bool,
    seen: Mutex<Seen>,
}

/// What the person was shown, and did.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// The changes, if there was a question about them.
    pub(super) preview: Option<Preview>,
    /// The person discarded them.
    pub(super) discarded: bool,
}

impl Person {
    pub(super) fn new(terminal: Terminal, wanted: Wanted, quiet: bool) -> Person {
        Person { terminal, wanted, quiet, seen: Mutex::default() }
    }

    pub(super) fn seen(&self) -> Seen {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows changes that nobody is asked about.
    fn show(&self, preview: &Preview) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let mut err = io::stderr().lock();
        let paint = Paint::on(&err);
        writeln!(err, "{}", harmless(&preview.summary))?;
        for line in preview.diff.lines() {
            writeln!(err, "{}", paint.text(changes::style(line), &harmless(line)))?;
        }
        Ok(())
    }
}

impl Approver for Person {
    fn name(&self) -> &str {
        match self.wanted {
            Wanted::Ask => "terminal",
            Wanted::Commit | Wanted::Discard => "command-line",
        }
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            // Their flag is about the changes. Whether it may run at all is another question.
            let Some(preview) = &question.preview else { return self.terminal.ask(question).await };
            self.locked().preview = Some(preview.clone());
            let answer = match self.wanted {
                Wanted::Ask => self.terminal.ask(question).await?,
                Wanted::Commit | Wanted::Discard => {
                    self.show(preview).map_err(|err| NotAsked::Failed(err.to_string()))?;
                    match self.wanted {
                        Wanted::Commit => Answer::Once,
                        _ => {
                            if !self.quiet {
                                notice(&question.verdict.why());
                            }
                            Answer::No("the person wanted to see it and have none of it".into())
                        }
                    }
                }
            };
            self.locked().discarded = matches!(answer, Answer::No(_));
            Ok(answer)
        })
    }
}
