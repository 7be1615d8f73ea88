//! Allowances of this workspace, for its gates: rules that people agreed on, read anew when they change.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{
    Decision, Rule,
    approve::{AllowanceError, Allowances, LiveAllowance},
    store::ApprovalQueue,
};
use eclusa_config::{Config, Layer};
use futures::future::BoxFuture;

use crate::{config_layers::unusable, failure::Failure};

/// So many rules are kept as they were read.
const MAX_KEPT: usize = 100;

/// The allowances of a store.
pub struct StoredAllowances {
    queue: Arc<dyn ApprovalQueue>,
    read: Mutex<HashMap<String, Rule>>,
}

impl StoredAllowances {
    /// Those that this queue keeps.
    pub fn new(queue: Arc<dyn ApprovalQueue>) -> StoredAllowances {
        StoredAllowances { queue, read: Mutex::default() }
    }

    /// The rule of this text. Reading takes a while, and few are used often.
    fn rule(&self, text: &str) -> Result<Rule, String> {
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rule) = kept.get(text) {
            return Ok(rule.clone());
        }
        let rule = rule(text).map_err(|failure| failure.lines().join("; "))?;
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(text.to_owned(), rule.clone());
        Ok(rule)
    }
}

impl Allowances for StoredAllowances {
    fn live(&self) -> BoxFuture<'_, Result<Vec<LiveAllowance>, AllowanceError>> {
        Box::pin(async move {
            let found = self.queue.live_allowances().await.map_err(|err| err.to_string())?;
            let mut live = Vec::new();
            for allowance in found {
                // Another version may have written what this one cannot read: then it allows nothing.
                match self.rule(&allowance.rule) {
                    Ok(rule) => live.push(LiveAllowance { allowance, rule }),
                    Err(why) => tracing::warn!("allowance {}: {why}", allowance.id),
                }
            }
            Ok(live)
        })
    }

    fn take(&self, id: u64) -> BoxFuture<'_, Result<bool, AllowanceError>> {
        Box::pin(
            async move { Ok(self.queue.take_allowance(id).await.map_err(|err| err.to_string())?) },
        )
    }
}

/// The one rule of a text: it allows, says what, and has no bounds of its own.
pub fn rule(text: &str) -> Result<Rule, Failure> {
    let wrong = |what: &str| {
        Failure::usage(format!("an allowance is one rule: {what}")).hint(
            "write `[[rules]]` with decision = \"allow\" and its conditions, and nothing else",
        )
    };
    let table: toml_edit::DocumentMut =
        text.parse().map_err(|err: toml_edit::TomlError| Failure::usage(err.to_string()))?;
    if table.iter().any(|(key, _)| key != "rules") {
        return Err(wrong("there is something else in the file"));
    }
    let config = Config::load(&[Layer::of_person("allowance", text)]).map_err(unusable)?;
    let mut rules = config.rules.into_iter().filter(|it| !it.is_shipped());
    let (Some(rule), None) = (rules.next(), rules.next()) else {
        return Err(wrong("there are none, or several"));
    };
    if rule.decision() != Decision::Allow {
        return Err(wrong("it must allow"));
    }
    if !rule.has_conditions() {
        return Err(wrong("it needs a condition: what it allows"));
    }
    let bounds = rule.validity();
    if bounds.times.is_some() || bounds.until.is_some() || !rule.exceptions().is_empty() {
        return Err(wrong("`--times` and `--for` bound it, and it is an exception to nothing"));
    }
    Ok(rule)
}
