//! What a person asks of a conversation that may be at work: to hear words at once or after the
//! turn, to stop.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What a person says.
#[derive(Debug, Clone, Default)]
pub struct UserMessage {
    /// The words.
    pub text: String,
    /// Pictures: type and bytes.
    pub pictures: Vec<(String, Arc<[u8]>)>,
    /// What of it came from outside, such as a pipe: it counts as text that no person wrote.
    pub outside: Option<String>,
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> UserMessage {
        UserMessage { text: text.to_owned(), ..UserMessage::default() }
    }
}

/// The way into a conversation that runs: cheap to clone, never waits.
#[derive(Clone, Default)]
pub struct ConversationHandle {
    inner: Arc<(Mutex<QueuedInput>, Notify)>,
}

#[derive(Default)]
struct QueuedInput {
    now: VecDeque<UserMessage>,
    later: VecDeque<UserMessage>,
    /// Ends the turn that is at work.
    cancel: CancellationToken,
    compact: bool,
    closed: bool,
    /// Goes on by itself once a call is answered that waited for a person.
    takes_up: bool,
}

/// What an idle conversation does next.
pub(super) enum Next {
    Turn(UserMessage),
    Compact,
    /// A call was answered that waited for a person.
    GoOn,
    Close,
}

impl ConversationHandle {
    /// Says something: at once if the conversation is idle, before the next request otherwise.
    pub fn say(&self, words: UserMessage) {
        self.waiting().now.push_back(words);
        self.inner.1.notify_one();
    }

    /// Says something once the turn is over.
    pub fn say_later(&self, words: UserMessage) {
        self.waiting().later.push_back(words);
        self.inner.1.notify_one();
    }

    /// Takes back what was said last and has not gone in yet.
    pub fn take_back(&self) -> Option<UserMessage> {
        let mut waiting = self.waiting();
        waiting.later.pop_back().or_else(|| waiting.now.pop_back())
    }

    /// What has been said and has not gone in yet.
    pub fn queued(&self) -> Vec<String> {
        let waiting = self.waiting();
        waiting.now.iter().chain(&waiting.later).map(|it| it.text.clone()).collect()
    }

    /// Ends the turn that is at work. Calls that run are cancelled and answered, not dropped.
    pub fn interrupt(&self) {
        self.waiting().cancel.cancel();
    }

    /// Makes what the model is shown smaller, when the conversation is idle.
    pub fn compact(&self) {
        self.waiting().compact = true;
        self.inner.1.notify_one();
    }

    /// From now on an idle conversation goes on by itself when somebody has answered a call that
    /// waited for a person.
    pub fn take_up_answers(&self) {
        self.waiting().takes_up = true;
        self.inner.1.notify_one();
    }

    pub(super) fn takes_up(&self) -> bool {
        self.waiting().takes_up
    }

    /// Ends the conversation's task once its turn is over.
    pub fn close(&self) {
        self.waiting().closed = true;
        self.inner.1.notify_one();
    }

    /// The person leaves: ends the turn that is at work and the conversation's task, and gives back
    /// what has not gone in yet. It does not go in any more.
    pub fn leave(&self) -> Vec<UserMessage> {
        let mut waiting = self.waiting();
        waiting.cancel.cancel();
        waiting.closed = true;
        let QueuedInput { now, later, .. } = &mut *waiting;
        let unsent = now.drain(..).chain(later.drain(..)).collect();
        drop(waiting);
        self.inner.1.notify_one();
        unsent
    }

    fn waiting(&self) -> MutexGuard<'_, QueuedInput> {
        self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn begins: this is what ends it.
    pub(super) fn begin(&self, cancel: CancellationToken) -> CancellationToken {
        self.waiting().cancel = cancel.clone();
        cancel
    }

    /// What was said since the turn began, for the next request.
    pub(super) fn take_now(&self) -> Vec<UserMessage> {
        self.waiting().now.drain(..).collect()
    }

    /// Waits for something to do.
    pub(super) async fn next(&self) -> Next {
        loop {
            let rung = self.inner.1.notified();
            {
                let mut waiting = self.waiting();
                if let Some(words) = waiting.now.pop_front() {
                    return Next::Turn(words);
                }
                if let Some(words) = waiting.later.pop_front() {
                    return Next::Turn(words);
                }
                if std::mem::take(&mut waiting.compact) {
                    return Next::Compact;
                }
                if waiting.closed {
                    return Next::Close;
                }
            }
            rung.await;
        }
    }
}
