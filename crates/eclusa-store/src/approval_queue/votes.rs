//! Answers that are collected until they are enough: a rule may need more than one person.

use std::time::Duration;

use eclusa::{
    Answer, Question,
    approve::{GivenAnswer, GivenVote, Proof, Requirement, SignedAnswer, Vote},
};
use rusqlite::{Connection, params};

use super::read::from_sql;
use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// Whether this answer, with the same that others gave before, is all that the rules require.
///
/// Who is in which group is not known here. Whoever answers looks at that first, and the gate that
/// runs the call looks at everything again.
pub(super) fn is_enough(
    tx: &Transaction<'_>,
    id: u64,
    question: &Question,
    given: &GivenAnswer,
) -> Result<bool, StoreError> {
    let free = question.verdict.requirements().next().is_none();
    if free || !given.answer.is_yes() || matches!(given.answer, Answer::Edit(_)) {
        return Ok(true);
    }
    let mut votes: Vec<GivenVote> = given_before(tx, id, given.answer.word())?;
    let (by, signed) = (given.by.clone(), given.signed.clone());
    votes.push(GivenVote { by, signed, waited: Duration::ZERO });
    let vote = |it: GivenVote| Vote {
        person: it.by,
        groups: Vec::new(),
        proof: it.signed.map_or(Proof::Word, |it| it.proof),
        waited: it.waited,
    };
    let votes: Vec<Vote> = votes.into_iter().map(vote).collect();
    let met = |it: &Requirement| {
        Requirement { of: Vec::new(), ..it.clone() }.is_met(&votes, &question.principal)
    };
    Ok(question.verdict.requirements().all(met))
}

/// Everybody who gave this answer, in order.
pub(super) fn given_before(
    tx: &Transaction<'_>,
    id: u64,
    answer: &str,
) -> Result<Vec<GivenVote>, StoreError> {
    let sql = format!("{VOTES} AND answers.answer = ?2 ORDER BY at, person");
    given(tx.connection, &sql, params![to_sql(id), answer]).in_store(tx.path)
}

/// Everybody who said yes so far, in order.
pub(super) fn yes(store: &SqliteStore, id: u64) -> Result<Vec<GivenVote>, StoreError> {
    let sql = format!("{VOTES} AND answers.answer NOT IN ('no', 'abort') ORDER BY at, person");
    given(&*store.reader()?, &sql, [to_sql(id)]).in_store(store.path())
}

const VOTES: &str = "SELECT person, answers.proof, key, statement, signature, at - created \
     FROM answers JOIN questions ON questions.id = answers.question WHERE answers.question = ?1";

fn given(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<GivenVote>> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map(params, |row| {
        let proof: String = row.get(1)?;
        let (key, statement, signature) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let waited = Duration::from_millis(from_sql(row.get(5)?));
        Ok(GivenVote { by: row.get(0)?, signed: signed(&proof, key, statement, signature), waited })
    })?;
    rows.collect()
}

/// The signature that these columns hold, if they hold one.
pub(super) fn signed(
    proof: &str,
    key: Option<String>,
    statement: Option<String>,
    signature: Option<String>,
) -> Option<SignedAnswer> {
    let proof = proof.parse().ok()?;
    Some(SignedAnswer { proof, key: key?, statement: statement?, signature: signature? })
}
