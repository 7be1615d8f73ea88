//! Changing questions: each change in one transaction, and only as the table of states allows.

use eclusa::{
    Answer, Hash, Question,
    approve::{
        GivenAnswer, GivenVote, Proof, QuestionEvent, QuestionState, QuestionTimes, QueueError,
    },
};
use rusqlite::{OptionalExtension, params};

use super::{
    answer_columns::{AnswerColumns, from_columns, seal},
    approval_record::ApprovalRecord,
    read::{from_sql, times},
    votes, wire,
};
use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// So many changes are told at once.
const MAX_CHANGES: usize = 1_000;

/// A question as it was asked, which its answer must be about.
#[derive(Debug, Clone)]
pub(super) struct QuestionRow {
    pub(super) principal: String,
    pub(super) session: String,
    pub(super) call: String,
    pub(super) binding: String,
    pub(super) shown: Hash,
    /// The whole question, as it is kept.
    pub(super) question: String,
    /// The call whose run it is about, where that is kept.
    pub(super) pending: Option<u64>,
}

impl QuestionRow {
    pub(super) fn new(question: &Question) -> Result<QuestionRow, String> {
        Ok(QuestionRow {
            principal: question.principal.clone(),
            session: question.session.clone(),
            call: question.call.clone(),
            binding: question.binding.clone(),
            shown: wire::shown(question)?,
            question: wire::write(question)?,
            pending: question.pending.map(|it| it.call),
        })
    }
}

/// An answer that was handed over, by whom, and everybody who said yes.
pub(super) type TakenAnswer = (Answer, String, Vec<GivenVote>);

/// A question on its way from one state to another.
struct StoredQuestion {
    state: QuestionState,
    binding: String,
    question: String,
    answer: Option<String>,
    decided_by: Option<String>,
    seal: Option<Vec<u8>>,
    created: u64,
}

/// How a question stands now.
fn find(tx: &Transaction<'_>, id: u64, now: u64) -> Result<Option<StoredQuestion>, StoreError> {
    let sql = "SELECT state, expires, decided, valid, binding, question, answer, decided_by, seal, \
               created FROM questions WHERE id = ?1";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let found = select.query_row([to_sql(id)], |row| {
        let word: String = row.get(0)?;
        let times: QuestionTimes = times(row.get(1)?, row.get(2)?, row.get(3)?);
        let found = StoredQuestion {
            state: QuestionState::Pending,
            binding: row.get(4)?,
            question: row.get(5)?,
            answer: row.get(6)?,
            decided_by: row.get(7)?,
            seal: row.get(8)?,
            created: from_sql(row.get(9)?),
        };
        Ok((word, times, found))
    });
    let Some((word, times, found)) = found.optional().in_store(tx.path)? else { return Ok(None) };
    let state: QuestionState =
        word.parse().map_err(|_| damaged(tx.path, id, &format!("`{word}` is not a state")))?;
    Ok(Some(StoredQuestion { state: state.at(now, times), ..found }))
}

/// How a question stands now. INVARIANT: it is there.
pub(super) fn state(tx: &Transaction<'_>, id: u64, now: u64) -> Result<QuestionState, StoreError> {
    let found = find(tx, id, now)?.ok_or_else(|| damaged(tx.path, id, "it is gone"))?;
    Ok(found.state)
}

/// Decides questions, all or none, and puts that on record.
pub(super) fn decide(
    tx: &mut Transaction<'_>,
    given: &GivenAnswer,
    now: u64,
) -> Result<Result<(), QueueError>, StoreError> {
    let event = if given.answer.is_yes() { QuestionEvent::Yes } else { QuestionEvent::No };
    let sha256 = AnswerColumns::new(&given.answer).sha256;
    // Looked at first, all of them: a refusal leaves everything as it was.
    let mut decided = Vec::new();
    let mut binding = given.binding.clone();
    for &id in &given.questions {
        let Some(found) = find(tx, id, now)? else { return Ok(Err(QueueError::Unknown(id))) };
        if binding.get_or_insert_with(|| found.binding.clone()) != &found.binding {
            return Ok(Err(QueueError::Swapped(id)));
        }
        match found.state.after(event) {
            Some(state) => {
                let question = read(tx, id, &found)?;
                let state = votes::is_enough(tx, id, &question, given)?.then_some(state);
                decided.push((id, state, question, found));
            }
            None if said_before(&found, sha256, &given.by) => {}
            None => return Ok(Err(refusal(tx, id, found, now)?)),
        }
    }
    for (id, state, question, found) in decided {
        write_answer(tx, id, state, &question, &found, given, now)?;
    }
    Ok(Ok(()))
}

/// Whether this person gave this answer before.
fn said_before(found: &StoredQuestion, answer: Hash, by: &str) -> bool {
    let same = found.seal.as_ref().is_some_and(|it| it.starts_with(answer.as_bytes()));
    let holds = matches!(
        found.state,
        QuestionState::Approved | QuestionState::Rejected | QuestionState::Taken
    );
    same && holds && found.decided_by.as_deref() == Some(by)
}

/// Why a question cannot be answered. One that has just expired is ended.
fn refusal(
    tx: &mut Transaction<'_>,
    id: u64,
    found: StoredQuestion,
    now: u64,
) -> Result<QueueError, StoreError> {
    match (found.state, found.decided_by) {
        (QuestionState::Expired | QuestionState::Withdrawn, _) | (_, None) => {
            expire(tx, id, now)?;
            Ok(QueueError::Expired(id))
        }
        (state, Some(by)) => {
            let answer = found.answer.unwrap_or_default();
            Ok(QueueError::Decided { id, state, answer, by })
        }
    }
}

/// The question that a row holds.
fn read(tx: &Transaction<'_>, id: u64, found: &StoredQuestion) -> Result<Question, StoreError> {
    let question = wire::read(&found.question).map_err(|why| damaged(tx.path, id, &why))?;
    if question.binding == found.binding {
        Ok(question)
    } else {
        Err(damaged(tx.path, id, "it is not the question that was asked"))
    }
}

/// Writes one answer, with its signature, and its record. Without a new state the question goes on
/// waiting, for others who must answer too.
fn write_answer(
    tx: &mut Transaction<'_>,
    id: u64,
    state: Option<QuestionState>,
    question: &Question,
    found: &StoredQuestion,
    given: &GivenAnswer,
    now: u64,
) -> Result<(), StoreError> {
    let AnswerColumns { edit, reason, sha256 } = AnswerColumns::new(&given.answer);
    let shown = wire::shown(question).map_err(|why| damaged(tx.path, id, &why))?;
    let seal = seal(&found.binding, shown, sha256);
    let proof = given.signed.as_ref().map_or(Proof::Word, |it| it.proof);
    let word = given.answer.word();
    let sql = "UPDATE questions SET state = ?2, answer = ?3, edit = ?4, reason = ?5, seal = ?6, \
               decided_by = ?7, proof = ?8, decided = ?9, changed = ?10 WHERE id = ?1";
    let (by, proof_word) = (given.by.as_str(), proof.as_str());
    let change = next_change(tx)?;
    let (row, at) = (to_sql(id), to_sql(now));
    match state.map(QuestionState::as_str) {
        Some(state) => {
            let values = params![row, state, word, edit, reason, seal, by, proof_word, at, change];
            tx.connection.execute(sql, values).in_store(tx.path)?;
            super::outbox::tell_answer(tx, id, now)?;
        }
        None => {
            let sql = "UPDATE questions SET changed = ?2 WHERE id = ?1";
            tx.connection.execute(sql, params![row, change]).in_store(tx.path)?;
        }
    }
    let sql = "INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let signed = given.signed.as_ref();
    let (key, statement) = (signed.map(|it| &it.key), signed.map(|it| &it.statement));
    let signature = signed.map(|it| &it.signature);
    let values = params![row, by, proof_word, key, word, statement, signature, at];
    tx.connection.execute(sql, values).in_store(tx.path)?;
    let waited = Some(now.saturating_sub(found.created));
    let event = "answered";
    let decision = ApprovalRecord { event, answer: word, proof: Some(proof), reason, ms: waited };
    decision.write(tx, question, id, by, now)
}

/// Takes a yes back, and puts that on record.
pub(super) fn revoke(
    tx: &mut Transaction<'_>,
    id: u64,
    by: &str,
    now: u64,
) -> Result<Result<(), QueueError>, StoreError> {
    let Some(found) = find(tx, id, now)? else { return Ok(Err(QueueError::Unknown(id))) };
    let Some(state) = found.state.after(QuestionEvent::Revoke) else {
        let (state, needed) = (found.state, QuestionState::Approved);
        return Ok(Err(QueueError::WrongState { id, state, needed, wanted: "revoked" }));
    };
    end(tx, id, state, now)?;
    let question = wire::read(&found.question).map_err(|why| damaged(tx.path, id, &why))?;
    let decision =
        ApprovalRecord { event: "revoked", answer: "revoked", ..ApprovalRecord::default() };
    decision.write(tx, &question, id, by, now)?;
    Ok(Ok(()))
}

/// Hands the answer over to whoever holds the question. A yes is handed over once, and from then
/// on its arguments are not needed. It counts only if it was given to exactly what was asked.
pub(super) fn take(
    tx: &mut Transaction<'_>,
    id: u64,
    nonce: &str,
    asked: &QuestionRow,
    now: u64,
) -> Result<Option<TakenAnswer>, StoreError> {
    let Some(found) = find(tx, id, now)? else { return Ok(None) };
    let sql = "SELECT edit, reason, nonce, principal FROM questions WHERE id = ?1";
    let row = tx.connection.query_row(sql, [to_sql(id)], |row| {
        let edit: Option<String> = row.get(0)?;
        let reason: Option<String> = row.get(1)?;
        let nonce: Option<String> = row.get(2)?;
        let principal: String = row.get(3)?;
        Ok((edit, reason, nonce, principal))
    });
    let (edit, reason, held_with, principal) = row.in_store(tx.path)?;
    let holder = held_with.as_deref() == Some(nonce) && principal == asked.principal;
    let state = match found.state {
        // A no may be heard as often as one likes.
        QuestionState::Rejected if holder => QuestionState::Rejected,
        state => match state.after(QuestionEvent::Take { holder }) {
            Some(state) => state,
            None => return Ok(None),
        },
    };
    let (Some(word), Some(by)) = (found.answer, found.decided_by) else { return Ok(None) };
    let answer = from_columns(&word, edit, reason)
        .ok_or_else(|| damaged(tx.path, id, "its answer cannot be read"))?;
    let sha256 = AnswerColumns::new(&answer).sha256;
    if found.seal != Some(seal(&asked.binding, asked.shown, sha256)) {
        let what = "its answer was not given to the question that was asked";
        return Err(damaged(tx.path, id, what));
    }
    let sql = "UPDATE questions SET state = ?2, taken = ?3, edit = NULL, changed = ?4, \
               question = json_set(question, '$.args', NULL) WHERE id = ?1";
    let row = params![to_sql(id), state.as_str(), to_sql(now), next_change(tx)?];
    tx.connection.execute(sql, row).in_store(tx.path)?;
    let votes =
        if answer.is_yes() { votes::given_before(tx, id, answer.word())? } else { Vec::new() };
    let names: Vec<&str> = votes.iter().map(|it| it.by.as_str()).collect();
    let by = if names.len() > 1 { names.join(", ") } else { by };
    Ok(Some((answer, by, votes)))
}

/// Lets go of a question: whoever asks the same may have it.
pub(super) fn release(tx: &mut Transaction<'_>, id: u64, nonce: &str) -> Result<(), StoreError> {
    let sql = "UPDATE questions SET held_until = 0, holder = NULL, changed = ?3 \
               WHERE id = ?1 AND nonce = ?2 AND state IN ('pending', 'approved')";
    let row = params![to_sql(id), nonce, next_change(tx)?];
    tx.connection.execute(sql, row).in_store(tx.path).map(drop)
}

/// Says that this process still waits for its questions.
pub(super) fn renew(
    tx: &mut Transaction<'_>,
    this_process: &str,
    until: u64,
) -> Result<(), StoreError> {
    let sql = "UPDATE questions SET held_until = ?2 WHERE holder = ?1 AND state = 'pending' \
               AND held_until > 0";
    tx.connection.execute(sql, params![this_process, to_sql(until)]).in_store(tx.path).map(drop)
}

/// Takes a question back that nobody has answered.
pub(super) fn withdraw(
    tx: &mut Transaction<'_>,
    call: &str,
    binding: &str,
    now: u64,
) -> Result<(), StoreError> {
    let sql = "SELECT id FROM questions INDEXED BY questions_bound WHERE binding = ?2 \
               AND state IN ('pending', 'approved', 'rejected') AND call = ?1 AND state = 'pending'";
    let found = tx.connection.query_row(sql, [call, binding], |row| row.get::<_, i64>(0));
    let Some(id) = found.optional().in_store(tx.path)?.map(from_sql) else { return Ok(()) };
    let state = find(tx, id, now)?.and_then(|it| it.state.after(QuestionEvent::Withdraw));
    match state {
        Some(state) => end(tx, id, state, now),
        None => Ok(()),
    }
}

/// Ends a question whose time is over.
pub(super) fn expire(tx: &mut Transaction<'_>, id: u64, now: u64) -> Result<(), StoreError> {
    match find(tx, id, now)? {
        Some(found) if found.state == QuestionState::Expired => {
            let sql = "SELECT state FROM questions WHERE id = ?1";
            let noted: String =
                tx.connection.query_row(sql, [to_sql(id)], |row| row.get(0)).in_store(tx.path)?;
            if noted == QuestionState::Expired.as_str() {
                Ok(())
            } else {
                end(tx, id, QuestionState::Expired, now)
            }
        }
        _ => Ok(()),
    }
}

/// Notes that a question is over. Its arguments are not needed any more.
fn end(tx: &Transaction<'_>, id: u64, state: QuestionState, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE questions SET state = ?2, decided = coalesce(decided, ?3), edit = NULL, \
               changed = ?4, question = json_set(question, '$.args', NULL) WHERE id = ?1";
    let row = params![to_sql(id), state.as_str(), to_sql(now), next_change(tx)?];
    tx.connection.execute(sql, row).in_store(tx.path).map(drop)
}

/// The point up to which changes were made.
pub(super) fn last_change(store: &SqliteStore) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(changed), 0) FROM questions";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    select.query_row([], |row| row.get(0)).map(from_sql).in_store(store.path())
}

/// The questions that changed after this point, and the point up to which that is all.
pub(super) fn changed_after(
    store: &SqliteStore,
    point: u64,
) -> Result<(Vec<u64>, u64), StoreError> {
    let sql = "SELECT id, changed FROM questions WHERE changed > ?1 ORDER BY changed LIMIT ?2";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let rows = select.query_map(params![to_sql(point), to_sql(MAX_CHANGES as u64)], |row| {
        Ok((from_sql(row.get(0)?), from_sql(row.get(1)?)))
    });
    let rows: Result<Vec<(u64, u64)>, _> = rows.in_store(store.path())?.collect();
    let rows = rows.in_store(store.path())?;
    let last = rows.last().map_or(point, |it| it.1);
    // Several may have changed at once, and the last of them may not fit.
    let last = if rows.len() == MAX_CHANGES { last.saturating_sub(1) } else { last };
    Ok((rows.into_iter().map(|it| it.0).collect(), last))
}

/// The number of the next change. INVARIANT: under the lock.
pub(super) fn next_change(tx: &Transaction<'_>) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(changed), 0) + 1 FROM questions";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    select.query_row([], |row| row.get(0)).in_store(tx.path)
}

pub(super) fn damaged(path: &std::path::Path, id: u64, what: &str) -> StoreError {
    StoreError::Damaged { path: path.to_owned(), what: format!("question {id}: {what}") }
}

#[cfg(test)]
mod tests;
