//! What rules require of an answer, checked where the call runs: whatever wrote the answer down,
//! only signatures of people who are known here count for more than a word.

use std::{sync::Arc, time::Duration};

use crate::{
    AnswerGiven, Decision, GivenVote, Proof, Question, Reason, ReasonId, Requirement, Source,
    Statement, Stop, Verdict, Vote, approve::votes::opens, gate::Setup, reply::millis,
    stop::Decider,
};

/// How long an answer is waited for: the shortest time that a rule gives holds.
pub(in crate::gate) fn time(setup: &Setup, verdict: &Verdict) -> Duration {
    let within = verdict.requirements().filter_map(|it| it.within);
    within.fold(setup.limits.approval, Duration::min)
}

/// The verdict with the least proof that every answer has here, where that is more than a word: one requirement more, so
/// that whatever judges answers by what rules require judges by this, too.
pub(in crate::gate) fn with_least_proof(setup: &Setup, mut verdict: Verdict) -> Verdict {
    let with = setup.limits.proof;
    if verdict.decision == Decision::Ask && with > Proof::Word {
        let (of, then) = (Vec::new(), Vec::new());
        let requirement = Requirement { of, need: 1, with, separate: false, within: None, then };
        verdict.because.insert(
            0,
            Reason {
                decision: Decision::Ask,
                source: Source::Floor,
                origin: ReasonId::Rule {
                    id: None,
                    written_at: "approvals.proof".into(),
                    requires: Some(Arc::new(requirement)),
                },
                text: format!("every answer is signed here, with a {}", with.as_str()).into(),
            },
        );
    }
    verdict
}

/// Whether a rule says who must answer.
pub(super) fn is_required(question: &Question) -> bool {
    question.verdict.requirements().next().is_some()
}

/// Checks that an answer which opens the call meets every rule.
pub(in crate::gate) async fn check(
    setup: &Setup,
    question: &Question,
    said: &AnswerGiven,
) -> Result<(), Stop> {
    if !is_required(question) || !opens(&said.answer) {
        return Ok(());
    }
    let queue = match &setup.questions {
        Some(questions) => questions.queue().await.unwrap_or_default(),
        None => String::new(),
    };
    let checked = said.votes.iter().filter_map(|it| vote(setup, question, said, it, &queue));
    let votes: Vec<Vote> = checked.collect();
    let unmet = question.verdict.requirements().find(|it| !it.is_met(&votes, &question.principal));
    match unmet {
        None => Ok(()),
        Some(unmet) => {
            let why = format!("the answer is not enough: a rule requires {unmet}");
            Err(Stop::denied(Decider::Approver(said.by.clone()), why))
        }
    }
}

/// The yes of one person. One whose signature does not hold is none at all.
fn vote(
    setup: &Setup,
    question: &Question,
    said: &AnswerGiven,
    given: &GivenVote,
    queue: &str,
) -> Option<Vote> {
    let people = setup.people.as_ref();
    let proof = match &given.signed {
        None => crate::Proof::Word,
        Some(signed) => {
            let statement = Statement {
                queue,
                questions: &[said.question?],
                binding: &question.binding,
                answer: &said.answer,
                person: &given.by,
                expires: 0,
            };
            // The question cannot have waited for longer than this.
            let age = question.time.max(question.keep).saturating_add(question.keep);
            let since = setup.clock.unix_ms().saturating_sub(millis(age));
            if !statement.is_in(&signed.statement, since) {
                return None;
            }
            people?.verify(&given.by, signed)?
        }
    };
    let groups = people.map(|it| it.groups(&given.by)).unwrap_or_default();
    Some(Vote { person: given.by.clone(), groups, proof, waited: given.waited })
}
