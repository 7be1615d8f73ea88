//! What requests cost, and to whom they count: the turn, the whole conversation, and for a task the
//! turns that it works for.

use serde_json::{Value, json};

use super::{Conversation, RequestBody};
use crate::{
    limits::TurnBudget,
    model::{ModelProfile, Usage},
};

impl Conversation {
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
