//! What is said where text from outside makes a question of a call, and nobody can be asked.

use crate::{Question, ReasonId, Source, Stop, stop::Decider};

/// Why a call is not run that a rule allows and that text from outside makes a question of.
pub(super) fn refusal(question: &Question) -> Option<Stop> {
    let mut reasons = question.verdict.because.iter();
    let taint = reasons.find(|it| it.origin == ReasonId::Taint && it.source == Source::Rule)?;
    let why = format!(
        "{}, and nobody is available to approve it; to let a rule apply here too, add `tainted = true`; \
        to believe a server's text, set `trusted = true`",
        taint.text
    );
    Some(Stop::denied(Decider::Policy, why))
}
