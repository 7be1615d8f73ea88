//! The calls of one turn: neighbours that may run beside each other do, everything else runs
//! alone, and the answers come in the order of the calls.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use futures::{FutureExt, StreamExt, stream};

use crate::{Gate, Incoming, Reply, Stop};

impl Gate {
    /// Takes the calls of one model turn through, and gives one reply for each, in their order.
    ///
    /// A group begins only when the one before has ended, because what ran before may change
    /// what a path means. Once a person ends the turn, nothing more starts, and every call that
    /// has not run is answered with that.
    pub async fn pass_all<A: Into<Incoming>>(
        &self,
        calls: impl IntoIterator<Item = A>,
    ) -> Vec<Reply> {
        let mut replies = Vec::new();
        self.pass_all_with(calls, |place, reply| replies.push((place, reply))).await;
        replies.sort_by_key(|(place, _)| *place);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }

    /// The same, for whoever wants each reply as soon as it is there: `tell` is given the place of
    /// the call among the others, from 0, and its reply.
    pub async fn pass_all_with<A: Into<Incoming>>(
        &self,
        calls: impl IntoIterator<Item = A>,
        mut tell: impl FnMut(usize, Reply),
    ) {
        let calls: Vec<Incoming> = calls.into_iter().map(Into::into).collect();
        let aborted = AtomicBool::new(false);
        let mut seen = HashSet::new();
        let mut calls = calls.into_iter().enumerate().peekable();
        while let Some(first) = calls.next() {
            let together = self.is_concurrent(&first.1);
            let mut group = vec![first];
            while together && let Some(next) = calls.next_if(|(_, it)| self.is_concurrent(it)) {
                group.push(next);
            }
            let group: Vec<(usize, Incoming, bool)> = group
                .into_iter()
                .map(|(place, it)| (place, seen.insert(it.id().to_owned()), it))
                .map(|(place, new, it)| (place, it, !new))
                .collect();
            let passing = stream::iter(group).map(|(place, incoming, repeated)| {
                let aborted = &aborted;
                let stopped = move || match aborted.load(Ordering::Acquire) {
                    true => Some(Stop::Aborted { ran: false }),
                    false => repeated.then_some(Stop::DuplicateId),
                };
                self.pass_until(incoming, stopped).map(move |reply| {
                    if reply.aborted() {
                        aborted.store(true, Ordering::Release);
                    }
                    (place, reply)
                })
            });
            let at_once = self.setup().limits.concurrent.max(1);
            let mut passing = passing.buffer_unordered(at_once);
            while let Some((place, reply)) = passing.next().await {
                tell(place, reply);
            }
        }
    }

    /// True when the call may run beside its neighbours. Calls of unknown tools may not.
    fn is_concurrent(&self, incoming: &Incoming) -> bool {
        match incoming {
            Incoming::Call(call) => {
                self.setup().registry.get(&call.tool).is_some_and(|it| it.facts().concurrent)
            }
            Incoming::Malformed(_) => false,
        }
    }
}
