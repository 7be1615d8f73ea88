//! Answers that are collected until they are enough: a rule may need more than one person.

use eclusa::{
    Answer, Question,
    approve::{GivenAnswer, GivenVote, Proof, Requirement, SignedAnswer, Vote},
};

use crate::{
    StoreError,
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
    votes.push(GivenVote { by: given.by.clone(), signed: given.signed.clone() });
    let vote = |it: GivenVote| Vote {
        person: it.by,
        groups: Vec::new(),
        proof: it.signed.map_or(Proof::Word, |it| it.proof),
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
    let sql = "SELECT person, proof, key, statement, signature FROM answers \
               WHERE question = ?1 AND answer = ?2 ORDER BY at, person";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let rows = select.query_map(rusqlite::params![to_sql(id), answer], |row| {
        let proof: String = row.get(1)?;
        let (key, statement, signature) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let signed = match (Proof::from_word(&proof), key, statement, signature) {
            (Some(proof), Some(key), Some(statement), Some(signature)) => {
                Some(SignedAnswer { proof, key, statement, signature })
            }
            _ => None,
        };
        Ok(GivenVote { by: row.get(0)?, signed })
    });
    rows.in_store(tx.path)?.collect::<Result<_, _>>().in_store(tx.path)
}
