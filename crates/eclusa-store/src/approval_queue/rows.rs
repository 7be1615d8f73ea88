//! The rows of the desk: every change is one statement that only a pending question passes.

use eclusa::{Answer, Hash};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::{QuestionStatus, QueueError, QueuedQuestion, wire};
use crate::{
    Store, StoreError,
    error::InStore,
    store_records::{Approval, StoreRecord},
    writer::{Transaction, to_sql},
};

const COLUMNS: &str = "SELECT id, question, created, expires, status, answer, decided_by, decided, \
     reason, taken, binding FROM desk ";

/// A question as it was asked, which its answer must be about.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) binding: String,
    /// The whole question, as it is kept.
    pub(super) question: String,
}

/// Queues a question.
pub(super) fn insert(
    tx: &mut Transaction<'_>,
    asked: &Asked,
    call: &str,
    created: u64,
    expires: u64,
) -> Result<u64, StoreError> {
    sweep(tx, created)?;
    let sql = "INSERT INTO desk (binding, call, question, created, expires) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![asked.binding, call, asked.question, to_sql(created), to_sql(expires)];
    tx.connection.execute(sql, row).in_store(tx.path)?;
    Ok(u64::try_from(tx.connection.last_insert_rowid()).unwrap_or_default())
}

/// All that wait, oldest first.
pub(super) fn pending(store: &Store, now: u64) -> Result<Vec<QueuedQuestion>, StoreError> {
    let sql = format!("{COLUMNS} WHERE status = 'pending' AND expires > ?1 ORDER BY id");
    let reader = store.reader();
    let mut select = reader.prepare_cached(&sql).in_store(store.path())?;
    let mut rows = select.query([to_sql(now)]).in_store(store.path())?;
    let mut queued = Vec::new();
    while let Some(row) = rows.next().in_store(store.path())? {
        queued.push(read(store, row)?);
    }
    Ok(queued)
}

/// One question.
pub(super) fn one(store: &Store, id: u64) -> Result<Option<QueuedQuestion>, StoreError> {
    let sql = format!("{COLUMNS} WHERE id = ?1");
    let reader = store.reader();
    let mut select = reader.prepare_cached(&sql).in_store(store.path())?;
    let mut rows = select.query([to_sql(id)]).in_store(store.path())?;
    rows.next().in_store(store.path())?.map(|row| read(store, row)).transpose()
}

/// How it stands.
pub(super) fn status(store: &Store, id: u64) -> Result<QuestionStatus, StoreError> {
    let word: Option<String> = store
        .reader()
        .prepare_cached("SELECT status FROM desk WHERE id = ?1")
        .and_then(|mut select| select.query_row([to_sql(id)], |row| row.get(0)).optional())
        .in_store(store.path())?;
    word.as_deref().and_then(status_in).ok_or_else(|| damaged(store.path(), id, "it is gone"))
}

/// Decides a question, if nobody has and it is not too late, and puts it on record.
pub(super) fn decide(
    tx: &mut Transaction<'_>,
    id: u64,
    answer: &Answer,
    by: &str,
    now: u64,
) -> Result<Result<(), QueueError>, StoreError> {
    let AnswerColumns { word, edit, reason, sha256 } = AnswerColumns::new(answer);
    let status = QuestionStatus::from_answer(answer);
    let sql = "SELECT binding, question FROM desk WHERE id = ?1";
    let asked = tx.connection.query_row(sql, [to_sql(id)], |row| {
        let binding: String = row.get(0)?;
        let question: String = row.get(1)?;
        Ok((binding, question))
    });
    let Some((binding, question)) = asked.optional().in_store(tx.path)? else {
        return Ok(Err(QueueError::Unknown(id)));
    };
    let seal = seal(&binding, &question, sha256);
    let sealed = [&sha256.as_bytes()[..], &seal.as_bytes()[..]].concat();
    let sql = "UPDATE desk SET status = ?1, answer = ?2, edit = ?3, answer_sha256 = ?4, \
               decided_by = ?5, decided = ?6, reason = ?7 \
               WHERE id = ?8 AND status = 'pending' AND expires > ?6";
    let row = params![status.as_str(), word, edit, sealed, by, to_sql(now), reason, to_sql(id)];
    if tx.connection.execute(sql, row).in_store(tx.path)? == 1 {
        record(tx, id, word, by, reason, now)?;
        return Ok(Ok(()));
    }
    let sql = "SELECT status, answer, decided_by, answer_sha256 FROM desk WHERE id = ?1";
    let found = tx.connection.query_row(sql, [to_sql(id)], |row| {
        let status: String = row.get(0)?;
        let answer: Option<String> = row.get(1)?;
        let decided_by: Option<String> = row.get(2)?;
        let before: Option<Vec<u8>> = row.get(3)?;
        Ok((status, answer, decided_by, before))
    });
    let Some((status, answer, decided_by, before)) = found.optional().in_store(tx.path)? else {
        return Ok(Err(QueueError::Unknown(id)));
    };
    match status_in(&status) {
        Some(QuestionStatus::Pending | QuestionStatus::Expired) => {
            expire(tx, id, now)?;
            Ok(Err(QueueError::Expired(id)))
        }
        Some(_)
            if before.is_some_and(|it| it.starts_with(sha256.as_bytes()))
                && decided_by.as_deref() == Some(by) =>
        {
            Ok(Ok(()))
        }
        Some(status) => {
            let (answer, by) = (answer.unwrap_or_default(), decided_by.unwrap_or_default());
            Ok(Err(QueueError::Decided { id, status, answer, by }))
        }
        None => Err(damaged(tx.path, id, &format!("`{status}` is not a status"))),
    }
}

/// What ties an answer to the question that was shown to whoever gave it.
fn seal(binding: &str, question: &str, answer: Hash) -> Hash {
    let question = Hash::sha256(question.as_bytes());
    Hash::sha256(format!("{binding}\n{question}\n{answer}").as_bytes())
}

/// Hands the answer over, once; from then on the arguments are not needed. It counts only if it was
/// given to exactly the question that was asked.
pub(super) fn take(
    tx: &mut Transaction<'_>,
    id: u64,
    asked: &Asked,
    now: u64,
) -> Result<Option<Answer>, StoreError> {
    let sql = "SELECT answer, edit, reason, answer_sha256 FROM desk \
               WHERE id = ?1 AND taken IS NULL AND status IN ('approved', 'rejected')";
    let found = tx.connection.query_row(sql, [to_sql(id)], |row| {
        let word: String = row.get(0)?;
        let edit: Option<String> = row.get(1)?;
        let reason: Option<String> = row.get(2)?;
        let sealed: Option<Vec<u8>> = row.get(3)?;
        Ok((word, edit, reason, sealed))
    });
    let Some((word, edit, reason, sealed)) = found.optional().in_store(tx.path)? else {
        return Ok(None);
    };
    let answer = answer_in(&word, edit, reason)
        .ok_or_else(|| damaged(tx.path, id, "its answer cannot be read"))?;
    let sha256 = AnswerColumns::new(&answer).sha256;
    let seal = seal(&asked.binding, &asked.question, sha256);
    if sealed != Some([&sha256.as_bytes()[..], &seal.as_bytes()[..]].concat()) {
        let what = "its answer was not given to the question that was asked";
        return Err(damaged(tx.path, id, what));
    }
    let sql = "UPDATE desk SET taken = ?2, edit = NULL, \
               question = json_set(question, '$.args', NULL) WHERE id = ?1";
    tx.connection.execute(sql, [to_sql(id), to_sql(now)]).in_store(tx.path)?;
    Ok(Some(answer))
}

/// Ends a question that nobody has answered.
pub(super) fn expire(tx: &mut Transaction<'_>, id: u64, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE desk SET status = 'expired', decided = ?2, \
               question = json_set(question, '$.args', NULL) \
               WHERE id = ?1 AND status = 'pending'";
    tx.connection.execute(sql, [to_sql(id), to_sql(now)]).in_store(tx.path).map(drop)
}

/// Ends what is too old, for example because the process that asked has died.
fn sweep(tx: &Transaction<'_>, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE desk SET status = 'expired', decided = expires, \
               question = json_set(question, '$.args', NULL) \
               WHERE status = 'pending' AND expires <= ?1";
    tx.connection.execute(sql, [to_sql(now)]).in_store(tx.path).map(drop)
}

/// Who decided what, in the log: the gate only knows thin the approval queue was asked.
fn record(
    tx: &mut Transaction<'_>,
    id: u64,
    word: &'static str,
    by: &str,
    reason: Option<&str>,
    now: u64,
) -> Result<(), StoreError> {
    let text = question_text(tx.connection, id).in_store(tx.path)?;
    let question = wire::read(&text).map_err(|why| damaged(tx.path, id, &why))?;
    let note = StoreRecord {
        approval: Some(Approval { answer: word, binding: &question.binding, by }),
        at: now,
        call: &question.call,
        conversation: &question.conversation,
        event: "answered",
        principal: &question.principal,
        reason,
        tool: &question.tool,
        v: 1,
        ..StoreRecord::default()
    };
    tx.append(None, note.body()).map(drop)
}

fn question_text(connection: &Connection, id: u64) -> rusqlite::Result<String> {
    let sql = "SELECT question FROM desk WHERE id = ?1";
    connection.query_row(sql, [to_sql(id)], |row| row.get(0))
}

fn read(store: &Store, row: &Row<'_>) -> Result<QueuedQuestion, StoreError> {
    let number = |at| row.get::<_, i64>(at).map(from_sql).in_store(store.path());
    let maybe = |at| {
        row.get::<_, Option<i64>>(at).map(|number| number.map(from_sql)).in_store(store.path())
    };
    let id = number(0)?;
    let text: String = row.get(1).in_store(store.path())?;
    let status: String = row.get(4).in_store(store.path())?;
    let queued = QueuedQuestion {
        id,
        question: wire::read(&text).map_err(|why| damaged(store.path(), id, &why))?,
        created: number(2)?,
        expires: number(3)?,
        status: status_in(&status)
            .ok_or_else(|| damaged(store.path(), id, &format!("`{status}` is not a status")))?,
        answer: row.get(5).in_store(store.path())?,
        decided_by: row.get(6).in_store(store.path())?,
        decided_at: maybe(7)?,
        reason: row.get(8).in_store(store.path())?,
        taken_at: maybe(9)?,
    };
    let binding: String = row.get(10).in_store(store.path())?;
    match binding == queued.question.binding {
        true => Ok(queued),
        false => Err(damaged(store.path(), id, "it is not the question that was asked")),
    }
}

/// An answer in columns.
struct AnswerColumns<'a> {
    word: &'static str,
    edit: Option<String>,
    reason: Option<&'a str>,
    /// Whether a later answer is the same.
    sha256: Hash,
}

impl AnswerColumns<'_> {
    fn new(answer: &Answer) -> AnswerColumns<'_> {
        let (word, edit, reason) = match answer {
            Answer::Once => ("once", None, None),
            Answer::Session => ("session", None, None),
            Answer::Always => ("always", None, None),
            Answer::Edit(args) => ("edit", Some(args.to_string()), None),
            Answer::No(why) => ("no", None, Some(why.as_str())),
            Answer::Abort => ("abort", None, None),
        };
        let detail = edit.as_deref().or(reason).unwrap_or_default();
        let sha256 = Hash::sha256(format!("{word}\n{detail}").as_bytes());
        AnswerColumns { word, edit, reason, sha256 }
    }
}

fn answer_in(word: &str, edit: Option<String>, reason: Option<String>) -> Option<Answer> {
    match word {
        "once" => Some(Answer::Once),
        "session" => Some(Answer::Session),
        "always" => Some(Answer::Always),
        "edit" => serde_json::from_str::<Value>(&edit?).ok().map(Answer::Edit),
        "no" => Some(Answer::No(reason.unwrap_or_default())),
        "abort" => Some(Answer::Abort),
        _ => None,
    }
}

fn status_in(word: &str) -> Option<QuestionStatus> {
    [
        QuestionStatus::Pending,
        QuestionStatus::Approved,
        QuestionStatus::Rejected,
        QuestionStatus::Expired,
    ]
    .into_iter()
    .find(|status| status.as_str() == word)
}

fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn damaged(path: &std::path::Path, id: u64, what: &str) -> StoreError {
    StoreError::Damaged { path: path.to_owned(), what: format!("question {id}: {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked { binding: "b".to_owned(), question: "{\"args\":1}".to_owned() }
    }

    fn sealed(asked: &Asked, answer: Hash) -> Vec<u8> {
        let seal = seal(&asked.binding, &asked.question, answer);
        [&answer.as_bytes()[..], &seal.as_bytes()[..]].concat()
    }

    /// Writes a yes into the table, past the queue.
    fn approve(store: &Store, sealed: Vec<u8>) {
        let sql = "UPDATE desk SET status = 'approved', answer = 'once', answer_sha256 = ?1";
        let update =
            move |tx: &mut Transaction<'_>| tx.connection.execute(sql, [sealed]).in_store(tx.path);
        assert_eq!(store.write(update), Ok(1));
    }

    /// A yes that nobody gave to this very question does not count.
    #[test]
    fn an_answer_to_another_question_is_not_handed_over() {
        let answer = AnswerColumns::new(&Answer::Once).sha256;
        let other = Asked { binding: "other".to_owned(), ..asked() };
        let shown = Asked { question: "{\"args\":2}".to_owned(), ..asked() };
        for forged in [
            Vec::new(),
            answer.as_bytes().to_vec(),
            sealed(&other, answer),
            sealed(&shown, answer),
            sealed(&asked(), AnswerColumns::new(&Answer::Always).sha256),
        ] {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().join("store.db");
            let store = Store::open(&path, crate::Options::default()).unwrap();
            store.write(|tx| insert(tx, &asked(), "c", 0, 9)).unwrap();
            approve(&store, forged);
            let taken = store.write(|tx| take(tx, 1, &asked(), 5));
            assert!(matches!(taken, Err(StoreError::Damaged { .. })), "{taken:?}");
        }
    }

    /// A9: of many that take one answer at once, exactly one gets it.
    #[test]
    fn a9_of_many_takers_exactly_one_gets_the_answer() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("store.db");
        let open = || Store::open(&path, crate::Options::default()).unwrap();
        let asked = asked();
        let row = asked.clone();
        open().write(move |tx| insert(tx, &row, "c", 0, 9)).unwrap();
        let sha256 = AnswerColumns::new(&Answer::Once).sha256;
        approve(&open(), sealed(&asked, sha256));
        let takers: Vec<_> = (0..8)
            .map(|_| {
                let store = open();
                let asked = asked.clone();
                std::thread::spawn(move || store.write(move |tx| take(tx, 1, &asked, 5)).unwrap())
            })
            .collect();
        let took: Vec<Answer> =
            takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
        assert_eq!(took, [Answer::Once]);
    }
}
