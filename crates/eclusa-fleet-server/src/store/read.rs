//! Reading the trail: calls by what they were, and chains with their segments.

use eclusa_fleet::{
    export::{ExportedChain, ExportedLeaf},
    wire::ChainHead,
};
use tokio_postgres::{Row, types::Type};

use super::chains::hash;
use crate::{Database, ServerError, database::Parameter};

/// Which calls are looked for.
#[derive(Debug, Clone, Default)]
pub struct CallFilter {
    /// Of this machine.
    pub machine: Option<u32>,
    /// Of this team.
    pub team: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
    /// With this decision.
    pub decision: Option<String>,
    /// Since this time, in milliseconds since 1970.
    pub since: u64,
    /// So many at most, the newest.
    pub limit: u32,
}

/// A call of some machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCall {
    /// When, in milliseconds since 1970, as the machine says.
    pub at: u64,
    /// The machine.
    pub machine: u32,
    /// What it is called.
    pub name: String,
    /// The workspace.
    pub workspace: String,
    /// The number of the call in the log of its workspace.
    pub number: u64,
    /// The tool.
    pub tool: String,
    /// What was decided.
    pub decision: Option<String>,
    /// What came of it; none while it runs.
    pub code: Option<String>,
    /// The rule that decided.
    pub rule: Option<String>,
}

/// The newest calls that fit, newest first.
pub async fn calls(
    database: &Database,
    filter: &CallFilter,
) -> Result<Vec<FoundCall>, ServerError> {
    let sql = "
select (extract(epoch from c.at) * 1000)::bigint, m.id, m.name, h.workspace, c.number, c.tool, c.decision, c.code, c.rule
from calls c join chains h on h.id = c.chain join machines m on m.id = h.machine
where c.at >= to_timestamp($1 / 1000.0) and ($2::int is null or m.id = $2) and ($3::text is null or m.labels->>'team' = $3)
  and ($4::text is null or c.tool = $4) and ($5::text is null or c.decision = $5)
order by c.at desc, c.chain, c.seq desc limit $6";
    let machine = filter.machine.map(|it| i32::try_from(it).unwrap_or(0));
    let since = i64::try_from(filter.since).unwrap_or(i64::MAX);
    let limit = i64::from(filter.limit);
    let values: [Parameter<'_>; 6] = [
        (&since, Type::INT8),
        (&machine, Type::INT4),
        (&filter.team, Type::TEXT),
        (&filter.tool, Type::TEXT),
        (&filter.decision, Type::TEXT),
        (&limit, Type::INT8),
    ];
    let big = |it: i64| u64::try_from(it).unwrap_or_default();
    let read = |it: &Row| FoundCall {
        at: big(it.get(0)),
        machine: u32::try_from(it.get::<_, i32>(1)).unwrap_or_default(),
        name: it.get(2),
        workspace: it.get(3),
        number: it.get::<_, Option<i64>>(4).map_or(0, big),
        tool: it.get(5),
        decision: it.get(6),
        code: it.get(7),
        rule: it.get(8),
    };
    Ok(database.query(sql, &values).await?.iter().map(read).collect())
}

/// All chains, or those of a machine or a team, each with the newest leaf that a seal of this size covers.
pub(crate) async fn chains(
    database: &Database,
    machine: Option<u32>,
    team: Option<&str>,
    size: u64,
) -> Result<Vec<(ExportedChain, Option<ExportedLeaf>)>, ServerError> {
    let sql = "
select c.id, c.machine, m.name, c.store, c.workspace,
       case when c.cut > 0 then c.cut else c.begins end, case when c.cut > 0 then c.cut_hash else c.begins_hash end,
       c.seq, c.hash, c.stopped, l.n, l.seq, l.hash
from chains c join machines m on m.id = c.machine
left join lateral (select n, seq, hash from leaves where chain = c.id and n < $3 order by n desc limit 1) l on true
where ($1::int is null or m.id = $1) and ($2::text is null or m.labels->>'team' = $2) order by c.id";
    let machine = machine.map(|it| i32::try_from(it).unwrap_or(0));
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let values: [Parameter<'_>; 3] =
        [(&machine, Type::INT4), (&team, Type::TEXT), (&size, Type::INT8)];
    let rows = database.query(sql, &values).await?;
    let damaged = || ServerError::Schema("a chain in the database is damaged".to_owned());
    rows.iter().map(|it| chain(it).ok_or_else(damaged)).collect()
}

fn chain(it: &Row) -> Option<(ExportedChain, Option<ExportedLeaf>)> {
    let head = |seq: i64, bytes: &[u8]| {
        Some(ChainHead { seq: u64::try_from(seq).ok()?, hash: hash(bytes)?.to_string() })
    };
    let about = ExportedChain {
        chain: u32::try_from(it.get::<_, i32>(0)).ok()?,
        machine: u32::try_from(it.get::<_, i32>(1)).ok()?,
        name: it.get(2),
        store: it.get(3),
        workspace: it.get(4),
        begins: head(it.get(5), it.get(6))?,
        head: head(it.get(7), it.get(8))?,
        stopped: it.get(9),
    };
    let leaf = match it.get::<_, Option<i64>>(10) {
        None => None,
        Some(n) => Some(ExportedLeaf {
            index: u64::try_from(n).ok()?,
            head: head(it.get(11), it.get(12))?,
            proof: Vec::new(),
        }),
    };
    Some((about, leaf))
}

/// The segments of a chain behind this record, up to this one: at most so many at once.
pub(crate) async fn segments(
    database: &Database,
    chain: u32,
    (behind, upto): (u64, u64),
    limit: i64,
) -> Result<Vec<(u64, Vec<u8>)>, ServerError> {
    let sql = "
select last, body from segments where chain = $1 and first > $2 and last <= $3 order by first limit $4";
    let chain = i32::try_from(chain).unwrap_or(0);
    let (behind, upto) =
        (i64::try_from(behind).unwrap_or(i64::MAX), i64::try_from(upto).unwrap_or(i64::MAX));
    let values: [Parameter<'_>; 4] =
        [(&chain, Type::INT4), (&behind, Type::INT8), (&upto, Type::INT8), (&limit, Type::INT8)];
    let rows = database.query(sql, &values).await?;
    Ok(rows
        .iter()
        .map(|it| (u64::try_from(it.get::<_, i64>(0)).unwrap_or_default(), it.get(1)))
        .collect())
}
