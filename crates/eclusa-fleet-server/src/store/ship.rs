//! Shipping: heads move by compare and set, and what moved is kept, in one statement for all shipments of a moment.

use std::collections::BTreeSet;

use eclusa::audit::Head;
use eclusa_fleet::shipment::{self, ShipmentError};
use tokio_postgres::types::Type;

use super::call_fields::{self, CallRow, LateEnd};
use crate::{Database, ServerError, database::Parameter};

/// A shipment that was checked: its hashes were computed from the bytes that came.
pub struct CheckedShipment {
    pub(crate) machine: u32,
    pub(crate) chain: u32,
    pub(crate) before: Head,
    last: Head,
    records: usize,
    /// As it came, compressed.
    pub(crate) body: Vec<u8>,
    calls: Vec<CallRow>,
    late: Vec<LateEnd>,
}

impl CheckedShipment {
    /// Checks what came: the bytes of a shipment of this chain of this machine, which begins behind this head.
    pub fn check(
        (machine, chain): (u32, u32),
        before: Head,
        body: Vec<u8>,
    ) -> Result<CheckedShipment, ShipmentError> {
        let records = shipment::unpack(&body, before)?;
        let last = records.last().map_or(before, |it| Head { seq: it.seq, hash: it.hash });
        let (calls, late) = call_fields::of_records(&records);
        let records = records.len();
        Ok(CheckedShipment { machine, chain, before, last, records, body, calls, late })
    }

    /// Its last record.
    pub fn last(&self) -> Head {
        self.last
    }

    /// How many records it has.
    pub fn records(&self) -> usize {
        self.records
    }
}

/// INVARIANT: the only statement that moves a head. A shipment counts if its chain is the machine's, goes on, and is
/// exactly where the shipment begins; otherwise nothing of it is kept.
const SHIP: &str = "
with given as materialized (
  select * from unnest($1::int[], $2::int[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[], $7::bytea[])
    as g(chain, machine, before, previous, last, hash, body)),
locked as materialized (select id from chains where id = any($1) order by id for no key update),
moved as (
  update chains c set seq = g.last, hash = g.hash, shipped = now()
  from given g join locked l on l.id = g.chain
  where c.id = g.chain and c.machine = g.machine and c.seq = g.before and c.hash = g.previous and c.stopped is null
  returning c.id),
kept as (
  insert into segments (chain, first, last, hash, body)
  select g.chain, g.before + 1, g.last, g.hash, g.body from given g join moved m on m.id = g.chain returning chain),
begun as (
  insert into calls (chain, seq, at, number, tool, class, decision, code, rule, principal, person, ms)
  select c.chain, c.seq, to_timestamp(c.at / 1000.0), c.number, c.tool, c.class, c.decision, c.code, c.rule,
         c.principal, c.person, c.ms
  from unnest($8::int[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[],
              $15::text[], $16::text[], $17::text[], $18::text[], $19::int[])
    as c(chain, seq, at, number, tool, class, decision, code, rule, principal, person, ms)
  join moved m on m.id = c.chain returning 1),
ended as (
  update calls c set code = e.code, ms = e.ms
  from unnest($20::int[], $21::bigint[], $22::text[], $23::int[]) as e(chain, start, code, ms)
  join moved m on m.id = e.chain where c.chain = e.chain and c.seq = e.start returning 1)
select chain from kept";

/// Keeps these shipments, at most one of each chain, and says which chains moved.
pub async fn ship(
    database: &Database,
    shipments: &[CheckedShipment],
) -> Result<BTreeSet<u32>, ServerError> {
    fn all<'a, T>(of: &'a [CheckedShipment], read: impl Fn(&'a CheckedShipment) -> T) -> Vec<T> {
        of.iter().map(read).collect()
    }
    let int = |it: u32| i32::try_from(it).unwrap_or(0);
    let big = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    let chains = all(shipments, |it| int(it.chain));
    let machines = all(shipments, |it| int(it.machine));
    let before = all(shipments, |it| big(it.before.seq));
    let previous = all(shipments, |it| it.before.hash.as_bytes().as_slice());
    let last = all(shipments, |it| big(it.last.seq));
    let hash = all(shipments, |it| it.last.hash.as_bytes().as_slice());
    let body = all(shipments, |it| it.body.as_slice());
    let calls: Vec<(i32, &CallRow)> = shipments
        .iter()
        .flat_map(|it| it.calls.iter().map(move |call| (int(it.chain), call)))
        .collect();
    let late: Vec<(i32, &LateEnd)> = shipments
        .iter()
        .flat_map(|it| it.late.iter().map(move |end| (int(it.chain), end)))
        .collect();
    macro_rules! column {
        ($rows:expr, $field:ident) => {
            $rows.iter().map(|it| &it.1.$field).collect::<Vec<_>>()
        };
    }
    let call_chain: Vec<i32> = calls.iter().map(|it| it.0).collect();
    let late_chain: Vec<i32> = late.iter().map(|it| it.0).collect();
    let (seq, at, number, tool) =
        (column!(calls, seq), column!(calls, at), column!(calls, number), column!(calls, tool));
    let (class, decision, code, rule) = (
        column!(calls, class),
        column!(calls, decision),
        column!(calls, code),
        column!(calls, rule),
    );
    let (principal, person, ms) =
        (column!(calls, principal), column!(calls, person), column!(calls, ms));
    let (start, end_code, end_ms) = (column!(late, start), column!(late, code), column!(late, ms));
    let values: [Parameter<'_>; 23] = [
        (&chains, Type::INT4_ARRAY),
        (&machines, Type::INT4_ARRAY),
        (&before, Type::INT8_ARRAY),
        (&previous, Type::BYTEA_ARRAY),
        (&last, Type::INT8_ARRAY),
        (&hash, Type::BYTEA_ARRAY),
        (&body, Type::BYTEA_ARRAY),
        (&call_chain, Type::INT4_ARRAY),
        (&seq, Type::INT8_ARRAY),
        (&at, Type::INT8_ARRAY),
        (&number, Type::INT8_ARRAY),
        (&tool, Type::TEXT_ARRAY),
        (&class, Type::TEXT_ARRAY),
        (&decision, Type::TEXT_ARRAY),
        (&code, Type::TEXT_ARRAY),
        (&rule, Type::TEXT_ARRAY),
        (&principal, Type::TEXT_ARRAY),
        (&person, Type::TEXT_ARRAY),
        (&ms, Type::INT4_ARRAY),
        (&late_chain, Type::INT4_ARRAY),
        (&start, Type::INT8_ARRAY),
        (&end_code, Type::TEXT_ARRAY),
        (&end_ms, Type::INT4_ARRAY),
    ];
    let rows = database.query(SHIP, &values).await?;
    Ok(rows.iter().filter_map(|it| u32::try_from(it.get::<_, i32>(0)).ok()).collect())
}
