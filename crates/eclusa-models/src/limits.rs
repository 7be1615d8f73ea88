//! What one turn may use: requests, tokens, money, time. Checked before each request.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::model::{ModelProfile, Usage};

/// What one turn may use. `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLimits {
    /// Requests to the model.
    pub requests: Option<u64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Money, in millionths of the currency.
    pub money: Option<u64>,
    /// Time from the first request.
    pub time: Option<Duration>,
}

impl TurnLimits {
    /// No limit at all: for a task, which is held to what is left of its parent's.
    pub const NONE: TurnLimits =
        TurnLimits { requests: None, tokens: None, money: None, time: None };
}

impl Default for TurnLimits {
    fn default() -> TurnLimits {
        TurnLimits { requests: Some(100), tokens: None, money: None, time: None }
    }
}

/// What a turn has used so far.
#[derive(Debug, Clone)]
pub struct TurnUse {
    /// When the turn began.
    pub began: Instant,
    /// Requests that were sent.
    pub requests: u64,
    /// Tokens that were used.
    pub usage: Usage,
    /// What they cost, in millionths of a unit of money.
    pub cost: u64,
    /// What others asked for the sake of its calls, until the conversation has counted it.
    pub aside: Vec<(Usage, ModelProfile)>,
}

impl Default for TurnUse {
    /// Nothing yet, from now on.
    fn default() -> TurnUse {
        TurnUse {
            began: Instant::now(),
            requests: 0,
            usage: Usage::default(),
            cost: 0,
            aside: Vec::new(),
        }
    }
}

impl TurnUse {
    /// Counts a reply.
    pub fn count(&mut self, usage: &Usage, model: &ModelProfile) {
        self.usage.add(usage);
        if let Some(price) = &model.price {
            self.cost = self.cost.saturating_add(price.cost(usage));
        }
    }

    /// The limit that a request of about so many tokens would pass, in words.
    pub fn passes(&self, limits: &TurnLimits, model: &ModelProfile, tokens: u64) -> Option<String> {
        let expected = Usage { input: tokens, ..Usage::default() };
        let price = model.price.as_ref().map_or(0, |it| it.cost(&expected));
        if let Some(most) = limits.requests.filter(|it| self.requests >= *it) {
            return Some(format!("{most} requests in one turn (limits.turn.requests)"));
        }
        let used = self.usage.total().saturating_add(tokens);
        if let Some(most) = limits.tokens.filter(|it| used > *it) {
            return Some(format!("{most} tokens in one turn (limits.turn.tokens)"));
        }
        if let Some(most) = limits.money.filter(|it| self.cost.saturating_add(price) > *it) {
            return Some(format!("{} in one turn (limits.turn.money)", money(most)));
        }
        if let Some(most) = limits.time.filter(|it| self.began.elapsed() >= *it) {
            return Some(time_over(most));
        }
        None
    }
}

/// The sentence about a turn whose time is over.
pub fn time_over(most: Duration) -> String {
    format!("{} s in one turn (limits.turn.time)", most.as_secs())
}

/// What a turn may use and has used, shared with the tasks that work for it.
#[derive(Debug, Clone)]
pub struct TurnBudget {
    /// What may be used.
    pub limits: TurnLimits,
    used: Arc<Mutex<TurnUse>>,
}

impl TurnBudget {
    /// A turn that begins now.
    pub fn new(limits: TurnLimits) -> TurnBudget {
        TurnBudget { limits, used: Arc::new(Mutex::new(TurnUse::default())) }
    }

    /// How long the turn may still take; `None`: as long as it wants.
    pub fn time_left(&self) -> Option<Duration> {
        let elapsed = self.used().began.elapsed();
        self.limits.time.map(|it| it.saturating_sub(elapsed))
    }

    /// What was used so far.
    pub fn used(&self) -> MutexGuard<'_, TurnUse> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the next request, of about so many tokens, unless it would pass a limit: which, in
    /// words. Of two that could both be the last, one is.
    pub fn reserve(&self, model: &ModelProfile, tokens: u64) -> Option<String> {
        let mut used = self.used();
        let passed = used.passes(&self.limits, model, tokens);
        if passed.is_none() {
            used.requests += 1;
        }
        passed
    }

    /// The same for a request that somebody else makes for the sake of a call. Where money is counted,
    /// a model without a price is not asked.
    pub fn reserve_aside(&self, model: &ModelProfile, tokens: u64) -> Option<String> {
        if self.limits.money.is_some() && model.price.is_none() {
            return Some(format!(
                "the price of the model `{}` is not known (limits.turn.money)",
                model.name
            ));
        }
        self.reserve(model, tokens)
    }
}

/// Millionths of a currency, as people write them.
pub fn money(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("{}.{:02}", cents / 100, cents % 100)
}
