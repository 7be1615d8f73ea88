//! Every way a call can end without its output, in the words that the model reads: as it was.

use std::{path::Path, time::Duration};

use eclusa::{Decider, Decision, HumanDuration, Reason, Source, Stop, Verdict};

fn verdict(decision: Decision) -> Verdict {
    let reason = |text: &'static str| Reason {
        decision,
        source: Source::Default,
        origin: "defaults".into(),
        text: text.into(),
    };
    Verdict::from_reasons(vec![reason("read-only"), reason("it says so")])
}

/// At least one of every family. A new one that is not here does not compile.
fn all() -> Vec<Stop> {
    let why = || "`a.txt` is not yours".to_owned();
    let deciders = [
        Decider::Reviewer("desk".to_owned()),
        Decider::Policy,
        Decider::Person,
        Decider::Approver("phone".to_owned()),
        Decider::Checkpoint,
        Decider::ReverseThinking,
        Decider::Gate,
    ];
    let mut all = vec![
        Stop::UnknownTool { name: "raed".to_owned(), nearest: vec![] },
        Stop::UnknownTool {
            name: "raed".to_owned(),
            nearest: vec!["read".to_owned(), "rad".to_owned()],
        },
        Stop::Unavailable { why: "the server `far` is down; continue without it".to_owned() },
        Stop::Malformed("line 3: expected `}`".to_owned()),
        Stop::DuplicateId,
        Stop::InvalidArgs("`path` is missing".to_owned()),
        Stop::NoApprover { why: why(), by_rule: false },
        Stop::NoApprover { why: why(), by_rule: true },
        Stop::ApprovalExpired,
        Stop::Parked(7),
        Stop::TimedOut(Duration::from_millis(1_500)),
        Stop::TooLate,
        Stop::Cancelled { ran: false },
        Stop::Cancelled { ran: true },
        Stop::Panicked,
        Stop::NotCommitted { conflict: true, why: why() },
        Stop::NotCommitted { conflict: false, why: why() },
        Stop::Withheld(why()),
        Stop::Aborted { ran: false },
        Stop::Aborted { ran: true },
        Stop::RanAhead,
        Stop::Instead { by: "ana".to_owned(), text: "it is version 3".to_owned() },
        Stop::TooDeep(4),
        Stop::Unrecorded("disk full".to_owned()),
        Stop::EndUnrecorded("disk full".to_owned()),
    ];
    all.extend(deciders.map(|by| Stop::Denied { by, why: why() }));
    for decision in [Decision::Allow, Decision::Stage, Decision::Ask, Decision::Deny] {
        let would = "`read a.txt`".to_owned();
        all.push(Stop::DryRun { verdict: verdict(decision), would });
    }
    let would = || "`read a.txt`".to_owned();
    for decision in [Decision::Ask, Decision::Deny] {
        let judged = Stop::DryRun { verdict: verdict(decision), would: would() };
        all.push(Stop::Watched(Box::new(judged)));
    }
    let discarded: Vec<Stop> = all.iter().map(|it| Stop::Discarded(Box::new(it.clone()))).collect();
    let stopped = [
        Stop::TimedOut(Duration::from_secs(30)),
        Stop::Cancelled { ran: true },
        Stop::Panicked,
        Stop::Aborted { ran: true },
    ];
    let stopped = stopped.map(|it| Stop::Unapplied(Box::new(it)));
    all.into_iter().chain(discarded).chain(stopped).collect()
}

/// The families: this match has no rest, so that a new one is noticed here.
fn family(stop: &Stop) -> &'static str {
    match stop {
        Stop::UnknownTool { .. } => "unknown tool",
        Stop::Unavailable { .. } => "unavailable",
        Stop::Malformed(_) => "malformed",
        Stop::DuplicateId => "duplicate id",
        Stop::InvalidArgs(_) => "invalid arguments",
        Stop::Denied { by, .. } => match by {
            Decider::Reviewer(_) => "denied by a reviewer",
            Decider::Policy => "denied by policy",
            Decider::Person => "denied by a person",
            Decider::Approver(_) => "denied by an approver",
            Decider::Checkpoint => "denied by the checkpoint",
            Decider::ReverseThinking => "denied by reverse thinking",
            Decider::Gate => "denied by the gate",
        },
        Stop::NoApprover { .. } => "no approver",
        Stop::ApprovalExpired => "expired",
        Stop::Parked(_) => "parked",
        Stop::RanAhead => "ran ahead",
        Stop::Instead { .. } => "answered by a person",
        Stop::DryRun { .. } => "dry run",
        Stop::Watched(_) => "watched",
        Stop::TimedOut(_) => "timed out",
        Stop::TooLate => "too late",
        Stop::Cancelled { .. } => "cancelled",
        Stop::Panicked => "panicked",
        Stop::Discarded(_) => "discarded",
        Stop::Unapplied(_) => "unapplied",
        Stop::NotCommitted { .. } => "not committed",
        Stop::Withheld(_) => "withheld",
        Stop::Aborted { .. } => "aborted",
        Stop::TooDeep(_) => "too deep",
        Stop::Unrecorded(_) => "unrecorded",
        Stop::EndUnrecorded(_) => "end unrecorded",
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "goldens are written where a person asks for that")]
fn every_refusal_says_what_it_said() {
    let line = |stop: &Stop| {
        let (refusal, error) = (stop.is_refusal(), stop.is_error());
        format!(
            "{}: {}, refusal {refusal}, error {error}\n  {}\n",
            family(stop),
            stop.code(),
            stop.message()
        )
    };
    let mut text: String = all().iter().map(line).collect();
    for ms in [0, 40, 999, 1_000, 1_049, 1_500, 90_000] {
        let time = Duration::from_millis(ms);
        text.push_str(&format!(
            "{ms} ms: {}, {}\n",
            HumanDuration(time),
            HumanDuration::rounded(time)
        ));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/refusals.txt");
    if std::env::var_os("ECLUSA_WRITE_GOLDENS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let new: Vec<&str> = text.lines().filter(|it| !kept.contains(it)).collect();
    let hint = "ECLUSA_WRITE_GOLDENS=1 writes them, if that is how it should be";
    assert!(kept == text, "not among the goldens, or no longer:\n{}\n{hint}", new.join("\n"));
}
