//! `[diagnostics]`: the check commands that a person has named.

use std::{collections::BTreeMap, ops::Range};

use eclusa::{registry::check_tool_name, settings::CheckSettings};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Config,
    error::Problem,
    source::{LayerReader, check_env},
    spanned::Spanned,
    tighten::granted,
    units::positive_time,
};

/// The name of the check that is written as `diagnostics.command`.
const PLAIN: &str = "check";

/// The checks that the tool `diagnostics` runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Diagnostics {
    /// Program and arguments of the check, where one is enough. It is called `check`.
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// How long it may run.
    pub(super) timeout: Option<Spanned<String>>,
    /// Environment variables that are passed on to it, by name.
    #[serde(default)]
    pub(super) env: Vec<Spanned<String>>,
    /// Several checks, by name.
    #[serde(default)]
    pub(super) checks: BTreeMap<String, Spanned<Check>>,
}

/// One check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Check {
    /// Program and arguments. No shell is involved.
    pub(super) command: Spanned<Vec<String>>,
    /// How long it may run.
    pub(super) timeout: Option<Spanned<String>>,
    /// Environment variables that are passed on to it, by name.
    #[serde(default)]
    pub(super) env: Vec<Spanned<String>>,
}

/// Adds the checks of a file; one that is named again replaces the earlier one.
pub(super) fn merge(source: &mut LayerReader<'_>, below: &mut Config, file: &Diagnostics) {
    let own = file.command.as_ref().map(|command| NamedCheck {
        name: PLAIN,
        span: &command.span,
        command,
        time: file.timeout.as_ref(),
        env: &file.env,
    });
    let stray = file.timeout.as_ref().or(file.env.first()).filter(|_| own.is_none());
    if let Some(stray) = stray {
        let text = "`diagnostics` has no `command` that this belongs to";
        source.wrong(Problem::new(&stray.span, text).help("write it into the check it is for"));
    }
    let others = file.checks.iter().map(|(name, check)| NamedCheck {
        name,
        span: &check.span,
        command: &check.it.command,
        time: check.it.timeout.as_ref(),
        env: &check.it.env,
    });
    for named in own.into_iter().chain(others) {
        if !granted(source, named.span, "a check that runs a program") {
            continue;
        }
        if let Some(check) = read(source, &named) {
            below.checks.retain(|it| it.name != check.name);
            below.checks.push(check);
        }
    }
}

struct NamedCheck<'a> {
    name: &'a str,
    span: &'a Range<usize>,
    command: &'a Spanned<Vec<String>>,
    time: Option<&'a Spanned<String>>,
    env: &'a [Spanned<String>],
}

fn read(source: &mut LayerReader<'_>, it: &NamedCheck<'_>) -> Option<CheckSettings> {
    let before = source.count();
    source.keep(it.span, check_tool_name(it.name).map_err(|err| err.to_string()));
    if it.command.it.first().is_none_or(String::is_empty) {
        source.wrong(Problem::new(&it.command.span, "`command` needs a program"));
    }
    check_env(source, it.env);
    let check = CheckSettings {
        name: it.name.to_owned(),
        command: it.command.it.clone(),
        time: it.time.and_then(|it| positive_time(source, it)),
        env: it.env.iter().map(|it| it.it.clone()).collect(),
        origin: source.origin(it.span),
    };
    (source.count() == before).then_some(check)
}
