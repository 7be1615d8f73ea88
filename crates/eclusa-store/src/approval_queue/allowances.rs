//! Allowances in the store: proposed, agreed to, used and taken back, each in one transaction.

use std::time::Duration;

use eclusa::{
    Hash,
    approve::{Allowance, GivenVote, Proof},
    audit::RECORD_VERSION,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{read::from_sql, votes::signed};
use crate::{
    StoreError,
    error::InStore,
    store_records::{Approval, StoreRecord},
    writer::{Transaction, to_sql},
};

const COLUMNS: &str = "SELECT id, rule, times, until, used, created, proposed_by, revoked, \
     revoked_by FROM allowances ";

/// So many are read at once.
const MAX_READ: i64 = 1_000;

/// Writes one down that nobody has agreed to yet. Gives its number.
pub(super) fn propose(
    tx: &mut Transaction<'_>,
    rule: &str,
    (times, until): (u64, u64),
    by: &str,
    now: u64,
) -> Result<u64, StoreError> {
    let sql = "INSERT INTO allowances (rule, times, until, created, proposed_by) \
               VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id";
    let row = params![rule, to_sql(times), to_sql(until), to_sql(now), by];
    let id = tx.connection.query_row(sql, row, |row| row.get(0)).map(from_sql).in_store(tx.path)?;
    record(tx, id, rule, ("proposed", None), by, now)?;
    Ok(id)
}

/// Notes that somebody agrees. `false` where there is nothing to agree to any more.
pub(super) fn agree(
    tx: &mut Transaction<'_>,
    id: u64,
    vote: &GivenVote,
    now: u64,
) -> Result<bool, StoreError> {
    let Some(allowance) = one(tx.connection, id).in_store(tx.path)? else { return Ok(false) };
    if !allowance.is_live(now) {
        return Ok(false);
    }
    let proof = vote.signed.as_ref().map_or(Proof::Word, |it| it.proof);
    let signed = vote.signed.as_ref();
    let sql = "INSERT OR REPLACE INTO allowance_votes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        to_sql(id),
        vote.by,
        proof.as_str(),
        signed.map(|it| &it.key),
        signed.map(|it| &it.statement),
        signed.map(|it| &it.signature),
        to_sql(now),
    ];
    tx.connection.execute(sql, row).in_store(tx.path)?;
    record(tx, id, &allowance.rule, ("allowed", Some(proof)), &vote.by, now)?;
    Ok(true)
}

/// Takes one back. `false` where there is none.
pub(super) fn revoke(
    tx: &mut Transaction<'_>,
    id: u64,
    by: &str,
    now: u64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE allowances SET revoked = ?2, revoked_by = ?3 \
               WHERE id = ?1 AND revoked IS NULL RETURNING rule";
    let row = params![to_sql(id), to_sql(now), by];
    let rule = tx.connection.query_row(sql, row, |row| row.get::<_, String>(0)).optional();
    let Some(rule) = rule.in_store(tx.path)? else { return Ok(false) };
    record(tx, id, &rule, ("revoked", None), by, now)?;
    Ok(true)
}

/// Counts one more use, unless it is used up, over or taken back.
pub(super) fn take(tx: &mut Transaction<'_>, id: u64, now: u64) -> Result<bool, StoreError> {
    let sql = "UPDATE allowances SET used = used + 1 \
               WHERE id = ?1 AND revoked IS NULL AND used < times AND until > ?2";
    Ok(tx.connection.execute(sql, params![to_sql(id), to_sql(now)]).in_store(tx.path)? == 1)
}

/// Those that can let calls pass at this moment, oldest first.
pub(super) fn live(connection: &Connection, now: u64) -> rusqlite::Result<Vec<Allowance>> {
    let rest = "WHERE revoked IS NULL AND until > ?1 AND used < times ORDER BY id LIMIT ?2";
    all(connection, rest, params![to_sql(now), MAX_READ])
}

/// The latest, newest first.
pub(super) fn latest(connection: &Connection) -> rusqlite::Result<Vec<Allowance>> {
    all(connection, "ORDER BY id DESC LIMIT ?1", [MAX_READ])
}

/// One of them.
pub(super) fn one(connection: &Connection, id: u64) -> rusqlite::Result<Option<Allowance>> {
    Ok(all(connection, "WHERE id = ?1", [to_sql(id)])?.pop())
}

fn all(
    connection: &Connection,
    rest: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<Allowance>> {
    let mut select = connection.prepare_cached(&format!("{COLUMNS}{rest}"))?;
    let found: Vec<Allowance> = select.query_map(params, read)?.collect::<Result<_, _>>()?;
    let with_votes = |it: Allowance| Ok(Allowance { votes: votes(connection, it.id)?, ..it });
    found.into_iter().map(with_votes).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Allowance> {
    let number = |at| row.get::<_, i64>(at).map(from_sql);
    let revoked: Option<i64> = row.get(7)?;
    let by: Option<String> = row.get(8)?;
    Ok(Allowance {
        id: number(0)?,
        rule: row.get(1)?,
        times: number(2)?,
        until: number(3)?,
        used: number(4)?,
        created: number(5)?,
        proposed_by: row.get(6)?,
        votes: Vec::new(),
        revoked: revoked.map(|it| (from_sql(it), by.unwrap_or_default())),
    })
}

fn votes(connection: &Connection, id: u64) -> rusqlite::Result<Vec<GivenVote>> {
    let sql = "SELECT person, proof, key, statement, signature FROM allowance_votes \
               WHERE allowance = ?1 ORDER BY at, person";
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map([to_sql(id)], |row| {
        let proof: String = row.get(1)?;
        let signed = signed(&proof, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(GivenVote { by: row.get(0)?, signed, waited: Duration::ZERO })
    })?;
    rows.collect()
}

/// Who did what with an allowance, in the log.
fn record(
    tx: &mut Transaction<'_>,
    id: u64,
    rule: &str,
    (answer, proof): (&'static str, Option<Proof>),
    by: &str,
    now: u64,
) -> Result<(), StoreError> {
    let (binding, proof) = (Hash::sha256(rule.as_bytes()).to_string(), proof.map(Proof::as_str));
    let note = StoreRecord {
        approval: Some(Approval { answer, binding: &binding, by, proof, question: None }),
        at: now,
        event: "allowance",
        message: Some(format!("allowance {id}")),
        v: RECORD_VERSION,
        ..StoreRecord::default()
    };
    tx.append(None, note.body()).map(drop)
}
