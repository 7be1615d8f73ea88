//! `[[notifications]]` and `[approvals]`: who is told of questions that wait, and how the page is
//! reached.

use std::{collections::BTreeMap, time::Duration};

use eclusa::{
    approve::Proof,
    settings::{Endpoint, NotificationKind},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::Problem,
    reviewers::{check_url, reach},
    source::LayerReader,
    spanned::{Keyword, KeywordSet, Spanned},
    tighten::{granted, set_trusted_only},
    units,
};

/// Each notification waits so much longer than the one before it, unless it says otherwise: who has
/// answered by then disturbs nobody else.
const STEP: Duration = Duration::from_secs(10);

/// Somebody who is told of questions that wait. Whoever may start programs and open connections does
/// so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationSettings {
    /// Its name.
    pub name: String,
    /// What it understands.
    pub kind: NotificationKind,
    /// How it is reached.
    pub reach: Endpoint,
    /// The environment variable with the secret that webhooks are signed with.
    pub secret: Option<String>,
    /// Whether it is told the arguments of the call, with secrets masked.
    pub show_args: bool,
    /// It is told of questions that still wait after this time.
    pub after: Duration,
    /// Whether it is told of answers, too.
    pub answers: bool,
    /// Where it is written: `file:line`.
    pub origin: String,
}

/// How much of a call is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownPart {
    Tool,
    Args,
}

impl KeywordSet for ShownPart {
    const WORDS: &'static [(&'static str, ShownPart)] =
        &[("tool", ShownPart::Tool), ("args", ShownPart::Args)];
}

/// Somebody who is told of questions that wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Notification {
    /// Its name.
    name: Spanned<String>,
    /// What it understands: webhook (Standard Webhooks), slack, ntfy or command; webhook for a `url`
    /// and command for a `command` unless said.
    kind: Option<Keyword<NotificationKind>>,
    /// Program and arguments: JSON on its input, exit code 0 when it is done.
    command: Option<Spanned<Vec<String>>>,
    /// Web address that it is posted to.
    url: Option<Spanned<String>>,
    /// Headers for the address, and the environment variables that hold their values.
    headers: Option<Spanned<BTreeMap<String, String>>>,
    /// The environment variable with the secret that webhooks are signed with: base64, two with a
    /// blank between them while one takes the place of the other.
    secret: Option<Spanned<String>>,
    /// How much is told: tool (which tool, where, for how long), or args, too; tool unless said.
    show: Option<Keyword<ShownPart>>,
    /// Only of questions that still wait after this time; 10s more than the one before unless said.
    after: Option<Spanned<String>>,
    /// Whether it is told of answers, too: which tool, whether it may go on, and who said so. For a
    /// `webhook` or a `command`.
    answers: Option<Spanned<bool>>,
}

/// The page where approvals are answered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Approvals {
    /// The address that links to the page begin with; "http://localhost:8378" unless said.
    url: Option<Spanned<String>>,
    /// The environment variable with the secret of programs that answer by `POST /hooks/answer`.
    hook_secret: Option<Spanned<String>>,
    /// How long a question is kept that nobody waits for, with what its call did, and a yes that
    /// nobody has taken; "24h" unless said.
    pub(super) keep: Option<Spanned<String>>,
    /// How sure it must be who answers, whatever rules say: word, key or passkey; word unless said. Files above can
    /// raise it.
    pub(super) proof: Option<Spanned<Keyword<Proof>>>,
}

/// How the page is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalsSettings {
    /// The address that links to it begin with.
    pub url: Option<String>,
    /// The environment variable with the secret of programs that answer.
    pub hook_secret: Option<String>,
}

/// Lays what a file says over what is said below. A project's file tells nobody anything.
pub(super) fn merge(
    source: &mut LayerReader<'_>,
    below: (&mut Vec<NotificationSettings>, &mut ApprovalsSettings),
    notifications: &[Spanned<Notification>],
    approvals: &Approvals,
) {
    let (below, page) = below;
    for written in notifications {
        if !granted(source, &written.span, "a notification") {
            continue;
        }
        let position = below.len();
        let Some(read) = read(source, written, position) else { continue };
        match below.iter_mut().find(|it| it.name == read.name) {
            Some(old) => *old = read,
            None => below.push(read),
        }
    }
    if let Some(url) = &approvals.url
        && source.keep(&url.span, check_url(&url.it)).is_some()
    {
        let new = Some(url.it.clone());
        set_trusted_only(source, &url.span, &mut page.url, new);
    }
    if let Some(name) = &approvals.hook_secret {
        let new = Some(name.it.clone());
        set_trusted_only(source, &name.span, &mut page.hook_secret, new);
    }
}

/// The notification that is meant, or nothing and what is wrong with it.
fn read(
    source: &mut LayerReader<'_>,
    written: &Spanned<Notification>,
    position: usize,
) -> Option<NotificationSettings> {
    let (span, it) = (&written.span, &written.it);
    if it.name.it.trim().is_empty() {
        source.wrong(Problem::new(&it.name.span, "a notification needs a name"));
        return None;
    }
    let reach = reach(source, "notification", span, (&it.command, &it.url, &it.headers))?;
    let program = matches!(reach, Endpoint::Command(_));
    let usual = if program { NotificationKind::Command } else { NotificationKind::Webhook };
    let kind = it.kind.map_or(usual, |it| it.0);
    if program != (kind == NotificationKind::Command) {
        let text = "`command` is for a `command`; webhook, slack and ntfy are for a `url`";
        source.wrong(Problem::new(span, text));
        return None;
    }
    if let Some(secret) = it.secret.as_ref().filter(|_| kind != NotificationKind::Webhook) {
        source.wrong(Problem::new(&secret.span, "only a webhook is signed with a secret"));
        return None;
    }
    let by_people = matches!(kind, NotificationKind::Slack | NotificationKind::Ntfy);
    if let Some(answers) = it.answers.as_ref().filter(|it| it.it && by_people) {
        let text = "only a webhook or a command gets answers";
        source.wrong(Problem::new(&answers.span, text));
        return None;
    }
    let after = match &it.after {
        Some(after) => source.keep(&after.span, units::time(&after.it))?,
        None => STEP.saturating_mul(u32::try_from(position).unwrap_or(u32::MAX)),
    };
    Some(NotificationSettings {
        name: it.name.it.clone(),
        kind,
        reach,
        secret: it.secret.as_ref().map(|it| it.it.clone()),
        show_args: it.show.is_some_and(|it| it.0 == ShownPart::Args),
        after,
        answers: it.answers.as_ref().is_some_and(|it| it.it),
        origin: source.origin(span),
    })
}
