//! Machines: let in by an invite, known by their key.

use std::collections::BTreeMap;

use eclusa_fleet::{
    Invite, MachinePublicKey,
    wire::{InForce, SyncRequest},
};
use serde_json::json;
use tokio_postgres::types::Type;

use super::acts;
use crate::{Database, ServerError};

/// The last moment that a machine may name: 2100-01-01.
const MAX_TIME: u64 = 4_102_444_800_000;

/// A machine as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownMachine {
    pub(crate) id: u32,
    pub(crate) key: [u8; 32],
    /// The labels of its invite, or of its job.
    pub(crate) labels: BTreeMap<String, String>,
    /// Why nothing is taken from it, if nothing is.
    pub(crate) stopped: Option<String>,
}

/// Lets a machine in, if the invite may still be used. The same key again is the same machine, and counts once.
pub(crate) async fn enrol(
    database: &Database,
    invite: &Invite,
    key: MachinePublicKey,
    name: &str,
) -> Result<Option<u32>, ServerError> {
    // One statement: the use of the invite and the machine are kept together or not at all.
    let sql = "
with known as (select id from machines where key = $1),
used as (
  insert into invites as i (id, uses) select $2, 1 where not exists (select from known) and $3 > 0
  on conflict (id) do update set uses = i.uses + 1, last_used = now() where i.uses < $3
  returning 1),
new as (
  insert into machines (name, key, labels, ephemeral, invite)
  select $4, $1, $5::text::jsonb, $6, $2 from used returning id)
select id, false from known union all select id, true from new";
    let labels = serde_json::to_string(&invite.labels).unwrap_or_default();
    let (key, uses) = (key.0.to_vec(), i32::try_from(invite.uses).unwrap_or(i32::MAX));
    let rows = database
        .query(
            sql,
            &[
                (&key, Type::BYTEA),
                (&invite.id, Type::TEXT),
                (&uses, Type::INT4),
                (&name, Type::TEXT),
                (&labels, Type::TEXT),
                (&invite.ephemeral, Type::BOOL),
            ],
        )
        .await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let id = u32::try_from(row.get::<_, i32>(0)).ok();
    if row.get(1) {
        let about =
            json!({"machine": id, "name": name, "labels": invite.labels, "invite": invite.id});
        acts::note(database, "enrolled", about).await?;
    }
    Ok(id)
}

/// A machine by its number.
pub(crate) async fn find(
    database: &Database,
    machine: u32,
) -> Result<Option<KnownMachine>, ServerError> {
    let id = i32::try_from(machine).unwrap_or(0);
    let sql = "select id, key, stopped, labels::text from machines where id = $1";
    let rows = database.query(sql, &[(&id, Type::INT4)]).await?;
    Ok(rows.first().and_then(read))
}

/// Machines that changed within the last seconds.
pub(crate) async fn changed(database: &Database) -> Result<Vec<KnownMachine>, ServerError> {
    let sql = "select id, key, stopped, labels::text from machines where changed > now() - interval '1 minute'";
    let rows = database.query(sql, &[]).await?;
    Ok(rows.iter().filter_map(read).collect())
}

fn read(row: &tokio_postgres::Row) -> Option<KnownMachine> {
    let id = u32::try_from(row.get::<_, i32>(0)).ok()?;
    let key = row.get::<_, &[u8]>(1).try_into().ok()?;
    let labels = serde_json::from_str(row.get(3)).unwrap_or_default();
    Some(KnownMachine { id, key, labels, stopped: row.get(2) })
}

/// Notes what a machine says of itself.
pub(crate) async fn saw(
    database: &Database,
    machine: u32,
    said: &SyncRequest,
) -> Result<(), ServerError> {
    let number = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    let InForce { root, policy, people } = said.in_force;
    let (root, policy, people) = (number(root), number(policy), number(people));
    let id = i32::try_from(machine).unwrap_or(0);
    let (program, trouble) = (text(&said.program), said.trouble.as_deref().map(text));
    let (stale, unshipped) = (said.stale.as_deref().map(text), number(said.unshipped));
    let seal_refused = said.seal_refused.as_deref().map(text);
    let since = said.unshipped_since.map(|it| number(it.min(MAX_TIME)));
    let sql = "
update machines set seen = now(), gone = null, program = $2, root = $3, policy = $4, people = $5, trouble = $6, stale = $7,
  unshipped = $8, unshipped_since = to_timestamp($9::bigint / 1000.0), seal_refused = $10 where id = $1";
    let values: [crate::database::Parameter<'_>; 10] = [
        (&id, Type::INT4),
        (&program, Type::TEXT),
        (&root, Type::INT8),
        (&policy, Type::INT8),
        (&people, Type::INT8),
        (&trouble, Type::TEXT),
        (&stale, Type::TEXT),
        (&unshipped, Type::INT8),
        (&since, Type::INT8),
        (&seal_refused, Type::TEXT),
    ];
    database.query(sql, &values).await.map(drop)
}

/// Notes that a machine has left, where it said so. Nobody answers its questions any more.
pub(crate) async fn left(database: &Database, machine: u32) -> Result<(), ServerError> {
    acts::note(database, "left", json!({"machine": machine})).await?;
    let id = i32::try_from(machine).unwrap_or(0);
    let sql = "
with over as (
  update questions set state = 'expired', text = null, headline = '', touched = now()
  where machine = $1 and state in ('pending', 'sent'))
update machines set gone = now(), seen = now() where id = $1";
    database.query(sql, &[(&id, Type::INT4)]).await.map(drop)
}

/// A text that a machine wrote, as PostgreSQL can keep it: without NUL, and not too long.
pub(crate) fn text(text: &str) -> String {
    text.chars().filter(|it| *it != '\0').take(500).collect()
}
