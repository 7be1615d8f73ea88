//! All machines as whoever administers sees them: what is in force, what is offered, and what keeps them from it.

use std::collections::BTreeMap;

use eclusa_fleet::MachinePublicKey;
use tokio_postgres::{Row, types::Type};

use super::{documents::CurrentDocuments, machines::text};
use crate::{Database, ServerError, database::Parameter};

/// A machine, as it last said and as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetMachine {
    /// Its number.
    pub id: u32,
    /// What it is called.
    pub name: String,
    /// The labels of its invite.
    pub labels: BTreeMap<String, String>,
    /// The version of its program.
    pub program: Option<String>,
    /// The version of the policy that is in force there; `None`: it has not said yet.
    pub in_force: Option<u64>,
    /// The version that it is offered.
    pub offered: u64,
    /// Which version it could not load, and why.
    pub cannot_load: Option<(u64, String)>,
    /// When it was last seen, in milliseconds since 1970.
    pub seen: Option<u64>,
    /// Why it is stale, as it says.
    pub stale: Option<String>,
    /// How many records were not at the server, and when the oldest of them was written.
    pub unshipped: (u64, Option<u64>),
    /// Why nothing is taken from it.
    pub stopped: Option<String>,
    /// Whether that is for good.
    pub revoked: bool,
    /// Whether a chain of it is forked.
    pub forked: bool,
    /// Whether it is that of a job, which ends.
    pub ephemeral: bool,
    /// When it said that it leaves.
    pub left: Option<u64>,
    /// When the last of its records came.
    pub shipped: Option<u64>,
    /// Why it takes no seal of the server, if it takes none.
    pub seal_refused: Option<String>,
}

/// All machines, by their numbers.
pub(crate) async fn machines(
    database: &Database,
    current: &CurrentDocuments,
) -> Result<Vec<FleetMachine>, ServerError> {
    let sql = "
select m.id, m.name, m.labels::text, m.program, m.policy, (extract(epoch from m.seen) * 1000)::bigint, m.stale, m.unshipped,
       (extract(epoch from m.unshipped_since) * 1000)::bigint, m.stopped, m.revoked,
       exists (select from chains c where c.machine = m.id and c.stopped is not null), m.key, f.version, f.why,
       m.ephemeral, (extract(epoch from m.gone) * 1000)::bigint,
       (select (extract(epoch from max(c.shipped)) * 1000)::bigint from chains c where c.machine = m.id), m.seal_refused
from machines m
left join lateral (
  select version, why from load_failures where machine = m.id and version > coalesce(m.policy, 0)
  order by version desc limit 1) f on true
order by m.id";
    let big = |it: i64| u64::try_from(it).unwrap_or_default();
    let time = |row: &Row, at: usize| row.get::<_, Option<i64>>(at).map(big);
    let read = |row: &Row| {
        let in_force = time(row, 4);
        let labels: BTreeMap<String, String> = serde_json::from_str(row.get(2)).unwrap_or_default();
        let key = row.get::<_, &[u8]>(12).try_into().map(MachinePublicKey).ok()?;
        let offered =
            current.offer((key, &labels), in_force.unwrap_or(0)).map_or(0, |it| it.version);
        Some(FleetMachine {
            id: u32::try_from(row.get::<_, i32>(0)).ok()?,
            name: row.get(1),
            labels,
            program: row.get(3),
            in_force,
            offered,
            cannot_load: time(row, 13).zip(row.get(14)),
            seen: time(row, 5),
            stale: row.get(6),
            unshipped: (big(row.get(7)), time(row, 8)),
            stopped: row.get(9),
            revoked: row.get(10),
            forked: row.get(11),
            ephemeral: row.get(15),
            left: time(row, 16),
            shipped: time(row, 17),
            seal_refused: row.get(18),
        })
    };
    Ok(database.query(sql, &[]).await?.iter().filter_map(read).collect())
}

/// What becomes of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineStop {
    /// Nothing is taken from it until it is resumed.
    Suspend,
    /// It goes on.
    Resume,
    /// Nothing is ever taken from it again.
    Revoke,
}

impl MachineStop {
    /// The word for it on record.
    pub(crate) fn act(self) -> &'static str {
        match self {
            MachineStop::Suspend => "suspended",
            MachineStop::Resume => "resumed",
            MachineStop::Revoke => "revoked",
        }
    }
}

/// Suspends, resumes or revokes a machine. False: there is no such machine, or it was revoked.
pub(crate) async fn stop(
    database: &Database,
    machine: u32,
    what: MachineStop,
    told: Option<&str>,
) -> Result<bool, ServerError> {
    let id = i32::try_from(machine).unwrap_or(0);
    let revoked = what == MachineStop::Revoke;
    let word = what.act();
    let told = match told {
        None => format!("it is {word}"),
        Some(told) => format!("it is {word}: {}", text(told)),
    };
    let stopped = (what != MachineStop::Resume).then_some(told);
    let sql = "
update machines set stopped = $2, revoked = $3, changed = now() where id = $1 and (not revoked or $3) returning 1";
    let values: [Parameter<'_>; 3] =
        [(&id, Type::INT4), (&stopped, Type::TEXT), (&revoked, Type::BOOL)];
    Ok(!database.query(sql, &values).await?.is_empty())
}
