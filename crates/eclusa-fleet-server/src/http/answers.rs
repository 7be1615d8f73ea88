//! `POST /v1/answers`: a person's signed answer, checked here so that mistakes are told at once, and checked again by the
//! machine, which believes nothing of it.

use std::time::Duration;

use eclusa::{
    approve::{Requirement, SignerDirectory as _, Vote},
    audit::{Clock as _, SystemClock},
};
use eclusa_approvals::KnownSigners;
use eclusa_fleet::{
    AskedQuestion, FleetOrder, FleetVote,
    inbox::{AnswerRequest, Answered, AnsweredQuestion},
    mirror::CarriedAnswer,
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{
    Answer, HttpRefusal, json,
    person::{FromPerson, from_person},
    questions::none,
    read_json,
};
use crate::{
    server::FleetServer,
    store::{
        messages::{self, VoteOutcome},
        questions::{self, FoundQuestion},
    },
};

/// So many questions are answered at once.
const MAX_ANSWERED: usize = 200;

pub(super) async fn answer(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromPerson { person, people, body, .. } = from_person(server, request).await?;
    let answered = give(server, (&person, &people), &read_json(&body)?).await?;
    Ok(json(StatusCode::OK, &answered))
}

/// Checks what a person says, and sends it on its way.
pub(crate) async fn give(
    server: &FleetServer,
    (person, people): (&str, &KnownSigners),
    given: &AnswerRequest,
) -> Result<Answered, HttpRefusal> {
    let unusable = |why: &str| HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, why);
    if given.numbers.is_empty() || given.numbers.len() > MAX_ANSWERED {
        return Err(unusable("name between 1 and 200 questions"));
    }
    if given.numbers.len() > 1 && given.kind != "vote" {
        return Err(unusable("one question at a time is taken back or ended"));
    }
    let mut answered = Vec::new();
    for &number in &given.numbers {
        let found = questions::find(&server.database, number).await?.ok_or_else(|| none(number))?;
        let carried = CarriedAnswer {
            store: found.row.store.clone(),
            question: found.row.id,
            conversation: found.row.conversation.clone(),
            answer: given.answer.clone(),
            reason: given.reason.clone(),
            person: person.to_owned(),
            expires: given.expires,
            key: given.key.clone(),
            statement: given.statement.clone(),
            signature: given.signature.clone(),
        };
        let done = one(server, &found, (&given.kind, &carried), people).await?;
        let (refused, waits) = match done {
            Ok(waits) => (None, waits),
            Err(why) => (Some(why), false),
        };
        if refused.is_none() {
            server.delivery.wake(found.row.machine);
        }
        answered.push(AnsweredQuestion { number, refused, waits });
    }
    Ok(Answered { questions: answered })
}

/// Whether others must answer, too, or why this answer does not count.
async fn one(
    server: &FleetServer,
    found: &FoundQuestion,
    (kind, carried): (&str, &CarriedAnswer),
    people: &KnownSigners,
) -> Result<Result<bool, String>, HttpRefusal> {
    let (row, database, now) = (&found.row, &server.database, SystemClock.unix_ms());
    let place = (row.store.as_str(), row.id);
    let order = match kind {
        "vote" => None,
        "revoke" => Some(FleetOrder::check_revoke(carried, place, people, now)),
        "end" => {
            let session = (row.store.as_str(), row.conversation.as_str());
            Some(FleetOrder::check_end(carried, session, people, now))
        }
        _ => return Ok(Err(format!("`{}` is not known here", kind.escape_debug()))),
    };
    if let Some(order) = order {
        if let Err(why) = order {
            return Ok(Err(why));
        }
        messages::order(database, found, (kind, carried)).await?;
        return Ok(Ok(false));
    }
    let asked = AskedQuestion {
        queue: &row.store,
        id: row.id,
        binding: &row.binding,
        principal: &row.principal,
        created: row.created,
        requirements: row.requirements.iter().map(|it| it.requirement()).collect(),
        whole: found.text.as_ref().is_none_or(|it| it.whole),
    };
    let vote = match FleetVote::check(carried, &asked, people, now) {
        Ok(vote) => vote,
        Err(why) => return Ok(Err(why)),
    };
    let proof = vote.answer().signed.as_ref().map(|it| it.proof).unwrap_or_default();
    let mut votes = vec![Vote {
        person: carried.person.clone(),
        groups: people.groups(&carried.person),
        proof,
        waited: Duration::from_millis(now.saturating_sub(row.created)),
    }];
    for it in messages::said(database, found).await?.into_iter().filter(|it| it.answer != "no") {
        let (groups, waited) = (people.groups(&it.person), Duration::from_millis(it.waited));
        votes.push(Vote { person: it.person, groups, proof: it.proof, waited });
    }
    let met = |it: &Requirement| it.is_met(&votes, &row.principal);
    let enough = !vote.answer().answer.is_yes() || asked.requirements.iter().all(met);
    Ok(match messages::vote(database, found, (carried, proof), enough).await? {
        VoteOutcome::OnItsWay => Ok(!enough),
        VoteOutcome::OtherAnswer(other) => Err(format!("you said `{other}` before")),
        VoteOutcome::NotPending => Err(format!("the question is {} by now", row.state)),
    })
}
