//! A question as it is kept in the store, version 1, and back: a person who is asked later sees
//! what a person who is asked at once would have seen.

use std::{borrow::Cow, path::PathBuf, sync::Arc, time::Duration};

use eclusa::{
    Decision, Grant, Hash, PermissionClass, Question, Reason, ReasonId, SignatureRequest, Source,
    Touch, Verdict,
    approve::{Escalation, GrantScope, KEEP, PendingRef, Preview, QuestionAbout, Requirement},
    preflight::{Advice, ReverseThinkingReport},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::millis;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
struct QuestionWire<'a> {
    v: u8,
    call: Cow<'a, str>,
    tool: Cow<'a, str>,
    server: Option<Cow<'a, str>>,
    class: Cow<'a, str>,
    args: Cow<'a, Value>,
    /// The arguments with their secrets masked, where they hold any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    masked: Option<Cow<'a, Value>>,
    touches: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    decision: Cow<'a, str>,
    because: Vec<ReasonWire<'a>>,
    reason: Option<Cow<'a, str>>,
    destructive: bool,
    deliverable: Option<ReportWire<'a>>,
    #[serde(default)]
    preview: Option<PreviewWire<'a>>,
    /// The hosts that it is about, where it is about hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hosts: Option<Cow<'a, [String]>>,
    /// Where it is about a signature: the key, the repository, and what is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<SignatureWire<'a>>,
    binding: Cow<'a, str>,
    grant: Option<GrantWire<'a>>,
    can_always: bool,
    principal: Cow<'a, str>,
    conversation: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<Cow<'a, str>>,
    ms: u64,
    /// How long it is kept; questions of older versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_ms: Option<u64>,
    /// The run that it is about: its call, and the digest of what is kept of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<(u64, String)>,
}

/// Key, repository, and what is signed.
type SignatureWire<'a> = (Cow<'a, str>, Cow<'a, str>, Cow<'a, [String]>);

#[derive(Serialize, Deserialize)]
struct ReasonWire<'a> {
    decision: Cow<'a, str>,
    source: Cow<'a, str>,
    origin: Cow<'a, str>,
    text: Cow<'a, str>,
    /// Who must say yes, where the rule says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requires: Option<Requires<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Requires<'a> {
    of: Cow<'a, [String]>,
    need: usize,
    with: Cow<'a, str>,
    separate: bool,
    within_ms: Option<u64>,
    /// Who else may answer, after so many milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    then: Vec<(u64, Vec<String>)>,
}

#[derive(Serialize, Deserialize)]
struct ReportWire<'a> {
    hidden_assumptions: Cow<'a, [String]>,
    failure_scenarios: Cow<'a, [String]>,
    verdict: Cow<'a, str>,
    verdict_reason: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct PreviewWire<'a> {
    summary: Cow<'a, str>,
    diff: Cow<'a, str>,
    /// Questions of older versions do not say: then something may be missing.
    #[serde(default)]
    whole: bool,
    /// Paths that can be applied alone, and what is shown of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

#[derive(Serialize, Deserialize)]
struct GrantWire<'a> {
    tool: Cow<'a, str>,
    revision: Cow<'a, str>,
    args_sha256: Option<String>,
    /// What "always" would be held to; questions of older versions have none, and offer none.
    #[serde(default)]
    always: Option<ScopeWire<'a>>,
}

#[derive(Serialize, Deserialize)]
struct ScopeWire<'a> {
    commands: Cow<'a, [String]>,
    paths: Cow<'a, [String]>,
    hosts: Cow<'a, [String]>,
}

/// The question as one line of JSON.
pub(super) fn write(question: &Question) -> Result<String, String> {
    let wire = QuestionWire {
        v: 1,
        call: (&question.call).into(),
        tool: (&question.tool).into(),
        server: question.server.as_ref().map(Cow::from),
        class: question.class.as_str().into(),
        args: Cow::Borrowed(&question.args),
        masked: question.shown_args.as_ref().map(Cow::Borrowed),
        touches: question.touches.iter().map(touch_out).collect(),
        decision: question.verdict.decision.as_str().into(),
        because: question.verdict.because.iter().map(because_out).collect(),
        reason: question.reason.as_ref().map(Cow::from),
        destructive: question.destructive,
        deliverable: question.reverse_thinking.as_ref().map(|it| ReportWire {
            hidden_assumptions: (&it.hidden_assumptions[..]).into(),
            failure_scenarios: (&it.failure_scenarios[..]).into(),
            verdict: it.verdict.as_str().into(),
            verdict_reason: (&it.verdict_reason).into(),
        }),
        preview: question.made().map(|it| PreviewWire {
            summary: (&it.summary).into(),
            diff: (&it.diff).into(),
            whole: it.whole,
            choices: choices_out(&it.choices),
        }),
        hosts: match &question.about {
            QuestionAbout::Hosts(hosts) => Some(hosts.into()),
            _ => None,
        },
        signature: match &question.about {
            QuestionAbout::Signature(it, _) => {
                Some(((&it.key).into(), it.repository.to_string_lossy(), (&it.what).into()))
            }
            _ => None,
        },
        binding: (&question.binding).into(),
        grant: question.grant.as_ref().map(|it| GrantWire {
            tool: (&it.tool).into(),
            revision: (&it.revision).into(),
            args_sha256: it.args.map(|hash| hash.to_string()),
            always: it.scope.as_ref().map(|it| ScopeWire {
                commands: (&it.commands).into(),
                paths: (&it.paths).into(),
                hosts: (&it.hosts).into(),
            }),
        }),
        can_always: question.can_always,
        principal: (&question.principal).into(),
        conversation: (&question.session).into(),
        task: question.task.as_ref().map(Cow::from),
        ms: millis(question.time),
        keep_ms: (!question.keep.is_zero()).then(|| millis(question.keep)),
        pending: question.pending.map(|it| (it.call, it.sha256.to_string())),
    };
    serde_json::to_string(&wire).map_err(|err| err.to_string())
}

/// The digest of what a person decides about: everything but which call asks or ran, in which
/// conversation, for how long, and what the model or somebody who argues says about it. Who asks
/// the same again asks the same question.
pub(super) fn shown(question: &Question) -> Result<Hash, String> {
    let decided_about = Question {
        call: String::new(),
        session: String::new(),
        reason: None,
        reverse_thinking: None,
        task: None,
        time: Duration::ZERO,
        keep: Duration::ZERO,
        pending: None,
        ..question.clone()
    };
    write(&decided_about).map(|text| Hash::sha256(text.as_bytes()))
}

/// Reads it back; a word that nobody knows is an error, because nobody should approve what
/// cannot be shown.
pub(super) fn read(text: &str) -> Result<Question, String> {
    let wire: QuestionWire<'_> = serde_json::from_str(text).map_err(|err| err.to_string())?;
    if wire.v != 1 {
        return Err(format!("its version {} is not known", wire.v));
    }
    let because: Result<Vec<Reason>, String> = wire.because.into_iter().map(because_in).collect();
    Ok(Question {
        call: wire.call.into_owned(),
        tool: wire.tool.into_owned(),
        server: wire.server.map(Cow::into_owned),
        class: wire.class.parse::<PermissionClass>()?,
        args: wire.args.into_owned(),
        shown_args: wire.masked.map(Cow::into_owned),
        touches: wire.touches.into_iter().map(touch_in).collect::<Result<_, _>>()?,
        verdict: Verdict { decision: decision_in(&wire.decision)?, because: because? },
        reason: wire.reason.map(Cow::into_owned),
        destructive: wire.destructive,
        reverse_thinking: wire.deliverable.map(report_in).transpose()?,
        about: match (wire.preview, wire.hosts, wire.signature) {
            (None, None, None) => QuestionAbout::Running,
            (Some(it), None, None) => QuestionAbout::Changes(preview_in(it)),
            (None, Some(hosts), None) => QuestionAbout::Hosts(hosts.into_owned()),
            (Some(made), None, Some((key, repository, what))) => {
                let repository = repository.into_owned().into();
                let (key, what) = (key.into_owned(), what.into_owned());
                let request = SignatureRequest { key, repository, what };
                QuestionAbout::Signature(request, preview_in(made))
            }
            _ => return Err("it is about two things".to_owned()),
        },
        binding: wire.binding.into_owned(),
        grant: wire.grant.map(grant_in).transpose()?,
        can_always: wire.can_always,
        principal: wire.principal.into_owned(),
        session: wire.conversation.into_owned(),
        task: wire.task.map(Cow::into_owned),
        time: Duration::from_millis(wire.ms),
        keep: wire.keep_ms.map_or(KEEP, Duration::from_millis),
        pending: wire.pending.map(pending_in).transpose()?,
    })
}

/// All of them, or none where a path cannot be written as text: then all is answered for at once.
fn choices_out(choices: &[(PathBuf, String)]) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let mut texts = Vec::with_capacity(choices.len());
    for (path, shown) in choices {
        let Some(path) = path.to_str() else { return Vec::new() };
        texts.push((path.into(), shown.into()));
    }
    texts
}

fn pending_in((call, hex): (u64, String)) -> Result<PendingRef, String> {
    let sha256 = Hash::from_hex(&hex).ok_or_else(|| unknown(&hex))?;
    Ok(PendingRef { call, sha256 })
}

fn preview_in(it: PreviewWire<'_>) -> Preview {
    let choices = it.choices.into_iter().map(choice_in).collect();
    let (summary, diff) = (it.summary.into_owned(), it.diff.into_owned());
    Preview { summary, diff, whole: it.whole, choices }
}

fn choice_in((path, shown): (Cow<'_, str>, Cow<'_, str>)) -> (PathBuf, String) {
    (PathBuf::from(path.into_owned()), shown.into_owned())
}

fn touch_out(touch: &Touch) -> (Cow<'_, str>, Cow<'_, str>) {
    match touch {
        Touch::Run(what) => ("run".into(), what.into()),
        Touch::Read(what) => ("read".into(), what.into()),
        Touch::Write(what) => ("write".into(), what.into()),
        Touch::Fetch(what) => ("fetch".into(), what.into()),
        Touch::Unknown => ("unknown".into(), "".into()),
        Touch::Unheld(what) => ("unheld".into(), what.into()),
    }
}

fn touch_in((word, what): (Cow<'_, str>, Cow<'_, str>)) -> Result<Touch, String> {
    let what = what.into_owned();
    match &*word {
        "run" => Ok(Touch::Run(what)),
        "read" => Ok(Touch::Read(what)),
        "write" => Ok(Touch::Write(what)),
        "fetch" => Ok(Touch::Fetch(what)),
        "unknown" => Ok(Touch::Unknown),
        "unheld" => Ok(Touch::Unheld(what)),
        _ => Err(unknown(&word)),
    }
}

fn because_out(reason: &Reason) -> ReasonWire<'_> {
    let source = match reason.source {
        Source::Rule => "rule",
        Source::Administrator => "administrator",
        Source::Default => "default",
        Source::Floor => "floor",
        Source::Mode => "mode",
    };
    ReasonWire {
        decision: reason.decision.as_str().into(),
        source: source.into(),
        origin: reason.origin.label().into(),
        text: (*reason.text).into(),
        requires: match &reason.origin {
            ReasonId::Rule { requires, .. } => requires.as_deref().map(requires_out),
            ReasonId::Taint | ReasonId::Named(_) => None,
        },
    }
}

fn requires_out(it: &Requirement) -> Requires<'_> {
    Requires {
        of: (&it.of).into(),
        need: it.need,
        with: it.with.as_str().into(),
        separate: it.separate,
        within_ms: it.within.map(millis),
        then: it.then.iter().map(|it| (millis(it.after), it.of.clone())).collect(),
    }
}

fn requires_in(it: Requires<'_>) -> Result<Requirement, String> {
    Ok(Requirement {
        of: it.of.into_owned(),
        need: it.need,
        with: it.with.parse().map_err(|_| unknown(&it.with))?,
        separate: it.separate,
        within: it.within_ms.map(Duration::from_millis),
        then: it.then.into_iter().map(escalation_in).collect(),
    })
}

fn escalation_in((after, of): (u64, Vec<String>)) -> Escalation {
    Escalation { after: Duration::from_millis(after), of }
}

fn because_in(because: ReasonWire<'_>) -> Result<Reason, String> {
    let source = match &*because.source {
        "rule" => Source::Rule,
        "administrator" => Source::Administrator,
        "default" => Source::Default,
        "floor" => Source::Floor,
        "mode" => Source::Mode,
        word => return Err(unknown(word)),
    };
    let origin = because.origin.into_owned();
    Ok(Reason {
        decision: decision_in(&because.decision)?,
        source,
        origin: match because.requires {
            None => origin.into(),
            Some(requires) => {
                let requires = Some(Arc::new(requires_in(requires)?));
                ReasonId::Rule { id: None, written_at: origin.into(), requires }
            }
        },
        text: because.text.into_owned().into(),
    })
}

fn decision_in(word: &str) -> Result<Decision, String> {
    [Decision::Allow, Decision::Stage, Decision::Ask, Decision::Deny]
        .into_iter()
        .find(|decision| decision.as_str() == word)
        .ok_or_else(|| unknown(word))
}

fn report_in(report: ReportWire<'_>) -> Result<ReverseThinkingReport, String> {
    let verdict = [Advice::Proceed, Advice::Ask, Advice::Stop]
        .into_iter()
        .find(|advice| advice.as_str() == report.verdict)
        .ok_or_else(|| unknown(&report.verdict))?;
    Ok(ReverseThinkingReport {
        hidden_assumptions: report.hidden_assumptions.into_owned(),
        failure_scenarios: report.failure_scenarios.into_owned(),
        verdict,
        verdict_reason: report.verdict_reason.into_owned(),
    })
}

fn grant_in(covers: GrantWire<'_>) -> Result<Grant, String> {
    let args = match covers.args_sha256 {
        None => None,
        Some(hex) => Some(Hash::from_hex(&hex).ok_or_else(|| unknown(&hex))?),
    };
    let scope = covers.always.map(|it| GrantScope {
        commands: it.commands.into_owned(),
        paths: it.paths.into_owned(),
        hosts: it.hosts.into_owned(),
    });
    let (tool, revision) = (covers.tool.into_owned(), covers.revision.into_owned());
    Ok(Grant { tool, revision, args, scope })
}

fn unknown(word: &str) -> String {
    format!("`{word}` is not known")
}
