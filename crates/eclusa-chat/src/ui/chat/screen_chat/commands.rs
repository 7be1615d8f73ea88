//! What the person says and commands on the screen: words with files, commands, another session.

use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::{ScreenChat, SendWhen};
use crate::ui::{
    chat::{
        ChatChoice, OpenChat,
        hand_over::HandOver,
        person_call,
        signals::{ChatSignals, Signalled},
        slash::{self, AfterCommand, CommandContext},
    },
    chat_screen::chat_terminal::ChatTerminal,
    failure::Failure,
    screen::{Style, sanitize, spinner},
};

impl ScreenChat<'_> {
    /// Says something to the model, with the files that it mentions.
    pub(super) async fn send(&mut self, text: &str, when: SendWhen) -> Result<(), Failure> {
        let cancel = CancellationToken::new();
        let ScreenChat { chat, screen, questions, signals, .. } = self;
        let reading = person_call::with_mentions(chat, text.trim(), &cancel);
        let (mut message, unread) = serve(reading, screen, questions, signals, &cancel).await?;
        self.screen.resume()?;
        for why in unread {
            self.screen.view.say(Style::Warn, &format!("  note: {}", sanitize(&why)));
        }
        self.notes.push(message.text);
        message.text = std::mem::take(&mut self.notes).join("\n\n");
        match when {
            SendWhen::Now => self.chat.handle.say(message),
            SendWhen::AfterTheTurn => self.chat.handle.say_later(message),
        }
        self.busy = true;
        Ok(())
    }

    pub(super) async fn command(&mut self, line: &str) -> Result<(), Failure> {
        self.screen.view.say(Style::Faint, &format!("› {}", sanitize(line)));
        self.screen.suspend()?;
        let cancel = CancellationToken::new();
        let ScreenChat { chat, choice, screen, questions, signals, .. } = self;
        let work = slash::run(CommandContext { chat, choice, cancel: &cancel }, line);
        let done = serve(work, screen, questions, signals, &cancel).await?;
        let done = match done {
            Ok(AfterCommand::Reopen(choice, draft)) => self.reopen(choice, &draft).await,
            other => other,
        };
        self.screen.resume()?;
        match done {
            Ok(AfterCommand::GoOn | AfterCommand::Reopen(..)) => {}
            Ok(AfterCommand::Quit) => self.ended = true,
            Ok(AfterCommand::Tell(text)) => self.notes.push(text),
            Ok(AfterCommand::Compact) => {
                (self.busy, self.compacting) = (true, true);
                self.screen.view.wait_for("the model sums up the session so far", Instant::now());
                self.chat.handle.compact();
            }
            Err(failure) => {
                let text = failure.lines().join("\n");
                self.screen.view.say(Style::Bad, &sanitize(&text));
            }
        }
        Ok(())
    }

    /// Leaves this session and opens another, or the same in another way. What cannot be opened
    /// leaves the chat where it was.
    async fn reopen(&mut self, choice: ChatChoice, draft: &str) -> Result<AfterCommand, Failure> {
        let same = choice.resume.as_ref() == Some(&self.chat.id);
        let before =
            ChatChoice { resume: Some(self.chat.id.clone()), last: false, ..self.choice.clone() };
        self.chat.close("").await;
        let (chat, choice, failed) = match self.open(&choice).await {
            Ok(chat) => (chat, choice, None),
            Err(failure) => (self.open(&before).await?, before, Some(failure)),
        };
        (self.chat, self.choice) = (chat, choice);
        (self.busy, self.compacting, self.cost) = (false, false, 0);
        self.notes.clear();
        match failed {
            Some(failure) => Err(failure),
            None => {
                self.show_beginning(!same);
                self.screen.view.composer.set(draft);
                self.take_draft();
                Ok(AfterCommand::GoOn)
            }
        }
    }

    /// What was not sent last time is in the input again, unless something else is.
    pub(super) fn take_draft(&mut self) {
        let composer = &mut self.screen.view.composer;
        if let Some(draft) = self.chat.draft.take().filter(|_| composer.is_empty()) {
            composer.set(&draft);
        }
    }

    async fn open(&mut self, choice: &ChatChoice) -> Result<OpenChat, Failure> {
        let cancel = CancellationToken::new();
        let ScreenChat { global, requests, screen, questions, signals, .. } = self;
        let opening = OpenChat::open(global, choice, Some(requests));
        serve(opening, screen, questions, signals, &cancel).await?
    }

    /// What could be meant by the word behind the cursor.
    fn candidates(&self) -> Vec<String> {
        let composer = &self.screen.view.composer;
        if !composer.completable() {
            return Vec::new();
        }
        match composer.word_behind('/') {
            Some(word) => {
                let names = slash::COMMANDS.iter().map(|(name, ..)| *name);
                names.filter(|it| it.starts_with(&word)).map(str::to_owned).collect()
            }
            None => {
                let word = composer.word_behind('@').unwrap_or_default();
                person_call::paths_like(&self.chat, word.trim_start_matches('@'))
            }
        }
    }

    /// Shows what the word behind the cursor may become.
    pub(super) fn suggest(&mut self) {
        let candidates = self.candidates();
        self.screen.view.suggest(candidates);
    }

    /// Completes the word behind the cursor.
    pub(super) fn complete(&mut self) {
        if let Some(first) = self.candidates().first() {
            self.screen.view.composer.complete(first);
        }
    }
}

/// Does something that may ask the person: the terminal is given away when it does, and not taken
/// back here. Ctrl+C cancels it.
async fn serve<T>(
    work: impl Future<Output = T>,
    screen: &mut ChatTerminal,
    questions: &mut UnboundedReceiver<HandOver>,
    signals: &mut ChatSignals,
    cancel: &CancellationToken,
) -> Result<T, Failure> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => {
                spinner::until_resumed().await;
                return Ok(done);
            }
            Some(HandOver { ready, .. }) = questions.recv() => {
                screen.suspend()?;
                // Nobody waits for it any more, or it is used at once.
                let _ = ready.send(());
            }
            it = signals.next() => {
                if it != Signalled::Resized {
                    cancel.cancel();
                }
            }
        }
    }
}
