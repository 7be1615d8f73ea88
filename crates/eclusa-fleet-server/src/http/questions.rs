//! `POST /v1/questions`: a machine mirrors its questions. `GET /v1/questions`: a person looks at them.

use std::time::{Duration, Instant};

use eclusa::{
    approve::{Proof, SignerDirectory as _, Vote},
    audit::{Clock as _, SystemClock},
};
use eclusa_approvals::KnownSigners;
use eclusa_fleet::{
    inbox::{Inbox, InboxRow},
    mirror::{MAX_MIRRORED, MAX_TEXT, MirrorAnswer, MirrorRequest, MirroredQuestion},
};
use hyper::{Request, StatusCode, body::Incoming};

use super::{
    Answer, FromMachine, HttpRefusal, from_machine, json,
    person::{FromPerson, from_person},
    read_json,
};
use crate::{
    server::FleetServer,
    store::questions::{self, QuestionFilter},
};

/// The largest body with questions.
const MAX_QUESTIONS: usize = 4 << 20;

/// The longest short text of a question, in bytes.
const MAX_FIELD: usize = 16 << 10;

/// So many questions are listed at once.
const PAGE: u32 = 100;

pub(super) async fn mirror(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    // Before the body is read: who comes when all hands are full is told so at once.
    let Ok(_room) = server.room.try_acquire() else {
        return Err(HttpRefusal::later("too much at once; come again later"));
    };
    let from = from_machine(server, request, MAX_QUESTIONS).await?;
    let FromMachine { machine, body, .. } = from;
    let asked: MirrorRequest = read_json(&body)?;
    let unusable = |why: &str| HttpRefusal::new(StatusCode::UNPROCESSABLE_ENTITY, why);
    if asked.questions.len() > MAX_MIRRORED {
        return Err(unusable("too many questions; mirror at most 50 at once"));
    }
    if !asked.questions.iter().all(is_small) {
        return Err(unusable("a question is larger than what the server keeps; cut its text"));
    }
    if asked.questions.iter().any(has_nul) {
        return Err(unusable("a question holds a NUL, which no database keeps"));
    }
    if !server.quotas.asking.allows(machine.id, asked.questions.len(), Instant::now()) {
        return Err(HttpRefusal::later("this machine asks too often; come again later"));
    }
    let room = server.quotas.waiting_room();
    let left_out = questions::mirror(&server.database, machine.id, &asked, room).await?;
    let left_out = left_out.ok_or_else(|| {
        HttpRefusal::new(StatusCode::NOT_FOUND, "this machine has no such chain, or it is stopped")
    })?;
    Ok(json(StatusCode::OK, &MirrorAnswer { left_out }))
}

fn texts(it: &MirroredQuestion) -> impl Iterator<Item = &str> {
    let short = [&it.binding, &it.tool, &it.principal, &it.conversation, &it.state];
    let said = it.said.iter().chain(it.requirements.iter().flat_map(|it| &it.of));
    short.into_iter().chain(said).map(String::as_str)
}

fn is_small(it: &MirroredQuestion) -> bool {
    let shown = it.text.iter().flat_map(|it| &it.lines);
    let bytes: usize =
        shown.map(|it| it.label.len() + it.text.as_ref().map_or(0, String::len)).sum();
    texts(it).all(|it| it.len() <= MAX_FIELD) && it.said.len() <= MAX_MIRRORED && bytes <= MAX_TEXT
}

fn has_nul(it: &MirroredQuestion) -> bool {
    serde_json::to_string(it).is_ok_and(|it| it.contains("\\u0000"))
}

pub(super) async fn look(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let FromPerson { person, people, query, .. } = from_person(server, request).await?;
    let value = |name: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find(|it| it.0 == name).map(|it| it.1.into_owned())
    };
    let now = SystemClock.unix_ms();
    if let Some(number) = value("number") {
        let number = number.parse().unwrap_or(0);
        let found = questions::find(&server.database, number).await?.ok_or_else(|| none(number))?;
        let (text, mut row) = (found.text, found.row);
        row.not_for_you = not_for(&row, &person, &people, now);
        let (lines, whole, applies) =
            text.map_or_else(Default::default, |it| (it.lines, it.whole, it.applies));
        let inbox = Inbox { you: person, questions: vec![row], lines, whole, applies, more: false };
        return Ok(json(StatusCode::OK, &inbox));
    }
    let after = value("after").and_then(|it| it.parse().ok()).unwrap_or(0);
    let (team, tool) = (value("team"), value("tool"));
    let like = value("like").map(|it| it.parse().unwrap_or(0));
    let filter = QuestionFilter { after, limit: PAGE, team, tool, like, ..Default::default() };
    let mut rows = questions::waiting(&server.database, &filter, now).await?;
    let more = rows.len() == usize::try_from(PAGE).unwrap_or(usize::MAX);
    for row in &mut rows {
        row.not_for_you = not_for(row, &person, &people, now);
    }
    // What whoever looks may answer comes first.
    rows.sort_by_key(|it| it.not_for_you.is_some());
    Ok(json(StatusCode::OK, &Inbox { you: person, questions: rows, more, ..Inbox::default() }))
}

pub(crate) fn none(number: u64) -> HttpRefusal {
    HttpRefusal::new(StatusCode::NOT_FOUND, format!("there is no question {number} in the fleet"))
}

/// Why a yes of this person would not count, by whichever of their keys.
pub(crate) fn not_for(
    row: &InboxRow,
    person: &str,
    people: &KnownSigners,
    now: u64,
) -> Option<String> {
    let vote = Vote {
        person: person.to_owned(),
        groups: people.groups(person),
        proof: Proof::Passkey,
        waited: Duration::from_millis(now.saturating_sub(row.created)),
    };
    row.requirements.iter().find_map(|it| it.requirement().refusal(&vote, &row.principal))
}
