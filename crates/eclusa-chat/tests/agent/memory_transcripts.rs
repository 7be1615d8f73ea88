//! Conversations in memory, for tests and measurements.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::MemoryLog;
use eclusa_chat::{
    TranscriptItem, TranscriptStore,
    transcript::{
        CallFate, ConversationLock, TranscriptError, TranscriptFuture, TranscriptHead, fate_in,
    },
};

/// Keeps conversations in memory.
#[derive(Clone, Default)]
pub(crate) struct MemoryTranscripts {
    kept: Arc<Mutex<Archive>>,
    log: Arc<MemoryLog>,
}

#[derive(Default)]
struct Archive {
    heads: BTreeMap<String, TranscriptHead>,
    items: HashMap<String, Vec<TranscriptItem>>,
    pictures: HashMap<String, Arc<[u8]>>,
    held: HashSet<String>,
    /// Refuses everything that would be kept, to see what happens then.
    full: bool,
}

impl MemoryTranscripts {
    /// Empty, beside this log.
    pub(crate) fn beside(log: Arc<MemoryLog>) -> MemoryTranscripts {
        MemoryTranscripts { kept: Arc::default(), log }
    }

    /// From now on nothing more can be kept.
    pub(crate) fn fill_up(&self) {
        self.archive().full = true;
    }

    fn archive(&self) -> MutexGuard<'_, Archive> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, write: impl FnOnce(&mut Archive) -> T) -> Result<T, TranscriptError> {
        let mut archive = self.archive();
        match archive.full {
            true => Err(TranscriptError("no space left for the transcript".to_owned())),
            false => Ok(write(&mut archive)),
        }
    }
}

struct HeldInMemory(MemoryTranscripts, String);

impl ConversationLock for HeldInMemory {}

impl Drop for HeldInMemory {
    fn drop(&mut self) {
        self.0.archive().held.remove(&self.1);
    }
}

impl TranscriptStore for MemoryTranscripts {
    fn create(&self, head: TranscriptHead) -> TranscriptFuture<'_, bool> {
        let created = self.write(|it| {
            let free = !it.heads.contains_key(&head.id);
            if free {
                it.heads.insert(head.id.clone(), head);
            }
            free
        });
        Box::pin(std::future::ready(created))
    }

    fn append(&self, head: TranscriptHead, items: Vec<TranscriptItem>) -> TranscriptFuture<'_, ()> {
        let kept = self.write(|it| {
            it.items.entry(head.id.clone()).or_default().extend(items);
            it.heads.insert(head.id.clone(), head);
        });
        Box::pin(std::future::ready(kept))
    }

    fn items<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<TranscriptItem>> {
        let items = self.archive().items.get(id).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(items)))
    }

    fn head<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Option<TranscriptHead>> {
        let head = self.archive().heads.get(id).cloned();
        Box::pin(std::future::ready(Ok(head)))
    }

    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, TranscriptError> {
        let new = self.archive().held.insert(id.to_owned());
        Ok(new.then(|| Box::new(HeldInMemory(self.clone(), id.to_owned())) as _))
    }

    fn keep_picture(&self, sha256: String, bytes: Arc<[u8]>) -> TranscriptFuture<'_, ()> {
        let kept = self.write(|it| drop(it.pictures.insert(sha256, bytes)));
        Box::pin(std::future::ready(kept))
    }

    fn picture<'a>(&'a self, sha256: &'a str) -> TranscriptFuture<'a, Option<Arc<[u8]>>> {
        Box::pin(std::future::ready(Ok(self.archive().pictures.get(sha256).cloned())))
    }

    fn log_head(&self) -> Result<u64, TranscriptError> {
        Ok(self.log.head().seq)
    }

    fn fate(
        &self,
        conversation: &str,
        call: &str,
        after: u64,
    ) -> Result<CallFate, TranscriptError> {
        let records = self.log.records();
        let after = records.iter().filter(|it| it.seq > after);
        Ok(fate_in(after.map(|it| (it.seq, it.body.as_str())), conversation, call))
    }
}
