//! What the database says of the fleet at this moment, as metrics.

use tokio_postgres::Row;

use super::documents::CurrentDocuments;
use crate::{Database, ServerError, metrics::PrometheusText};

/// Everything that is one row of numbers: a name, what it is, and the expression.
const NUMBERS: [(&str, &str, &str); 9] = [
    (
        "forks",
        "Chains of which two copies were written.",
        "(select count(*) from chains where stopped is not null)",
    ),
    (
        "unshipped_seconds",
        "How long the oldest record waits that a machine has not shipped, as machines said last.",
        "(select coalesce(extract(epoch from now() - min(unshipped_since)), 0) from machines
          where unshipped > 0 and stopped is null and gone is null)",
    ),
    (
        "seal_age_seconds",
        "How long ago the heads of all chains were last looked at to be sealed.",
        "(select coalesce(extract(epoch from now() - nullif(at, '-infinity')), 1e9) from turns where name = 'seal')",
    ),
    (
        "seals_refused",
        "Machines that do not take the newest seal, as it does not follow the one that they have seen.",
        "(select count(*) from machines where seal_refused is not null and not revoked)",
    ),
    (
        "sealed_heads",
        "How many heads are in the log of seals.",
        "(select coalesce(max(size), 0) from seals)",
    ),
    (
        "partition_days_ahead",
        "For how many days ahead there are partitions.",
        "(select coalesce(max(to_date(right(c.relname, 8), 'YYYYMMDD')) - (now() at time zone 'utc')::date, -1)
          from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'segments'::regclass)",
    ),
    ("database_bytes", "How large the database is.", "pg_database_size(current_database())"),
    (
        "load_failures",
        "Machines that could not load a version newer than what is in force there.",
        "(select count(distinct f.machine) from load_failures f join machines m on m.id = f.machine
          where f.version > coalesce(m.policy, 0))",
    ),
    (
        "last_shipment_seconds",
        "How long ago a machine last shipped anything.",
        "(select coalesce(extract(epoch from now() - max(shipped)), 0) from chains)",
    ),
];

/// Writes them.
pub(crate) async fn write(
    database: &Database,
    current: &CurrentDocuments,
    to: &mut PrometheusText,
) -> Result<(), ServerError> {
    let states = "
select case when revoked then 'revoked' when stopped is not null then 'suspended' when gone is not null then 'left'
            when ephemeral and seen < now() - interval '1 day' then 'vanished' when stale is not null then 'stale'
            when seen > now() - interval '2 minutes' then 'seen' else 'away' end as state, count(*)
from machines group by 1 order by 1";
    let machines = database.query(states, &[]).await?;
    to.about("machines", "gauge", "Machines by what they are.");
    for state in ["away", "left", "revoked", "seen", "stale", "suspended", "vanished"] {
        let found = machines.iter().find(|it| it.get::<_, &str>(0) == state);
        to.value("machines", &format!("state=\"{state}\""), found.map_or(0, count));
    }
    let versions = "
select coalesce(policy, 0)::text, count(*) from machines where stopped is null group by 1 order by 1";
    to.about("in_force", "gauge", "Machines by the version of the policy that is in force there.");
    for row in &database.query(versions, &[]).await? {
        to.value("in_force", &format!("version=\"{}\"", row.get::<_, &str>(0)), count(row));
    }
    let columns: Vec<String> = NUMBERS.iter().map(|it| format!("({})::float8", it.2)).collect();
    let rows = database.query(&format!("select {}", columns.join(", ")), &[]).await?;
    for (at, (name, help, _)) in NUMBERS.iter().enumerate() {
        let value: f64 = rows.first().map_or(f64::NAN, |it| it.get(at));
        to.about(name, "gauge", help);
        to.value(name, "", value);
    }
    to.about("rollout_percent", "gauge", "To how many of a hundred machines a version is offered.");
    for offer in &current.offers {
        let percent = offer.stage.as_ref().map_or(100, |it| it.percent);
        to.value("rollout_percent", &format!("version=\"{}\"", offer.version), percent);
    }
    let is_held = |it: &super::offers::Offer| it.stage.as_ref().is_some_and(|it| it.held);
    to.about(
        "rollout_held",
        "gauge",
        "Versions that are offered to nobody who does not have them.",
    );
    to.value("rollout_held", "", current.offers.iter().filter(|it| is_held(it)).count());
    to.about("policy_expires_timestamp_seconds", "gauge", "When the newest policy expires.");
    let expires = current.held.policy().heading().expires / 1_000;
    to.value("policy_expires_timestamp_seconds", "", expires);
    Ok(())
}

fn count(row: &Row) -> i64 {
    row.get(1)
}
