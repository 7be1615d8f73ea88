//! Repeated questions to a reviewer, answered from memory where the embedding program wants it.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Review, ReviewError, Reviewer, run_reviewer};
use crate::{Hash, Validated};

/// Remembers what input reviewers said: same reviewer, same tool revision, same arguments, same
/// answer, for a while. Errors are not remembered. Off unless set up.
#[derive(Debug)]
pub struct ReviewCache {
    ttl: Duration,
    most: usize,
    kept: Mutex<HashMap<Key, (Instant, Review<Value>)>>,
}

type Key = (String, String, String, Hash);

impl ReviewCache {
    /// Remembers up to `most` answers, each for `ttl`.
    pub fn new(ttl: Duration, most: usize) -> ReviewCache {
        ReviewCache { ttl, most, kept: Mutex::default() }
    }

    /// What the reviewer says of the call, and whether it was remembered.
    pub(crate) async fn input(
        &self,
        reviewer: &dyn Reviewer,
        call: &Validated,
        limit: Duration,
    ) -> (Result<Review<Value>, ReviewError>, bool) {
        let key = (
            reviewer.name().to_owned(),
            call.name().to_owned(),
            call.revision().to_owned(),
            call.digest(),
        );
        if let Some((at, said)) = self.entries().get(&key)
            && at.elapsed() < self.ttl
        {
            return (Ok(said.clone()), true);
        }
        let said = run_reviewer(limit, || reviewer.input(call)).await;
        if let Ok(said) = &said {
            self.keep(key, said.clone());
        }
        (said, false)
    }

    fn keep(&self, key: Key, said: Review<Value>) {
        let mut kept = self.entries();
        if kept.len() >= self.most {
            kept.retain(|_, (at, _)| at.elapsed() < self.ttl);
        }
        if kept.len() >= self.most {
            let oldest = kept.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| key.clone());
            oldest.map(|key| kept.remove(&key));
        }
        if self.most > 0 {
            kept.insert(key, (Instant::now(), said));
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Key, (Instant, Review<Value>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
