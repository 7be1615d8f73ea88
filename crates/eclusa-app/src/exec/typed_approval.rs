//! Who answers for a command that a person typed: what they typed, or they themselves.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::{
    Answer, Approver, NotAsked, Question, Touch,
    approve::{Preview, QuestionAbout},
};
use futures::future::BoxFuture;

use crate::{
    screen::{diff_view::DiffView, note, sanitize},
    terminal::Terminal,
};

/// What is to become of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeChoice {
    /// The person says when they have seen them.
    Ask,
    /// They become real, if the rules let them.
    Commit,
    /// They are shown, and gone.
    Discard,
}

/// The person who typed the command.
pub(super) struct TerminalPerson {
    terminal: Terminal,
    wanted: ChangeChoice,
    quiet: bool,
    seen: Mutex<ShownChanges>,
}

/// What the person was shown, and did.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownChanges {
    /// The changes, if there was a question about them.
    pub(super) preview: Option<Preview>,
    /// The person discarded them.
    pub(super) discarded: bool,
}

impl TerminalPerson {
    pub(super) fn new(terminal: Terminal, wanted: ChangeChoice, quiet: bool) -> TerminalPerson {
        TerminalPerson { terminal, wanted, quiet, seen: Mutex::default() }
    }

    pub(super) fn seen(&self) -> ShownChanges {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, ShownChanges> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows changes that nobody is asked about.
    fn show(&self, preview: &Preview) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let err = io::stderr().lock();
        let view = DiffView::on(&err);
        // Standard error is written at once, piece by piece.
        let mut err = io::BufWriter::new(err);
        writeln!(err, "{}", sanitize(&preview.summary))?;
        for line in view.lines(&preview.diff) {
            writeln!(err, "{line}")?;
        }
        err.flush()
    }
}

/// What the person has said by typing the command as they did.
pub(super) struct TypedApproval(pub(super) Arc<TerminalPerson>);

impl Approver for TypedApproval {
    fn name(&self) -> &str {
        "command-line"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let person = &self.0;
            let unseen =
                || NotAsked::Unavailable("the person who typed it must see it first".to_owned());
            let preview = match &question.about {
                // Whoever types a command wants it to run, where nothing of it is real yet. What
                // cannot be staged is another matter.
                QuestionAbout::Running => {
                    let unheld = |it: &Touch| matches!(it, Touch::Unknown | Touch::Unheld(_));
                    let staged = !question.touches.iter().any(unheld);
                    return if staged { Ok(Answer::Once) } else { Err(unseen()) };
                }
                QuestionAbout::Changes(preview) => preview,
                // Which hosts it tries nobody knew, nor what it wants signed.
                QuestionAbout::Hosts(_) | QuestionAbout::Signature(..) => return Err(unseen()),
            };
            if person.wanted == ChangeChoice::Ask {
                return Err(unseen());
            }
            person.locked().preview = Some(preview.clone());
            person.show(preview).map_err(|err| NotAsked::Failed(err.to_string()))?;
            if person.wanted == ChangeChoice::Commit {
                return Ok(Answer::Once);
            }
            if !person.quiet {
                note(&question.verdict.why());
            }
            person.locked().discarded = true;
            Ok(Answer::No("the person only wanted a preview".into()))
        })
    }
}

impl Approver for TerminalPerson {
    fn name(&self) -> &str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            self.locked().preview = question.preview().cloned();
            let answer = self.terminal.ask(question).await?;
            let discarded = question.preview().is_some() && matches!(answer, Answer::No(_));
            self.locked().discarded = discarded;
            Ok(answer)
        })
    }
}
