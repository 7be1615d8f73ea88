//! A conversation in labelled lines, without motion: for screen readers, pipes and plain terminals.

use std::io::{IsTerminal, Write};

use eclusa_models::money;
use tokio_util::sync::CancellationToken;

use super::{
    ChatChoice, OpenChat, person_call,
    signals::{ChatSignals, Signalled},
    slash::{self, AfterCommand, CommandContext},
};
use crate::ui::{
    event_line::{EventLine, EventLines, LineKind},
    failure::{Exit, Failure},
    global::Global,
    screen::sanitize,
};
use crate::{AgentEvent, TurnReport};

/// A conversation in labelled lines.
struct PlainChat<'a> {
    global: &'a Global,
    choice: ChatChoice,
    chat: OpenChat,
    signals: ChatSignals,
    lines: EventLines,
    /// What the model is told with the next words: commands that the person ran.
    notes: Vec<String>,
}

/// Talks until the input ends or the person leaves. Also gives the id of the session.
pub(super) async fn run(
    global: &Global,
    choice: ChatChoice,
    first: String,
) -> Result<(Exit, Option<String>), Failure> {
    let signals = ChatSignals::new()?;
    let chat = OpenChat::open(global, &choice, None).await?;
    let lines = EventLines::in_words();
    let notes = Vec::new();
    let mut plain = PlainChat { global, choice, chat, signals, lines, notes };
    let talked = plain.talk(first).await;
    let id = plain.chat.id.clone();
    plain.chat.close("").await;
    talked.map(|()| (Exit::Done, Some(id)))
}

impl PlainChat<'_> {
    async fn talk(&mut self, first: String) -> Result<(), Failure> {
        self.tell_waiting_events()?;
        self.tell_draft()?;
        let mut words = first;
        loop {
            if self.signals.has_ended() {
                return Ok(());
            }
            if words.trim().is_empty() {
                let Some(line) = self.read_line().await? else { return Ok(()) };
                words = line;
            }
            let line = std::mem::take(&mut words);
            match line.trim() {
                "" => {}
                command if slash::is_command(command) => {
                    if !self.command(command).await? {
                        return Ok(());
                    }
                }
                text => {
                    self.send(text).await;
                    self.follow(false).await?;
                }
            }
        }
    }

    fn tell_waiting_events(&mut self) -> std::io::Result<()> {
        while let Ok(event) = self.chat.events.try_recv() {
            tell(&event, &mut self.lines, false)?;
        }
        Ok(())
    }

    fn tell_draft(&mut self) -> std::io::Result<()> {
        let Some(draft) = self.chat.draft.take() else { return Ok(()) };
        let draft = sanitize(&draft).replace('\n', "\n  ");
        writeln!(std::io::stdout().lock(), "note: not sent last time: {draft}")
    }

    /// Says something to the model, with the files that it mentions.
    async fn send(&mut self, text: &str) {
        let cancel = CancellationToken::new();
        let (mut message, unread) = person_call::with_mentions(&self.chat, text, &cancel).await;
        for why in unread {
            crate::ui::screen::note(&why);
        }
        self.notes.push(message.text);
        message.text = std::mem::take(&mut self.notes).join("\n\n");
        self.chat.handle.say(message);
    }

    /// Tells what happens until the turn is over, or until the summary is there that was asked for.
    async fn follow(&mut self, compacting: bool) -> Result<(), Failure> {
        let mut speaking = false;
        loop {
            let event = tokio::select! {
                event = self.chat.events.recv() => event,
                it = self.signals.next() => {
                    if it != Signalled::Resized {
                        self.chat.handle.interrupt();
                    }
                    continue;
                }
            };
            match event {
                None => return Ok(()),
                Some(AgentEvent::Ended(report)) => return Ok(tell_end(&report, speaking)?),
                Some(event) => {
                    speaking = tell(&event, &mut self.lines, speaking)?;
                    let told =
                        matches!(event, AgentEvent::Compacted { .. } | AgentEvent::Notice(_));
                    if compacting && told {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// False when the person leaves.
    async fn command(&mut self, command: &str) -> Result<bool, Failure> {
        let cancel = CancellationToken::new();
        let with = CommandContext { chat: &self.chat, choice: &self.choice, cancel: &cancel };
        let done = {
            let mut work = std::pin::pin!(slash::run(with, command));
            loop {
                tokio::select! {
                    done = &mut work => break done,
                    it = self.signals.next() => {
                        if it != Signalled::Resized {
                            cancel.cancel();
                        }
                    }
                }
            }
        };
        match done {
            Ok(AfterCommand::GoOn) => {}
            Ok(AfterCommand::Quit) => return Ok(false),
            Ok(AfterCommand::Tell(text)) => self.notes.push(text),
            Ok(AfterCommand::Compact) => {
                self.chat.handle.compact();
                self.follow(true).await?;
            }
            Ok(AfterCommand::Reopen(choice, _)) => {
                self.reopen(choice).await?;
                self.tell_waiting_events()?;
                self.tell_draft()?;
            }
            Err(failure) => crate::ui::screen::error(&failure.lines()),
        }
        Ok(true)
    }

    /// Goes on elsewhere or otherwise. What cannot be opened leaves the chat where it was.
    async fn reopen(&mut self, choice: ChatChoice) -> Result<(), Failure> {
        let here = Some(self.chat.id.clone());
        self.chat.close("").await;
        match OpenChat::open(self.global, &choice, None).await {
            Ok(chat) => (self.chat, self.choice) = (chat, choice),
            Err(failure) => {
                crate::ui::screen::error(&failure.lines());
                let before = ChatChoice { resume: here, last: false, ..self.choice.clone() };
                self.chat = OpenChat::open(self.global, &before, None).await?;
                self.choice = before;
            }
        }
        Ok(())
    }

    /// A line that a person types; `None` when there will be none, or at Ctrl+C.
    async fn read_line(&mut self) -> Result<Option<String>, Failure> {
        if std::io::stdin().is_terminal() {
            let mut err = std::io::stderr().lock();
            write!(err, "you: ")?;
            err.flush()?;
        }
        let mut reading = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|count| (count > 0).then_some(line))
        });
        loop {
            tokio::select! {
                line = &mut reading => {
                    return Ok(line.map_err(|_| Failure::failed("reading the line failed"))??);
                }
                it = self.signals.next() => {
                    if it != Signalled::Resized {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// Tells one event; true while a message of the model is being written.
fn tell(event: &AgentEvent, lines: &mut EventLines, speaking: bool) -> std::io::Result<bool> {
    let mut out = std::io::stdout().lock();
    if let AgentEvent::Text(text) = event {
        if !speaking {
            write!(out, "model: ")?;
        }
        // Only what we say begins a line: no word of a model is taken for a label.
        write!(out, "{}", sanitize(text).replace('\n', "\n  "))?;
        out.flush()?;
        return Ok(true);
    }
    let Some(line) = lines.line(event) else { return Ok(speaking) };
    if speaking {
        writeln!(out)?;
    }
    writeln!(out, "{}: {}", label(&line), line.text)?;
    out.flush()?;
    Ok(false)
}

/// What a line begins with.
fn label(line: &EventLine) -> String {
    match (line.kind, &line.persona) {
        (LineKind::Session, _) => "session".to_owned(),
        (LineKind::Note, _) => "note".to_owned(),
        (LineKind::Tool, None) => "tool".to_owned(),
        (LineKind::Tool, Some(persona)) => format!("tool of {persona}"),
        (LineKind::Answer, None) => "answer".to_owned(),
        (LineKind::Answer, Some(persona)) => format!("answer to {persona}"),
    }
}

fn tell_end(report: &TurnReport, speaking: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if speaking {
        writeln!(out)?;
    }
    if let Some(why) = report.end.reason() {
        writeln!(out, "ended: {}", sanitize(why))?;
    }
    if let (Some(cost), Some(currency)) = (report.cost, &report.currency) {
        writeln!(out, "cost: {} {currency}", money(cost))?;
    }
    if let Some(taint) = &report.taint {
        writeln!(out, "note: text from outside is in this session: {}", sanitize(taint))?;
    }
    out.flush()
}
