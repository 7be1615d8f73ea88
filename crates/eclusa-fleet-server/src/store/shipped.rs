//! Shipped records, read again chain by chain: for whoever judges them anew.

use std::collections::BTreeMap;

use eclusa::{Record, audit::Head};
use eclusa_fleet::shipment;
use tokio_postgres::types::Type;

use crate::{Database, ServerError, database::Parameter};

/// A chain, and what its machine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedChain {
    /// The machine.
    pub machine: u32,
    /// What it is called.
    pub name: String,
    /// The labels of its invite.
    pub labels: BTreeMap<String, String>,
    /// The workspace whose calls are recorded there.
    pub workspace: String,
    chain: i32,
}

/// The chains of all machines, or of a team.
pub async fn shipped_chains(
    database: &Database,
    team: Option<&str>,
) -> Result<Vec<ShippedChain>, ServerError> {
    let sql = "
select c.id, m.id, m.name, m.labels::text, c.workspace from chains c join machines m on m.id = c.machine
where $1::text is null or m.labels->>'team' = $1 order by c.id";
    let rows = database.query(sql, &[(&team, Type::TEXT)]).await?;
    let chain = |it: &tokio_postgres::Row| ShippedChain {
        chain: it.get(0),
        machine: u32::try_from(it.get::<_, i32>(1)).unwrap_or_default(),
        name: it.get(2),
        labels: serde_json::from_str(it.get(3)).unwrap_or_default(),
        workspace: it.get(4),
    };
    Ok(rows.iter().map(chain).collect())
}

/// How many segments are read at once.
const SEGMENTS: i64 = 64;

/// The records of a chain that arrived since this time, in milliseconds since 1970.
pub async fn shipped_records(
    database: &Database,
    chain: &ShippedChain,
    since: u64,
) -> Result<Vec<Record>, ServerError> {
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    let sql = "
select first, last, body from segments
where chain = $1 and first > $2 and arrived >= (to_timestamp($3 / 1000.0) at time zone 'utc')::date
order by first limit $4";
    let (mut behind, mut records) = (0_i64, Vec::new());
    loop {
        let values: [Parameter<'_>; 4] = [
            (&chain.chain, Type::INT4),
            (&behind, Type::INT8),
            (&since, Type::INT8),
            (&SEGMENTS, Type::INT8),
        ];
        let rows = database.query(sql, &values).await?;
        for row in &rows {
            let (first, last): (i64, i64) = (row.get(0), row.get(1));
            // What is read here is judged and not verified: the hash before it does not matter.
            let seq = u64::try_from(first).unwrap_or(1).saturating_sub(1);
            let before = Head { seq, ..Head::default() };
            let unpacked = shipment::unpack(row.get(2), before);
            records.extend(unpacked.map_err(|err| ServerError::Schema(err.to_string()))?);
            behind = last;
        }
        if rows.is_empty() {
            return Ok(records);
        }
    }
}
