//! Allowances: rules that people agree on beforehand, for so many calls and so long. They stand in for
//! the answers to questions, and for nothing else.

use futures::future::BoxFuture;
use serde_json::json;

use crate::{GivenVote, Hash, Rule, errors::AllowanceError};

/// A rule for so many calls and so long, and who agreed to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// Its number; never given twice.
    pub id: u64,
    /// The rule, as it was written.
    pub rule: String,
    /// For so many calls.
    pub times: u64,
    /// Until then, in milliseconds since 1970.
    pub until: u64,
    /// How many calls it has let pass.
    pub used: u64,
    /// When it was proposed.
    pub created: u64,
    /// Who proposed it.
    pub proposed_by: String,
    /// Who agreed to it.
    pub votes: Vec<GivenVote>,
    /// When it was taken back, and who did.
    pub revoked: Option<(u64, String)>,
}

impl Allowance {
    /// Whether it can let another call pass at this moment.
    pub fn is_live(&self, now: u64) -> bool {
        self.revoked.is_none() && self.used < self.times && self.until > now
    }

    /// The text that this person signs to agree to it, in this queue.
    pub fn statement(&self, queue: &str, person: &str) -> String {
        let rule = Hash::sha256(self.rule.as_bytes()).to_string();
        // In alphabetical order; numbers are integers below 2^53.
        let body = json!({
            "allowance": self.id, "person": person, "queue": queue, "rule_sha256": rule,
            "times": self.times, "until": self.until,
        });
        format!("eclusa allowance v1\n{body}")
    }
}

/// An allowance that can let calls pass, and its rule as it was read.
#[derive(Debug, Clone)]
pub struct LiveAllowance {
    /// What people agreed on.
    pub allowance: Allowance,
    /// The rule: it allows, and has conditions.
    pub rule: Rule,
}

/// The allowances of a workspace.
pub trait Allowances: Send + Sync {
    /// Those that can let calls pass now, oldest first.
    fn live(&self) -> BoxFuture<'_, Result<Vec<LiveAllowance>, AllowanceError>>;

    /// Counts one more use, unless it is used up, over or taken back: then it is `false`. Exact,
    /// however many processes take at once.
    fn take(&self, id: u64) -> BoxFuture<'_, Result<bool, AllowanceError>>;
}
