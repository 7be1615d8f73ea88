//! Reviewers that are programs or web addresses.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use eclusa::{Decision, Limits, Rule, policy::Names, settings::Endpoint};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Trust,
    error::Problem,
    source::LayerReader,
    spanned::{Keyword, KeywordSet, OnError, OneOrMany, Spanned},
    units::positive_time,
};

/// A reviewer from the configuration. Whoever may start programs and open connections makes a
/// [`Reviewer`](eclusa::Reviewer) of it.
#[derive(Debug, Clone)]
pub struct ReviewerSettings {
    /// Name for the record.
    pub name: String,
    /// Whose calls it reads: names or globs. `None`: those of every tool. Empty: those of the tools that
    /// name it.
    pub tools: Option<Vec<String>>,
    /// A rule that applies to the calls that it reads, where it reads those about some files alone.
    pub about: Option<Rule>,
    /// Whether it only observes: it neither delays a call nor decides about it.
    pub observes: bool,
    /// What it reads of them.
    pub on: ReviewsOn,
    /// How it is reached.
    pub reach: Endpoint,
    /// How long it may take; `None`: as long as any reviewer.
    pub time: Option<Duration>,
    /// What happens when it cannot be reached, errs or takes too long: `true` lets the call go
    /// on, with a warning (C29). The default is `false`.
    pub allow_on_error: bool,
    /// Whether whoever runs the machine set it up: what it asks no mode and no setting answers.
    pub administrators: bool,
    /// Where it is written: `file:line`.
    pub origin: String,
    pub(super) names: Names,
    /// Tools that name it in their own entries.
    pub(super) named_by: Vec<String>,
}

/// What a reviewer reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewsOn {
    /// Calls.
    Input,
    /// Outputs.
    Output,
    /// Both.
    #[default]
    Both,
}

impl ReviewsOn {
    /// True when it reads calls.
    pub fn input(self) -> bool {
        self != ReviewsOn::Output
    }

    /// True when it reads outputs.
    pub fn output(self) -> bool {
        self != ReviewsOn::Input
    }
}

impl ReviewerSettings {
    /// True when it reads the calls of this tool.
    pub fn covers(&self, tool: &str) -> bool {
        self.tools.is_none()
            || self.names.matches(tool)
            || self.named_by.iter().any(|it| it == tool)
    }
}

impl KeywordSet for ReviewsOn {
    const WORDS: &'static [(&'static str, ReviewsOn)] =
        &[("input", ReviewsOn::Input), ("output", ReviewsOn::Output), ("both", ReviewsOn::Both)];
}

/// A reviewer that is a program or a web address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Reviewer {
    /// Its name in the log.
    pub(super) name: Spanned<String>,
    /// Whose calls it reads: a name, a glob or several; those of all tools unless said. An empty list:
    /// those of the tools that name it, and no others.
    pub(super) tools: Option<Spanned<OneOrMany<String>>>,
    /// Only calls that read or write these paths, written as in rules, or may do so.
    pub(super) path: Option<Spanned<OneOrMany<String>>>,
    /// It only observes: a program that is started beside each call, and neither delays it nor decides.
    #[serde(rename = "async")]
    pub(super) observes: Option<Spanned<bool>>,
    /// What it reads of them; both unless said.
    pub(super) on: Option<Keyword<ReviewsOn>>,
    /// Program and arguments: JSON on its input, JSON or an exit code back.
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// Web address that takes JSON and gives JSON back.
    pub(super) url: Option<Spanned<String>>,
    /// Headers for the address, and the environment variables that hold their values.
    pub(super) headers: Option<Spanned<BTreeMap<String, String>>>,
    /// How long it may take.
    pub(super) time: Option<Spanned<String>>,
    /// What happens when it cannot be reached, errs or takes too long; deny unless said.
    pub(super) on_error: Option<Keyword<OnError>>,
}

/// The reviewer that is meant, or nothing and what is wrong with it.
pub(super) fn read(
    source: &mut LayerReader<'_>,
    written: &Spanned<Reviewer>,
) -> Option<ReviewerSettings> {
    let (span, it) = (&written.span, &written.it);
    let before = source.count();
    if it.name.it.trim().is_empty() {
        source.wrong(Problem::new(&it.name.span, "a reviewer needs a name"));
    }
    let names = it
        .tools
        .as_ref()
        .filter(|tools| !tools.it.as_slice().is_empty())
        .and_then(|tools| source.keep(&tools.span, Names::of_tools(tools.it.as_slice())));
    let about = it.path.as_ref().and_then(|path| {
        let rule = Rule::new(Decision::Ask).path(path.it.as_slice());
        source.keep(&path.span, rule.map_err(|err| err.to_string()))
    });
    let observes = it.observes.as_ref().filter(|it| it.it);
    if let Some(observes) = observes
        && (it.url.is_some() || it.on_error.is_some())
    {
        let text = "a reviewer that only observes is a `command`, and has no `on_error`";
        source.wrong(Problem::new(&observes.span, text).help("take `async` away, or the other"));
    }
    let reach = reach(source, "reviewer", span, (&it.command, &it.url, &it.headers));
    let mut time = it.time.as_ref().and_then(|it| positive_time(source, it));
    if source.trust == Trust::Administrator {
        // A person who gives reviewers no time must not have what one would have said.
        time = time.or(Some(Limits::default().review));
    }
    let reviewer = ReviewerSettings {
        name: it.name.it.clone(),
        tools: it.tools.as_ref().map(|it| it.it.as_slice().to_vec()),
        about,
        observes: observes.is_some(),
        on: it.on.map(|it| it.0).unwrap_or_default(),
        reach: reach?,
        time,
        allow_on_error: it.on_error.is_some_and(|it| it.0 == OnError::Allow),
        administrators: source.trust == Trust::Administrator,
        origin: source.origin(span),
        names: names.unwrap_or_default(),
        named_by: Vec::new(),
    };
    (source.count() == before).then_some(reviewer)
}

/// A program and its arguments, an address, and headers for it, as written.
type Reached<'a> = (
    &'a Option<Spanned<Vec<String>>>,
    &'a Option<Spanned<String>>,
    &'a Option<Spanned<BTreeMap<String, String>>>,
);

/// How somebody is reached: by a program or at an address, not both.
pub(super) fn reach(
    source: &mut LayerReader<'_>,
    who: &str,
    span: &Range<usize>,
    written: Reached<'_>,
) -> Option<Endpoint> {
    match written {
        (Some(command), None, None) => {
            let program = command.it.first().filter(|it| !it.is_empty());
            if program.is_none() {
                source.wrong(Problem::new(&command.span, "`command` needs a program"));
            }
            Some(Endpoint::Command(command.it.clone()))
        }
        (None, Some(url), headers) => {
            let checked = check_url(&url.it);
            source.keep(&url.span, checked)?;
            let headers = headers.as_ref().map(|it| it.it.clone()).unwrap_or_default();
            Some(Endpoint::Url { url: url.it.clone(), headers })
        }
        (Some(_), None, Some(headers)) => {
            source.wrong(Problem::new(&headers.span, "a program has no headers"));
            None
        }
        (None, None, _) => {
            source.wrong(Problem::new(span, format!("a {who} needs a `command` or a `url`")));
            None
        }
        (Some(_), Some(url), _) => {
            let text = format!("a {who} has a `command` or a `url`, not both");
            source.wrong(Problem::new(&url.span, text));
            None
        }
    }
}

/// What is reviewed may be secret: it leaves this machine encrypted or not at all.
pub(super) fn check_url(url: &str) -> Result<(), String> {
    let here = ["localhost", "127.0.0.1", "[::1]"];
    let fine = match url.split_once("://") {
        Some(("https", rest)) => !rest.is_empty() && !rest.starts_with('/'),
        Some(("http", rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            here.iter().any(|it| {
                host.strip_prefix(it).is_some_and(|rest| {
                    rest.strip_prefix(':').map_or(rest.is_empty(), |port| {
                        !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit())
                    })
                })
            })
        }
        _ => false,
    };
    match fine {
        true => Ok(()),
        false => Err(format!(
            "`{url}` is not an address that calls can be sent to; use https, or http to this machine"
        )),
    }
}
