//! Partitions: a day of records each, made ahead and dropped when it is old, by whoever owns the tables.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::time_text;
use tokio_postgres::types::Type;

use crate::{Database, ServerError};

/// For how many days ahead there are partitions.
const AHEAD: u64 = 7;

/// A day, in milliseconds.
const DAY: u64 = 86_400_000;

/// For how long what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Records, in days.
    pub records: u64,
    /// The index of calls, in days.
    pub calls: u64,
    /// Questions that are over, in days.
    pub questions: u64,
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { records: 400, calls: 90, questions: 30 }
    }
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintained {
    /// The partitions that were dropped.
    pub dropped: Vec<String>,
}

/// The partition of a day that is so many days from the one of this time, and its bounds.
fn day(table: &str, now: u64, ahead: u64) -> (String, String, String) {
    let date = |at: u64| time_text(at).chars().take(10).collect::<String>();
    let (from, to) = (date(now + ahead * DAY), date(now + (ahead + 1) * DAY));
    (format!("{table}_{}", from.replace('-', "")), from, to)
}

/// Makes the partitions of the next days.
pub(crate) async fn prepare(database: &Database) -> Result<(), ServerError> {
    let now = SystemClock.unix_ms();
    for table in ["segments", "calls"] {
        for ahead in 0..=AHEAD {
            let (name, from, to) = day(table, now, ahead);
            let there = database
                .query("select to_regclass($1) is not null", &[(&name, Type::TEXT)])
                .await?;
            if there.first().is_some_and(|it| it.get(0)) {
                continue;
            }
            // Attaching keeps nobody from writing to the other days.
            let sql = format!(
                "begin; create table {name} (like {table} including defaults including constraints including storage);\n\
                 alter table {table} attach partition {name} for values from ('{from}') to ('{to}'); commit;"
            );
            database.batch(&sql).await?;
        }
    }
    Ok(())
}

/// Makes the partitions of the next days, and drops those that are older than they are kept. Before a day of records goes,
/// each chain notes up to where it was cut.
pub async fn maintain(database: &Database, keep: Keep) -> Result<Maintained, ServerError> {
    prepare(database).await?;
    let now = SystemClock.unix_ms();
    let mut dropped = Vec::new();
    for (table, days) in [("segments", keep.records), ("calls", keep.calls)] {
        let oldest = day(table, now.saturating_sub(days.saturating_mul(DAY)), 0).0;
        let sql = "
select c.relname::text, i.inhdetachpending from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = to_regclass($1) and c.relname < $2 order by 1";
        let old = database.query(sql, &[(&table, Type::TEXT), (&oldest, Type::TEXT)]).await?;
        for row in &old {
            let (name, pending): (&str, bool) = (row.get(0), row.get(1));
            if table == "segments" && !pending {
                database.batch(&cut(name)).await?;
            }
            let how = if pending { "finalize" } else { "concurrently" };
            database.batch(&format!("alter table {table} detach partition {name} {how}")).await?;
            database.batch(&format!("drop table {name}")).await?;
            dropped.push(name.to_owned());
        }
    }
    let questions = "
delete from questions where state not in ('pending', 'sent') and touched < now() - make_interval(days => $1)";
    let days = i32::try_from(keep.questions).unwrap_or(i32::MAX);
    database.query(questions, &[(&days, Type::INT4)]).await?;
    let over = "delete from sessions where expires < now() - interval '1 day'; \
                delete from pending_keys where at < now() - interval '30 days'; \
                delete from notifications where due < now() - interval '30 days'";
    database.batch(over).await?;
    Ok(Maintained { dropped })
}

/// Notes in each chain up to which record it is about to be cut.
fn cut(partition: &str) -> String {
    format!(
        "update chains c set cut = s.last, cut_hash = s.hash from (\
         select distinct on (chain) chain, last, hash from {partition} order by chain, last desc) s \
         where c.id = s.chain and c.cut < s.last"
    )
}
