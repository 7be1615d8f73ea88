//! `[reverse_thinker]` and `[checkpoint]`: who is asked before a tool runs that demands it.

use std::{collections::BTreeMap, time::Duration};

use eclusa::settings::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Config, ConfigError, Layer, reviewers::reach, source::LayerReader, spanned::Spanned,
    tighten::granted, units::positive_time,
};

/// A program or a service that is asked before a tool runs which demands it. Whoever may start
/// programs and open connections makes a [`ReverseThinker`](eclusa::preflight::ReverseThinker) or a
/// [`Checkpoint`](eclusa::preflight::Checkpoint) of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightSettings {
    /// How it is reached.
    pub reach: Endpoint,
    /// How long it may take; `None`: as long as `limits.checkpoint` says.
    pub time: Option<Duration>,
    /// Where it is written: `file:line`.
    pub origin: String,
}

/// A program or a service that is asked before a tool runs which demands it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Preflight {
    /// Program and arguments: JSON on its input, JSON or an exit code back.
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// Web address that takes JSON and gives JSON back.
    pub(super) url: Option<Spanned<String>>,
    /// Headers for the address, and the environment variables that hold their values.
    pub(super) headers: Option<Spanned<BTreeMap<String, String>>>,
    /// How long it may take.
    pub(super) time: Option<Spanned<String>>,
}

/// Puts what a file says in the place of what was said below.
pub(super) fn merge(
    source: &mut LayerReader<'_>,
    below: &mut Option<PreflightSettings>,
    who: &str,
    written: Option<&Spanned<Preflight>>,
) {
    let Some(Spanned { span, it }) = written else { return };
    if !granted(source, span, &format!("a {who}")) {
        return;
    }
    let time = it.time.as_ref().and_then(|it| positive_time(source, it));
    if let Some(reach) = reach(source, who, span, (&it.command, &it.url, &it.headers)) {
        *below = Some(PreflightSettings { reach, time, origin: source.origin(span) });
    }
}

/// Tools that could never run, or that name reviewers whom nobody knows.
pub(super) fn check(config: &mut Config, layers: &[&Layer]) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for tool in &config.tools {
        let mut wrong = |message: String, help: &str| {
            errors.push(ConfigError::at_origin(&tool.origin, layers, message, help));
        };
        if tool.facts.needs_reverse_thinking && config.reverse_thinker.is_none() {
            wrong(
                format!("`{}` needs reverse thinking, and nobody is set up to do it", tool.name),
                "add `[reverse_thinker]` with a `command` or a `url`, or leave `reverse_thinking` out",
            );
        }
        for name in &tool.reviewers {
            match config.reviewers.iter_mut().find(|it| it.name == *name) {
                Some(reviewer) => reviewer.named_by.push(tool.name.clone()),
                None => wrong(
                    format!("`{}` names the reviewer `{name}`, and there is none", tool.name),
                    "add it to `[[reviewers]]`",
                ),
            }
        }
    }
    errors
}
