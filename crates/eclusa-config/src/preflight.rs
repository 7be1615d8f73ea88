//! `[reverse_thinker]` and `[checkpoint]`: who is asked before a tool runs that demands it.

use std::{collections::BTreeMap, time::Duration};

use eclusa::settings::Endpoint;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Trust, error::Problem, reviewers::reach, source::LayerReader, spanned::Spanned,
    tighten::granted, units::positive_time,
};

/// A program or a service that is asked before a tool runs which demands it. Whoever may start
/// programs and open connections makes a [`ReverseThinker`](eclusa::preflight::ReverseThinker) or a
/// [`Checkpoint`](eclusa::preflight::Checkpoint) of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightSettings {
    /// How it is reached.
    pub reach: PreflightReach,
    /// How long it may take; `None`: as long as `limits.checkpoint` says.
    pub time: Option<Duration>,
    /// Whether whoever runs the machine set it up: what it asks no mode and no setting answers.
    pub administrators: bool,
    /// Where it is written: `file:line`.
    pub origin: String,
}

/// How somebody is reached who is asked before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreflightReach {
    /// As a program or a service.
    Endpoint(Endpoint),
    /// As a model, by its name in the configuration or as `script:FILE`.
    Model(String),
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

/// Who argues the other side: a program, a service or a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Thinker {
    /// A model, by its name: it is asked once, and what is no clear answer stops the call.
    pub(super) model: Option<Spanned<String>>,
    /// Program and arguments: JSON on its input, JSON or an exit code back.
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// Web address that takes JSON and gives JSON back.
    pub(super) url: Option<Spanned<String>>,
    /// Headers for the address, and the environment variables that hold their values.
    pub(super) headers: Option<Spanned<BTreeMap<String, String>>>,
    /// How long it may take.
    pub(super) time: Option<Spanned<String>>,
}

/// Puts what a file says of the checkpoint in the place of what was said below.
pub(super) fn merge_checkpoint(
    source: &mut LayerReader<'_>,
    below: &mut Option<PreflightSettings>,
    written: Option<&Spanned<Preflight>>,
) {
    let Some(Spanned { span, it }) = written else { return };
    if !granted(source, span, "a checkpoint") {
        return;
    }
    let time = it.time.as_ref().and_then(|it| positive_time(source, it));
    if let Some(reach) = reach(source, "checkpoint", span, (&it.command, &it.url, &it.headers)) {
        let (reach, origin) = (PreflightReach::Endpoint(reach), source.origin(span));
        let administrators = source.trust == Trust::Administrator;
        *below = Some(PreflightSettings { reach, time, administrators, origin });
    }
}

/// The same for whoever argues the other side.
pub(super) fn merge_thinker(
    source: &mut LayerReader<'_>,
    below: &mut Option<PreflightSettings>,
    written: Option<&Spanned<Thinker>>,
) {
    let who = "reverse thinker";
    let Some(Spanned { span, it }) = written else { return };
    if !granted(source, span, &format!("a {who}")) {
        return;
    }
    let time = it.time.as_ref().and_then(|it| positive_time(source, it));
    let elsewhere = it.command.is_some() || it.url.is_some() || it.headers.is_some();
    let reach = match &it.model {
        Some(model) if elsewhere => {
            let text = format!("a {who} has a `model`, a `command` or a `url`, not several");
            source.wrong(Problem::new(&model.span, text));
            None
        }
        Some(model) => Some(PreflightReach::Model(model.it.clone())),
        None => reach(source, who, span, (&it.command, &it.url, &it.headers))
            .map(PreflightReach::Endpoint),
    };
    if let Some(reach) = reach {
        let (origin, administrators) = (source.origin(span), source.trust == Trust::Administrator);
        *below = Some(PreflightSettings { reach, time, administrators, origin });
    }
}
