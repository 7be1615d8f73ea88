//! What was fetched a moment ago.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::Fetched;

/// How many bytes of bodies are kept at most.
const BYTES: usize = 16 * 1024 * 1024;

/// How many answers are kept at most.
const ANSWERS: usize = 64;

/// Answers by the address that was asked for. The rules are judged before it is looked into.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<String, (Instant, Arc<Fetched>)>>);

impl Cache {
    /// What is known about this address, if it is younger than `age` and long enough.
    pub(super) fn get(&self, url: &str, age: Duration, most: usize) -> Option<Arc<Fetched>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, fetched) = known.get(url)?;
        let enough = !fetched.cut || fetched.body.len() >= most;
        (at.elapsed() < age && enough).then(|| fetched.clone())
    }

    /// Keeps an answer, and lets the oldest go until there is room for it.
    pub(super) fn insert(&self, url: String, fetched: Arc<Fetched>) {
        if fetched.body.len() > BYTES {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&url);
        let mut bytes: usize = known.values().map(|(_, kept)| kept.body.len()).sum();
        while known.len() >= ANSWERS || bytes + fetched.body.len() > BYTES {
            let oldest = known.iter().min_by_key(|(_, (at, _))| *at).map(|(url, _)| url.clone());
            let Some((_, gone)) = oldest.and_then(|url| known.remove(&url)) else { break };
            bytes -= gone.body.len();
        }
        known.insert(url, (Instant::now(), fetched));
    }
}
