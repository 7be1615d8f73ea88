//! A conversation on the screen: keys, events and questions, one at a time.

use std::{
    collections::{HashSet, VecDeque},
    time::{Duration, Instant},
};

use rustix::process::{Signal, kill_current_process_group};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::{
    ChatChoice, OpenChat,
    hand_over::{HandOver, HandOverRequests},
    signals::{ChatSignals, Signalled},
    slash,
};
use crate::AgentEvent;
use crate::ui::{
    chat_screen::{
        chat_terminal::ChatTerminal,
        key_decoder::Key,
        keys::{self, KeyAction},
    },
    failure::{Exit, Failure},
    global::Global,
    screen::{Style, sanitize, spinner},
    terminal,
};

mod commands;
mod opening;
mod show_events;

/// Frames are no closer together, however fast the model writes.
const FRAME: Duration = Duration::from_millis(16);

/// How often the time is shown anew that something takes.
const TICK: Duration = Duration::from_millis(250);

/// A chat on the screen.
struct ScreenChat<'a> {
    global: &'a Global,
    choice: ChatChoice,
    chat: OpenChat,
    /// Where the chat is told who needs the terminal.
    requests: HandOverRequests,
    screen: ChatTerminal,
    questions: UnboundedReceiver<HandOver>,
    signals: ChatSignals,
    /// The model works.
    busy: bool,
    /// It sums up what came before, because the person wants it.
    compacting: bool,
    /// What the turns so far cost, in millionths.
    cost: u64,
    /// Ctrl+C was the last key: the next one leaves.
    leaving: bool,
    /// Esc was the last key: the next one rewinds.
    escaped: bool,
    /// Something has changed that is not on the screen.
    changed: bool,
    drawn: Instant,
    /// What the last call put out.
    last_output: String,
    /// How many calls of the turn have changed something.
    changes: usize,
    /// The calls that a person was asked about.
    seen: HashSet<String>,
    /// What the model is told with the next words: commands that the person ran.
    notes: Vec<String>,
    /// Commands that wait until the model is done.
    commands: VecDeque<String>,
    ended: bool,
}

/// When words go to the model.
enum SendWhen {
    /// Before its next request.
    Now,
    AfterTheTurn,
}

/// What the chat waits for.
enum ChatEvent {
    Key(Option<Key>),
    Question(HandOver),
    Event(Option<AgentEvent>),
    Signal(Signalled),
    Frame,
}

/// Talks until the person leaves. Also gives the id of the session, if it was opened.
pub(super) async fn run(
    global: &Global,
    choice: ChatChoice,
    first: String,
) -> Result<(Exit, Option<String>), Failure> {
    let mut signals = ChatSignals::new()?;
    let (requests, mut questions): (HandOverRequests, _) = mpsc::unbounded_channel();
    let mut screen = ChatTerminal::open()?;
    let opening = OpenChat::open(global, &choice, Some(&requests));
    let opened = opening::show_while(opening, &mut screen, &mut questions, &mut signals).await?;
    let Some((chat, typed)) = opened else { return Ok((Exit::Done, None)) };
    let mut screen_chat = ScreenChat {
        global,
        choice,
        chat,
        requests,
        screen,
        questions,
        signals,
        busy: false,
        compacting: false,
        cost: 0,
        leaving: false,
        escaped: false,
        changed: true,
        drawn: Instant::now(),
        last_output: String::new(),
        changes: 0,
        seen: HashSet::new(),
        notes: Vec::new(),
        commands: VecDeque::new(),
        ended: false,
    };
    screen_chat.chat.handle.take_up_answers();
    screen_chat.show_beginning(true);
    screen_chat.take_draft();
    let talked = screen_chat.talk(first, typed).await;
    let ScreenChat { mut chat, screen, mut questions, .. } = screen_chat;
    let input = screen.view.composer.text();
    drop(screen);
    // Nobody is asked any more.
    questions.close();
    let id = chat.id.clone();
    chat.close(&input).await;
    talked.map(|()| (Exit::Done, Some(id)))
}

impl ScreenChat<'_> {
    async fn talk(&mut self, first: String, typed: Vec<Key>) -> Result<(), Failure> {
        self.draw()?;
        if !first.trim().is_empty() {
            self.send(&first, SendWhen::Now).await?;
        }
        for key in &typed {
            self.press(key).await?;
        }
        while !self.ended && !self.signals.has_ended() {
            match self.next().await {
                ChatEvent::Key(Some(key)) => {
                    self.press(&key).await?;
                    self.draw()?;
                }
                ChatEvent::Key(None) | ChatEvent::Event(None) => self.ended = true,
                ChatEvent::Event(Some(event)) => {
                    self.show(event);
                    self.show_waiting_events();
                    self.run_waiting_command().await?;
                }
                ChatEvent::Question(question) => self.hand_over(question).await?,
                ChatEvent::Signal(Signalled::Resized) => {
                    self.screen.resized();
                    self.draw()?;
                }
                ChatEvent::Signal(Signalled::Interrupted) => self.chat.handle.interrupt(),
                // The loop has ended by that.
                ChatEvent::Signal(Signalled::Ended) => {}
                ChatEvent::Frame => self.draw()?,
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> ChatEvent {
        let wait = match (self.changed, self.screen.view.is_busy()) {
            (true, _) => Some(FRAME),
            (false, true) => Some(TICK),
            (false, false) => None,
        };
        let frame = wait.map(|it| self.drawn + it);
        let ScreenChat { chat, screen, questions, signals, .. } = self;
        tokio::select! {
            biased;
            key = screen.key() => ChatEvent::Key(key),
            it = signals.next() => ChatEvent::Signal(it),
            () = sleep_until(frame), if frame.is_some() => ChatEvent::Frame,
            Some(it) = questions.recv() => ChatEvent::Question(it),
            event = chat.events.recv() => ChatEvent::Event(event),
        }
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let words = self.chat.handle.queued();
        let queued = words.iter().chain(&self.commands).map(|it| sanitize(it)).collect();
        self.screen.view.set_queued(queued);
        (self.changed, self.drawn) = (false, Instant::now());
        Ok(self.screen.draw()?)
    }

    async fn press(&mut self, key: &Key) -> Result<(), Failure> {
        let leaving = std::mem::take(&mut self.leaving);
        let escaped = std::mem::take(&mut self.escaped);
        self.screen.view.hint(None);
        match keys::apply(key, &mut self.screen.view.composer, self.busy) {
            KeyAction::Edited => {}
            KeyAction::Send => {
                let text = self.screen.view.composer.take();
                self.entered(text).await?;
            }
            KeyAction::SendLater => {
                let text = self.screen.view.composer.take();
                if !text.trim().is_empty() {
                    self.send(&text, SendWhen::AfterTheTurn).await?;
                }
            }
            KeyAction::TakeBack => {
                let command = self.commands.pop_back();
                let words = || self.chat.handle.take_back().map(|it| it.text);
                if let Some(text) = command.or_else(words) {
                    self.screen.view.composer.set(&text);
                }
            }
            KeyAction::Interrupt if self.busy => self.chat.handle.interrupt(),
            KeyAction::Interrupt if escaped => {
                self.command("/rewind").await?;
                self.screen.view.composer.set("/rewind ");
            }
            KeyAction::Interrupt => {
                self.escaped = true;
                self.screen.view.hint(Some("Esc again: go back to an earlier turn"));
            }
            KeyAction::Clear if !self.screen.view.composer.is_empty() => {
                self.screen.view.composer.clear();
            }
            KeyAction::Clear if leaving => self.ended = true,
            KeyAction::Clear => {
                self.leaving = true;
                let hint = match self.busy {
                    true => "interrupted; Ctrl+C again leaves",
                    false => "Ctrl+C again leaves; the session is kept",
                };
                self.chat.handle.interrupt();
                self.screen.view.hint(Some(hint));
            }
            KeyAction::Leave => self.ended = true,
            KeyAction::Editor => self.write_in_editor()?,
            KeyAction::Transcript => {
                let text = slash::transcript(&self.chat).await?;
                self.page(&text)?;
            }
            KeyAction::LastOutput => {
                let text = self.last_output.clone();
                self.page(&text)?;
            }
            KeyAction::Complete => self.complete(),
            KeyAction::Suspend => {
                self.screen.suspend()?;
                // Nothing happens where no shell waits for it.
                let _ = kill_current_process_group(Signal::TSTP);
                self.screen.resume()?;
            }
            KeyAction::Redraw => self.screen.resized(),
        }
        self.suggest();
        Ok(())
    }

    /// A command waited until the model was done.
    async fn run_waiting_command(&mut self) -> Result<(), Failure> {
        while !self.busy
            && self.chat.handle.queued().is_empty()
            && let Some(command) = self.commands.pop_front()
        {
            self.command(&command).await?;
        }
        Ok(())
    }

    /// The person pressed Enter behind this.
    async fn entered(&mut self, text: String) -> Result<(), Failure> {
        match text.trim() {
            "" => {}
            command if slash::is_command(command) => {
                let leaves = ["/quit", "/exit"].contains(&command);
                match self.busy && !leaves {
                    true => self.commands.push_back(command.to_owned()),
                    false => self.command(command).await?,
                }
            }
            text => self.send(text, SendWhen::Now).await?,
        }
        Ok(())
    }

    /// Leaves the terminal to whoever asks something, and takes it back.
    async fn hand_over(&mut self, question: HandOver) -> Result<(), Failure> {
        self.show_waiting_events();
        self.screen.suspend()?;
        if self.chat.ctx.config.chat_bell {
            self.screen.ring()?;
        }
        let HandOver { ready, mut returned } = question;
        if ready.send(()).is_ok() {
            loop {
                tokio::select! {
                    _ = &mut returned => break,
                    it = self.signals.next() => match it {
                        Signalled::Resized => {}
                        Signalled::Interrupted | Signalled::Ended => self.chat.handle.interrupt(),
                    }
                }
            }
            spinner::until_resumed().await;
        }
        self.screen.resume()?;
        self.draw()
    }

    fn page(&mut self, text: &str) -> Result<(), Failure> {
        self.screen.suspend()?;
        let shown = terminal::page(text);
        self.screen.resume()?;
        if let Err(what) = shown {
            self.screen.view.say(Style::Warn, &sanitize(&what));
        }
        Ok(())
    }

    fn write_in_editor(&mut self) -> Result<(), Failure> {
        let text = self.screen.view.composer.text();
        self.screen.suspend()?;
        let written = terminal::edit_text(&text, ".md");
        self.screen.resume()?;
        match written {
            Ok(text) => self.screen.view.composer.set(text.trim_end()),
            Err(what) => self.screen.view.say(Style::Warn, &sanitize(&what)),
        }
        Ok(())
    }
}

async fn sleep_until(time: Option<Instant>) {
    if let Some(time) = time {
        tokio::time::sleep_until(time.into()).await;
    }
}
