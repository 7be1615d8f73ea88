//! Answers of people on their way to the machines that asked, and what those say of them.

use std::collections::BTreeSet;

use eclusa::approve::Proof;
use eclusa_fleet::mirror::{Ack, CarriedAnswer, Message};
use tokio_postgres::types::Type;

use super::{
    machines::text,
    questions::{FoundQuestion, back, big, int},
};
use crate::{Database, ServerError};

/// So many messages are handed over at once.
const MAX_MESSAGES: i64 = 100;

/// What became of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VoteOutcome {
    /// It is on its way, or was before.
    OnItsWay,
    /// The same person said something else.
    OtherAnswer(String),
    /// The question does not wait.
    NotPending,
}

/// One statement: the vote, the message for the machine and, where the votes are enough, the question out of the inbox.
const VOTE: &str = "
with question as (
  select chain, id, machine from questions where chain = $1 and id = $2 and state in ('pending', 'sent')
  for no key update),
vote as (
  insert into votes as v (chain, id, person, answer, proof, key, statement, signature)
  select chain, id, $3, $4, $5, $6, $7, $8 from question
  on conflict (chain, id, person) do update set answer = excluded.answer, proof = excluded.proof, key = excluded.key,
    statement = excluded.statement, signature = excluded.signature, refused = null, at = now()
    where v.refused is not null
  returning 1),
sent as (
  insert into messages (machine, chain, question, person, kind, body)
  select machine, chain, id, $3, 'vote', $9::text::jsonb from question, vote returning 1),
moved as (
  update questions q set state = case when $10 then 'sent' else q.state end, refused = null, touched = now()
  from question, vote where q.chain = question.chain and q.id = question.id)
select (select count(*) from question), (select count(*) from sent)";

/// Keeps a vote that was checked, and sends it on its way. The same again is on its way already.
pub(crate) async fn vote(
    database: &Database,
    question: &FoundQuestion,
    (carried, proof): (&CarriedAnswer, Proof),
    enough: bool,
) -> Result<VoteOutcome, ServerError> {
    let (chain, id) = (int(question.chain), big(question.row.id));
    let body = serde_json::to_string(carried).unwrap_or_default();
    let proof = proof.as_str();
    let values: [crate::database::Parameter<'_>; 10] = [
        (&chain, Type::INT4),
        (&id, Type::INT8),
        (&carried.person, Type::TEXT),
        (&carried.answer, Type::TEXT),
        (&proof, Type::TEXT),
        (&carried.key, Type::TEXT),
        (&carried.statement, Type::TEXT),
        (&carried.signature, Type::TEXT),
        (&body, Type::TEXT),
        (&enough, Type::BOOL),
    ];
    let rows = database.query(VOTE, &values).await?;
    let count = |at: usize| rows.first().map_or(0, |it| it.get::<_, i64>(at));
    if count(1) > 0 {
        return Ok(VoteOutcome::OnItsWay);
    }
    if count(0) == 0 {
        return Ok(VoteOutcome::NotPending);
    }
    let said = said(database, question).await?;
    let same = |it: &SaidVote| it.person == carried.person && it.answer == carried.answer;
    let own = said.iter().find(|it| it.person == carried.person);
    Ok(match own {
        Some(own) if !same(own) => VoteOutcome::OtherAnswer(own.answer.clone()),
        _ => VoteOutcome::OnItsWay,
    })
}

/// Somebody's vote.
#[derive(Debug, Clone)]
pub(crate) struct SaidVote {
    pub(crate) person: String,
    pub(crate) answer: String,
    pub(crate) proof: Proof,
    /// How long after the question was asked, in milliseconds.
    pub(crate) waited: u64,
}

/// The votes that no machine refused.
pub(crate) async fn said(
    database: &Database,
    question: &FoundQuestion,
) -> Result<Vec<SaidVote>, ServerError> {
    let sql = "
select person, answer, proof, (extract(epoch from at) * 1000)::bigint from votes
where chain = $1 and id = $2 and refused is null order by at";
    let (chain, id) = (int(question.chain), big(question.row.id));
    let rows = database.query(sql, &[(&chain, Type::INT4), (&id, Type::INT8)]).await?;
    let vote = |row: &tokio_postgres::Row| SaidVote {
        person: row.get(0),
        answer: row.get(1),
        proof: row.get::<_, &str>(2).parse().unwrap_or_default(),
        waited: back(row.get(3)).saturating_sub(question.row.created),
    };
    Ok(rows.iter().map(vote).collect())
}

/// Sends a machine that a yes is taken back, or that a session ends.
pub(crate) async fn order(
    database: &Database,
    question: &FoundQuestion,
    (kind, carried): (&str, &CarriedAnswer),
) -> Result<(), ServerError> {
    let (machine, chain) = (int(question.row.machine), int(question.chain));
    let id = big(question.row.id);
    let body = serde_json::to_string(carried).unwrap_or_default();
    let sql = "
insert into messages (machine, chain, question, person, kind, body)
select $1, $2, $3, $4, $5, $6::text::jsonb where not exists (
  select from messages where machine = $1 and chain = $2 and question = $3 and person = $4 and kind = $5)";
    let values: [crate::database::Parameter<'_>; 6] = [
        (&machine, Type::INT4),
        (&chain, Type::INT4),
        (&id, Type::INT8),
        (&carried.person, Type::TEXT),
        (&kind, Type::TEXT),
        (&body, Type::TEXT),
    ];
    database.query(sql, &values).await.map(drop)
}

/// What waits for a machine.
pub(crate) async fn of_machine(
    database: &Database,
    machine: u32,
) -> Result<Vec<Message>, ServerError> {
    let sql = "select id, kind, body::text from messages where machine = $1 order by id limit $2";
    let values: [crate::database::Parameter<'_>; 2] =
        [(&int(machine), Type::INT4), (&MAX_MESSAGES, Type::INT8)];
    let rows = database.query(sql, &values).await?;
    let message = |row: &tokio_postgres::Row| {
        let body = serde_json::from_str(row.get(2)).ok()?;
        Some(Message { id: back(row.get(0)), kind: row.get(1), body })
    };
    Ok(rows.iter().filter_map(message).collect())
}

/// The machines for which something came within the last seconds.
pub(crate) async fn recent(database: &Database) -> Result<BTreeSet<u32>, ServerError> {
    let sql = "select distinct machine from messages where created > now() - interval '3 seconds'";
    let rows = database.query(sql, &[]).await?;
    Ok(rows.iter().filter_map(|it| u32::try_from(it.get::<_, i32>(0)).ok()).collect())
}

/// What became of messages: they are done with, and what a machine refused is said at the question, which waits again.
pub(crate) async fn acknowledge(
    database: &Database,
    machine: u32,
    acks: &[Ack],
) -> Result<(), ServerError> {
    if acks.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = acks.iter().map(|it| big(it.id)).collect();
    let whys: Vec<Option<String>> = acks.iter().map(|it| it.refused.as_deref().map(text)).collect();
    let sql = "
with acked as (select * from unnest($2::bigint[], $3::text[]) as a(id, why)),
gone as (
  delete from messages m using acked a where m.machine = $1 and m.id = a.id
  returning m.chain, m.question, m.person, m.kind, a.why),
refused as (
  update votes v set refused = g.why from gone g
  where g.why is not null and g.kind = 'vote' and v.chain = g.chain and v.id = g.question and v.person = g.person)
update questions q set refused = g.why, touched = now(), state = case when q.state = 'sent' then 'pending' else q.state end
from gone g where g.why is not null and q.chain = g.chain and q.id = g.question";
    let values: [crate::database::Parameter<'_>; 3] =
        [(&int(machine), Type::INT4), (&ids, Type::INT8_ARRAY), (&whys, Type::TEXT_ARRAY)];
    database.query(sql, &values).await.map(drop)
}
