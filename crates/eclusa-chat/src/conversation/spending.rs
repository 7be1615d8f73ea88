//! What requests cost, and to whom they count: the turn, the whole conversation, and for a task the
//! turns that it works for.

use std::{convert::Infallible, future::pending, time::Duration};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Conversation, RequestBody, TurnFailure, UserMessage};
use crate::{
    events::{TurnEnd, TurnReport},
    limits::{TurnBudget, time_over},
    model::{ModelProfile, Usage},
};

/// Cancels a turn when its time is over, whatever it waits for: the model, or a call. Never ends by itself.
async fn end_in_time(left: Option<Duration>, turn: CancellationToken) -> Infallible {
    if let Some(left) = left {
        tokio::time::sleep(left).await;
        turn.cancel();
    }
    pending().await
}

impl Conversation {
    /// A turn to its end, within its time.
    pub(super) async fn whole_turn(&mut self, words: Option<UserMessage>) -> TurnReport {
        let cancel = self.begin_turn();
        let in_time = end_in_time(self.budget.time_left(), cancel.clone());
        let taken = tokio::select! {
            taken = self.take_turn(words, &cancel) => taken,
            never = in_time => match never {},
        };
        let end = match taken {
            Ok(end) | Err(TurnFailure::Ended(end)) => end,
            Err(TurnFailure::Archive(err)) => TurnEnd::Failed(err.to_string()),
            Err(TurnFailure::Other(what) | TurnFailure::TooLong(what)) => TurnEnd::Failed(what),
        };
        self.end(self.timed(end)).await
    }

    /// How the turn ended: one that its time has cancelled was not interrupted by a person.
    fn timed(&self, end: TurnEnd) -> TurnEnd {
        match (end, self.budget.limits.time) {
            (TurnEnd::Interrupted, Some(most))
                if self.budget.time_left() == Some(Duration::ZERO) =>
            {
                TurnEnd::Limit(time_over(most))
            }
            (end, _) => end,
        }
    }

    /// Everything that a request of this conversation counts to: its own turn, and for a task those
    /// that it works for.
    pub(super) fn budgets(&self) -> impl Iterator<Item = &TurnBudget> {
        self.outer.iter().chain([&self.budget])
    }

    /// Counts the next request, unless it would pass a limit: which, in words.
    pub(super) fn reserve(&mut self, request: &RequestBody) -> Option<String> {
        let tokens = self.measure.tokens(request.bytes.len());
        let profile = self.model.profile();
        let passed = self.budgets().find_map(|it| it.reserve(profile, tokens));
        self.reserved = passed.is_none();
        passed
    }

    /// Counts a reply, for the turn and for the whole conversation.
    pub(super) fn count(&mut self, usage: &Usage) {
        let model = self.model.clone();
        self.budgets().for_each(|it| it.used().count(usage, model.profile()));
        self.count_in_head(usage, model.profile());
    }

    /// Counts what others asked for the sake of its calls, for the whole conversation.
    pub(super) fn count_aside(&mut self) {
        let aside = std::mem::take(&mut self.budget.used().aside);
        for (usage, model) in aside {
            self.count_in_head(&usage, &model);
        }
    }

    fn count_in_head(&mut self, usage: &Usage, model: &ModelProfile) {
        let before = |name: &str| self.head.usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let cost = model.price.as_ref().map_or(0, |it| it.cost(usage));
        let currency = model.price.as_ref().map(|it| it.currency.as_str().into());
        let currency = currency.or_else(|| self.head.usage.get("currency").cloned());
        self.head.usage = json!({
            "input": before("input") + usage.input,
            "cache_read": before("cache_read") + usage.cache_read,
            "cache_write": before("cache_write") + usage.cache_write,
            "output": before("output") + usage.output,
            "cost": before("cost") + cost,
            "currency": currency,
        });
    }
}
