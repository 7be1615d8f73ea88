//! Chains: the records of one store of one machine, and how far they are here.

use eclusa::{Hash, audit::Head};
use eclusa_fleet::wire::{ChainRequest, ChainState, ForkedChain};
use tokio_postgres::{Row, types::Type};

use crate::{Database, ServerError, store::machines::text};

/// Begins the chain of a store. One that was begun before stays as it is.
pub(crate) async fn begin(
    database: &Database,
    machine: u32,
    asked: &ChainRequest,
    begins: Head,
) -> Result<Option<ChainState>, ServerError> {
    let sql = "
with new as (
  insert into chains (machine, store, workspace, begins, begins_hash, seq, hash)
  values ($1, $2, $3, $4, $5, $4, $5) on conflict (machine, store) do nothing
  returning id, seq, hash, stopped)
select id, seq, hash, stopped from new
union all select id, seq, hash, stopped from chains where machine = $1 and store = $2 limit 1";
    let id = i32::try_from(machine).unwrap_or(0);
    let (store, workspace) = (text(&asked.store), text(&asked.workspace));
    let (seq, hash) =
        (i64::try_from(begins.seq).unwrap_or(i64::MAX), begins.hash.as_bytes().to_vec());
    let values: [crate::database::Parameter<'_>; 5] = [
        (&id, Type::INT4),
        (&store, Type::TEXT),
        (&workspace, Type::TEXT),
        (&seq, Type::INT8),
        (&hash, Type::BYTEA),
    ];
    Ok(database.query(sql, &values).await?.first().and_then(state))
}

/// All chains of a machine.
pub(crate) async fn of_machine(
    database: &Database,
    machine: u32,
) -> Result<Vec<ChainState>, ServerError> {
    let id = i32::try_from(machine).unwrap_or(0);
    let sql = "select id, seq, hash, stopped from chains where machine = $1 order by id";
    let rows = database.query(sql, &[(&id, Type::INT4)]).await?;
    Ok(rows.iter().filter_map(state).collect())
}

/// One chain of a machine.
pub(crate) async fn find(
    database: &Database,
    machine: u32,
    chain: u32,
) -> Result<Option<ChainState>, ServerError> {
    let (id, chain) = (i32::try_from(machine).unwrap_or(0), i32::try_from(chain).unwrap_or(0));
    let sql = "select id, seq, hash, stopped from chains where machine = $1 and id = $2";
    let rows = database.query(sql, &[(&id, Type::INT4), (&chain, Type::INT4)]).await?;
    Ok(rows.first().and_then(state))
}

/// Stops a chain of which two copies were written: both heads stay on record.
pub(crate) async fn stop(
    database: &Database,
    machine: u32,
    forked: &ForkedChain,
) -> Result<(), ServerError> {
    let id = i32::try_from(machine).unwrap_or(0);
    let chain = i32::try_from(forked.chain).unwrap_or(0);
    let why = text(&format!(
        "forked: the machine has record {} with the hash {}",
        forked.head.seq, forked.head.hash
    ));
    let sql = "update chains set stopped = $3 where machine = $1 and id = $2 and stopped is null";
    let values: [crate::database::Parameter<'_>; 3] =
        [(&id, Type::INT4), (&chain, Type::INT4), (&why, Type::TEXT)];
    database.query(sql, &values).await.map(drop)
}

fn state(row: &Row) -> Option<ChainState> {
    let chain = u32::try_from(row.get::<_, i32>(0)).ok()?;
    let head = Head { seq: u64::try_from(row.get::<_, i64>(1)).ok()?, hash: hash(row.get(2))? };
    Some(ChainState { chain, head: head.into(), stopped: row.get(3) })
}

/// A hash as the database keeps it.
pub(crate) fn hash(bytes: &[u8]) -> Option<Hash> {
    let hex: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
    Hash::from_hex(&hex)
}
