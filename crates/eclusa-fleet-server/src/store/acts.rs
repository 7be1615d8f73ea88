//! What the server and whoever administers the fleet did, as records of a chain of their own: chained, sealed and exported
//! as those of a machine, so that no document comes into the fleet unseen.

use eclusa::{
    Record,
    audit::{Clock as _, Head, SystemClock},
};
use eclusa_fleet::{
    export::{ExportedChain, ExportedLeaf},
    shipment::{self, MAX_RECORDS},
    wire::ChainHead,
};
use serde_json::{Value, json};
use tokio_postgres::{Row, types::Type};

use super::questions::{back, big};
use crate::{Database, ServerError, database::Parameter};

/// The chain, whose machine is the server: no other one has this number.
pub(crate) const CHAIN: u32 = 0;

/// What its store is called.
pub(crate) const STORE: &str = "server";

/// So often somebody else may have been faster.
const TRIES: usize = 50;

/// An act that is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetAct {
    /// The number of its record.
    pub seq: u64,
    /// The record.
    pub body: Value,
}

/// Puts an act on record. Whoever does something says so first, and does it only if that is kept.
pub(crate) async fn note(database: &Database, act: &str, about: Value) -> Result<(), ServerError> {
    let body = json!({"about": about, "act": act, "at": SystemClock.unix_ms()}).to_string();
    for _ in 0..TRIES {
        let last = "select seq, hash from acts order by seq desc limit 1";
        let last = database.query(last, &[]).await?;
        let mut head = last.first().and_then(head).unwrap_or_default();
        let record = Record::chain(body.clone(), &mut head);
        let keep = "insert into acts (seq, hash, body) values ($1, $2, $3) on conflict do nothing returning 1";
        let hash = record.hash.as_bytes().as_slice();
        let values: [Parameter<'_>; 3] =
            [(&big(record.seq), Type::INT8), (&hash, Type::BYTEA), (&body, Type::TEXT)];
        if !database.query(keep, &values).await?.is_empty() {
            return Ok(());
        }
    }
    Err(ServerError::Database("too many others administer the fleet at this moment".to_owned()))
}

/// The last record of a row that begins with its number and its hash.
fn head(row: &Row) -> Option<Head> {
    let hash: [u8; 32] = row.get::<_, &[u8]>(1).try_into().ok()?;
    Some(Head { seq: back(row.get(0)), hash: hash.into() })
}

/// The newest acts, newest first.
pub async fn acts(database: &Database, limit: u32) -> Result<Vec<FleetAct>, ServerError> {
    let sql = "select seq, body from acts order by seq desc limit $1";
    let rows = database.query(sql, &[(&i64::from(limit), Type::INT8)]).await?;
    let body = |it: &Row| serde_json::from_str(it.get(1)).unwrap_or_default();
    Ok(rows.iter().map(|it| FleetAct { seq: back(it.get(0)), body: body(it) }).collect())
}

/// The chain with its newest leaf that a seal of this size covers, and its records, packed as a machine ships them.
pub(crate) async fn exported(
    database: &Database,
    size: u64,
) -> Result<(ExportedChain, Option<ExportedLeaf>, Vec<Vec<u8>>), ServerError> {
    let rows = database.query("select seq, hash, body from acts order by seq", &[]).await?;
    let bodies: Vec<&str> = rows.iter().map(|it| it.get(2)).collect();
    let packed = bodies.chunks(MAX_RECORDS).map(|it| shipment::pack(it.iter().copied()));
    let packed = packed.collect::<std::io::Result<Vec<Vec<u8>>>>()?;
    let begins = ChainHead::from(Head::default());
    let end = rows.last().and_then(head).map_or_else(|| begins.clone(), ChainHead::from);
    let sql = "select seq, hash, n from leaves where chain = $1 and n < $2 order by n desc limit 1";
    let chain = i32::try_from(CHAIN).unwrap_or(0);
    let leaf = database.query(sql, &[(&chain, Type::INT4), (&big(size), Type::INT8)]).await?;
    let leaf = leaf.first().and_then(|it| {
        let (index, head) = (back(it.get(2)), head(it)?.into());
        Some(ExportedLeaf { index, head, proof: Vec::new() })
    });
    let about = ExportedChain {
        chain: CHAIN,
        machine: 0,
        name: STORE.to_owned(),
        store: STORE.to_owned(),
        workspace: "the server and who administers it".to_owned(),
        begins,
        head: end,
        stopped: None,
    };
    Ok((about, leaf, packed))
}
