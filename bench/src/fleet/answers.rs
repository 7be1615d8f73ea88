//! How long an answer takes from one server to a machine that waits at the other.

use std::time::{Duration, Instant};

use eclusa::{
    Answer,
    approve::Statement,
    audit::{Clock as _, SystemClock},
};
use eclusa_approvals::KeyFile;
use eclusa_fleet::{
    PersonAuthor, RequestLine,
    inbox::{AnswerRequest, Answered},
    mirror::{Ack, MirrorAnswer, MirrorRequest, MirroredQuestion, MirroredText},
};
use tokio_postgres::types::Type;

use super::{
    Outcome,
    database::Postgres,
    deployment::Deployment,
    machines::PlayedMachine,
    records::Dice,
    wire::{Connection, REQUEST_TIME},
};
use crate::measure;

/// So many machines wait, and each is answered so often.
const WAITING: usize = 8;
const ANSWERS: u64 = 25;

pub(super) async fn measure(deployment: &Deployment, postgres: &Postgres) -> Outcome<()> {
    let rounds = (0..WAITING).map(|at| one(deployment, postgres, at));
    let mut took = Vec::new();
    for it in futures::future::join_all(rounds).await {
        took.extend(it?);
    }
    measure::plain(
        "an answer at one server to a machine at another, half",
        measure::middle(took.clone()),
    );
    measure::plain("  one in a hundred takes longer", measure::percentile_99(took));
    Ok(())
}

async fn one(deployment: &Deployment, postgres: &Postgres, at: usize) -> Outcome<Vec<Duration>> {
    let [first, second] = &deployment.servers;
    let mut machine = PlayedMachine::enrol(deployment, 0, 9_000 + at).await?;
    let (client, mut dice) = (postgres.connect("fleet").await?, Dice::new(at as u64 + 5));
    let key = KeyFile::open(&deployment.person)?;
    let id = key.public(String::new(), 0).id;
    let store = format!("store-{}", 9_000 + at);
    let (mut acks, mut took) = (Vec::new(), Vec::new());
    for question in 1..=ANSWERS {
        let now = SystemClock.unix_ms();
        let (binding, expires) = (format!("{question:064x}"), now + 600_000);
        let mirrored = MirroredQuestion {
            id: question,
            binding: binding.clone(),
            tool: "bash".to_owned(),
            principal: "ana@build-17".to_owned(),
            conversation: "session".to_owned(),
            state: "pending".to_owned(),
            asker_away: false,
            created: now,
            expires,
            requirements: Vec::new(),
            said: Vec::new(),
            text: Some(MirroredText {
                headline: "make deploy".to_owned(),
                applies: false,
                whole: true,
                lines: Vec::new(),
            }),
        };
        let request =
            MirrorRequest { chain: machine.chain, at: question, questions: vec![mirrored] };
        let _: MirrorAnswer = machine.ask("/v1/questions", &request).await?;
        let sql = "select number from questions where chain = $1 and id = $2";
        let (chain, asked) = (i32::try_from(machine.chain)?, i64::try_from(question)?);
        let rows = client.query_typed(sql, &[(&chain, Type::INT4), (&asked, Type::INT8)]).await?;
        let number: i64 = rows.first().ok_or("the question is not there")?.get(0);

        let mut waits = machine.waiting(first)?;
        let told = std::mem::take(&mut acks);
        let waiting = tokio::spawn(async move {
            let answer = waits.sync(25, told).await;
            (answer, Instant::now())
        });
        tokio::time::sleep(Duration::from_millis(300 + dice.below(400))).await;
        let statement = Statement {
            queue: &store,
            questions: &[question],
            binding: &binding,
            answer: &Answer::Once,
            person: "bo",
            expires,
        };
        let statement = statement.text();
        let request = AnswerRequest {
            kind: "vote".to_owned(),
            numbers: vec![u64::try_from(number)?],
            answer: "once".to_owned(),
            reason: String::new(),
            expires,
            signature: key.sign(&statement),
            statement,
            key: id.clone(),
        };
        let body = serde_json::to_vec(&request)?;
        let line = RequestLine { fleet: "acme", method: "POST", path: "/v1/answers", body: &body };
        let at_time = SystemClock.unix_ms();
        let signature = key.sign(&PersonAuthor::text(&line, &id, at_time));
        let header = PersonAuthor { key: id.clone(), at: at_time, signature }.header();
        let began = Instant::now();
        let answer = Connection::new(second.at, at)
            .send(("POST", "/v1/answers"), &header, &body, REQUEST_TIME)
            .await?;
        let answered: Answered = serde_json::from_slice(&answer.body)?;
        if answered.questions.iter().any(|it| it.refused.is_some()) || answered.questions.is_empty()
        {
            return Err(format!("the answer was refused: {answered:?}").into());
        }
        let (heard, arrived) = waiting.await?;
        let heard = heard?;
        if heard.messages.is_empty() {
            return Err("the machine heard nothing".into());
        }
        took.push(arrived.saturating_duration_since(began));
        acks = heard.messages.iter().map(|it| Ack { id: it.id, refused: None }).collect();
    }
    Ok(took)
}
