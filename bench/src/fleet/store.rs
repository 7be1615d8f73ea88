//! What the database keeps in a second: raw `COPY` of rows, and shipments by the product's own statement, made
//! beforehand, both by two writers that bring as much at once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::Record;
use eclusa_fleet::shipment;
use eclusa_fleet_server::{CheckedShipment, Database, ship};
use tokio_postgres::{Client, binary_copy::BinaryCopyInWriter, types::Type};

use super::{Outcome, database::Postgres, records::GrowingChain};
use crate::measure;

/// How many writers there are, and how many shipments one brings at once, as in the server.
const WRITERS: usize = 2;
const GROUP: usize = 128;

/// About so many records are kept in each run; a build without optimisation takes too long to make them.
const RECORDS: usize = if cfg!(debug_assertions) { 20_000 } else { 200_000 };

const TABLES: &str = "
create table machines (id int primary key);
create table chains (id int primary key, machine int not null, store text, seq bigint not null, hash bytea not null,
  shipped timestamptz, stopped text) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create table records (chain int not null, seq bigint not null, hash bytea not null, body text not null,
  primary key (chain, seq));
create table segments (arrived date not null default (now() at time zone 'utc')::date, chain int not null,
  first bigint not null, last bigint not null, hash bytea not null, body bytea not null,
  primary key (chain, first, arrived)) partition by range (arrived);
alter table segments alter column body set storage external;
create table calls (arrived date not null default (now() at time zone 'utc')::date, at timestamptz not null,
  chain int not null, seq bigint not null, number bigint, tool text not null, class text, decision text, code text,
  rule text, principal text, person text, ms int, primary key (chain, seq, arrived)) partition by range (arrived);
create index calls_at on calls (at);
create index calls_stopped on calls (at) where decision in ('ask', 'deny');
create table segments_all partition of segments for values from (minvalue) to (maxvalue);
create table calls_all partition of calls for values from (minvalue) to (maxvalue);";

/// What a writer brings at once: shipments that were checked, and their records as rows.
struct Group {
    shipments: Vec<CheckedShipment>,
    rows: Vec<(i32, Vec<Record>)>,
}

/// What each writer brings, in order.
fn planned(machines: usize, at_once: usize) -> Outcome<Vec<Vec<Group>>> {
    let rounds = (RECORDS / machines / at_once).clamp(2, 200);
    let mut chains: Vec<GrowingChain> = (1..=machines as u64).map(GrowingChain::new).collect();
    let mut writers: Vec<Vec<Group>> = (0..WRITERS).map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (writer, groups) in writers.iter_mut().enumerate() {
            let own: Vec<usize> = (writer..machines).step_by(WRITERS).collect();
            for group in own.chunks(GROUP) {
                let (mut shipments, mut rows) = (Vec::new(), Vec::new());
                for &at in group {
                    let Some(chain) = chains.get_mut(at) else { continue };
                    let (before, records) = (chain.head, chain.grow(at_once));
                    let packed = shipment::pack(records.iter().map(|it| it.body.as_str()))?;
                    let number = u32::try_from(at + 1)?;
                    shipments.push(CheckedShipment::check((1, number), before, packed)?);
                    rows.push((i32::try_from(number)?, records));
                }
                groups.push(Group { shipments, rows });
            }
        }
    }
    Ok(writers)
}

struct Run {
    records: usize,
    took: Duration,
    worked: Duration,
    bytes: f64,
}

impl Run {
    fn rate(&self) -> f64 {
        self.records as f64 / self.took.as_secs_f64()
    }

    fn micros(&self) -> f64 {
        self.worked.as_secs_f64() * 1e6 / self.records as f64
    }
}

async fn reset(client: &Client, machines: usize) -> Outcome<()> {
    client.batch_execute("truncate records, segments, calls, chains").await?;
    let zero = vec![0_u8; 32];
    let sql = "insert into chains (id, machine, store, seq, hash) select i, 1, i::text, 0, $2 from generate_series(1, $1::int) i";
    client
        .execute_typed(sql, &[(&i32::try_from(machines)?, Type::INT4), (&zero, Type::BYTEA)])
        .await?;
    client.batch_execute("analyze chains; checkpoint").await?;
    Ok(())
}

async fn bytes(client: &Client) -> Outcome<f64> {
    let sql = "select (pg_total_relation_size('records') + pg_total_relation_size('segments_all') \
               + pg_total_relation_size('calls_all'))::float8";
    Ok(client.query_typed(sql, &[]).await?.first().map_or(0.0, |it| it.get(0)))
}

/// Brings everything, each writer its own in turn.
async fn measured(
    postgres: &Arc<Postgres>,
    (machines, plan): (usize, &Arc<Vec<Vec<Group>>>),
    raw: bool,
) -> Outcome<Run> {
    let client = postgres.connect("bench").await?;
    reset(&client, machines).await?;
    let empty = bytes(&client).await?;
    let (began, before) = (Instant::now(), postgres.worked());
    let writer = |at: usize| {
        let (postgres, plan) = (postgres.clone(), plan.clone());
        tokio::spawn(async move {
            let groups = plan.get(at).map_or(&[][..], Vec::as_slice);
            match raw {
                true => copy(&postgres, groups).await,
                false => keep(&postgres, groups).await,
            }
        })
    };
    let mut records = 0;
    for it in (0..WRITERS).map(writer).collect::<Vec<_>>() {
        records += it.await??;
    }
    let took = began.elapsed();
    let bytes = (bytes(&client).await? - empty) / records as f64;
    Ok(Run { records, took, worked: postgres.worked().saturating_sub(before), bytes })
}

async fn copy(postgres: &Postgres, groups: &[Group]) -> Outcome<usize> {
    let client = postgres.connect("bench").await?;
    let types = [Type::INT4, Type::INT8, Type::BYTEA, Type::TEXT];
    let mut count = 0;
    for group in groups {
        let sink =
            client.copy_in("copy records (chain, seq, hash, body) from stdin binary").await?;
        let mut rows = Box::pin(BinaryCopyInWriter::new(sink, &types));
        for (chain, records) in &group.rows {
            for it in records {
                let (seq, hash) = (i64::try_from(it.seq)?, it.hash.as_bytes().as_slice());
                rows.as_mut().write(&[chain, &seq, &hash, &it.body]).await?;
                count += 1;
            }
        }
        rows.as_mut().finish().await?;
    }
    Ok(count)
}

async fn keep(postgres: &Postgres, groups: &[Group]) -> Outcome<usize> {
    let database = Database::open(&postgres.address("bench"))?;
    let mut count = 0;
    for group in groups {
        let moved = ship(&database, &group.shipments).await?;
        if moved.len() != group.shipments.len() {
            return Err("a shipment was not kept".into());
        }
        count += group.shipments.iter().map(CheckedShipment::records).sum::<usize>();
    }
    Ok(count)
}

pub(super) async fn measure(postgres: &Arc<Postgres>) -> Outcome<()> {
    postgres.connect("postgres").await?.batch_execute("create database bench").await?;
    postgres.connect("bench").await?.batch_execute(TABLES).await?;
    let first = Arc::new(planned(64, 20)?);
    // Once before anything counts: files are made, and pages are warm.
    measured(postgres, (64, &first), true).await?;
    let base = measured(postgres, (64, &first), true).await?;
    measure::number("raw COPY of rows, 64 machines x 20: records a second", base.rate(), "/s");
    measure::number("  PostgreSQL's processor for a record", base.micros(), "µs");
    measure::number("  bytes of a record", base.bytes, "B");
    for (machines, at_once) in [(64, 20), (1_000, 20), (1_000, 2), (1, 20), (1, 200)] {
        let plan = Arc::new(planned(machines, at_once)?);
        let raw = measured(postgres, (machines, &plan), true).await?;
        let kept = measured(postgres, (machines, &plan), false).await?;
        let name = format!("shipments, {machines} machines x {at_once}: records a second");
        measure::rate(&name, kept.rate(), "/s", base.rate());
        measure::number("  of raw COPY of the same shape in turn", kept.rate() / raw.rate(), "x");
        measure::number("  PostgreSQL's processor for a record", kept.micros(), "µs");
        measure::number("  bytes of a record", kept.bytes, "B");
    }
    Ok(())
}
