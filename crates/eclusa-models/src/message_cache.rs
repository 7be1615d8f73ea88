//! What a model makes of messages, made once: a conversation grows at its end, and what was in the last
//! request is in the next one too.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::ViewMessage;

/// What was made of the messages of the last request.
#[derive(Debug)]
pub(crate) struct MessageCache<T>(Mutex<Vec<(Arc<ViewMessage>, T)>>);

impl<T> Default for MessageCache<T> {
    fn default() -> MessageCache<T> {
        MessageCache(Mutex::default())
    }
}

impl<T> MessageCache<T> {
    /// Makes something of each message that the last request had not, and reads all of it.
    pub(crate) fn with<R>(
        &self,
        messages: &[Arc<ViewMessage>],
        make: impl Fn(&ViewMessage) -> T,
        read: impl FnOnce(&[(Arc<ViewMessage>, T)]) -> R,
    ) -> R {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let both = made.iter().zip(messages);
        // It holds them, so that one at the same address is the same.
        let same = both.take_while(|((before, _), now)| Arc::ptr_eq(before, now)).count();
        made.truncate(same);
        made.extend(messages.iter().skip(same).map(|it| (it.clone(), make(it))));
        read(&made)
    }
}
