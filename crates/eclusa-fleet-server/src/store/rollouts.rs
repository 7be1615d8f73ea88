//! Rollouts: how far each version of the policy is offered, changed by hand, by the clock, and by machines that cannot
//! load it.

use std::collections::BTreeMap;

use tokio_postgres::{Row, types::Type};

use super::machines::text;
use crate::{Database, ServerError, database::Parameter};

/// How far a version is to be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staging {
    /// To the machines with this label, such as `team=web`, beside those that it is offered to already.
    Wave(String),
    /// To so many of a hundred machines.
    Percent(u8),
    /// To everyone in the end, in five steps within so many seconds.
    Over(u64),
}

impl Staging {
    /// In a few words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Staging::Wave(label) => format!("to machines with {label}"),
            Staging::Percent(percent) => format!("to {percent} of 100 machines"),
            Staging::Over(seconds) => format!("to everyone within {seconds} s"),
        }
    }
}

/// How far a version is offered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RolloutStage {
    /// The number of the documents that brought the version.
    pub(crate) number: u64,
    /// The version that decides who is among the first.
    pub(crate) version: u64,
    pub(crate) percent: u8,
    /// Labels whose machines are offered it, whatever their place is.
    pub(crate) waves: Vec<String>,
    pub(crate) held: bool,
    pub(crate) why: Option<String>,
}

impl RolloutStage {
    pub(crate) fn is_for_everyone(&self) -> bool {
        self.percent >= 100 && !self.held
    }

    /// Whether a machine with these labels is of a wave.
    pub(crate) fn has_wave_of(&self, labels: &BTreeMap<String, String>) -> bool {
        let is = |wave: &String| {
            wave.split_once('=')
                .is_some_and(|(name, value)| labels.get(name).is_some_and(|it| it == value))
        };
        self.waves.iter().any(is)
    }
}

/// How far a rollout has come: one that grows by the clock stands at 20, 40, 60, 80 and 100 in turn.
const REACHED: &str = "
case when over_seconds is null or held then percent::int
else greatest(percent, least(100, 20 * (1 + floor(4 * extract(epoch from now() - began) / over_seconds))))::int end";

/// The newest rollouts.
pub(crate) async fn newest(database: &Database) -> Result<Vec<RolloutStage>, ServerError> {
    let sql = format!(
        "select number, version, {REACHED}, held, why, waves from rollouts order by number desc limit 50"
    );
    Ok(database.query(&sql, &[]).await?.iter().map(read).collect())
}

fn read(row: &Row) -> RolloutStage {
    let big = |it: i64| u64::try_from(it).unwrap_or_default();
    RolloutStage {
        number: big(row.get(0)),
        version: big(row.get(1)),
        percent: u8::try_from(row.get::<_, i32>(2)).unwrap_or(0),
        held: row.get(3),
        why: row.get(4),
        waves: row.get(5),
    }
}

/// Keeps documents and how far they are offered, both or none. False: somebody else pushed meanwhile.
pub(crate) async fn insert(
    database: &Database,
    (number, held): (u64, &str),
    version: u64,
    staging: Staging,
) -> Result<bool, ServerError> {
    let big = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    let (number, version) = (big(number), big(version));
    let (percent, over, waves) = match staging {
        Staging::Percent(percent) => (i16::from(percent.min(100)), None, Vec::new()),
        Staging::Over(seconds) => (0, Some(big(seconds)), Vec::new()),
        Staging::Wave(label) => (0, None, vec![label]),
    };
    let sql = "
with kept as (
  insert into documents (number, text)
  select $1, $2 where not exists (select from documents where number >= $1) on conflict do nothing returning number)
insert into rollouts (number, version, percent, over_seconds, waves) select number, $3, $4, $5, $6 from kept returning 1";
    let values: [Parameter<'_>; 6] = [
        (&number, Type::INT8),
        (&held, Type::TEXT),
        (&version, Type::INT8),
        (&percent, Type::INT2),
        (&over, Type::INT8),
        (&waves, Type::TEXT_ARRAY),
    ];
    Ok(!database.query(sql, &values).await?.is_empty())
}

/// Offers a version to more machines. False: it is offered to more already.
pub(crate) async fn widen(
    database: &Database,
    number: u64,
    staging: Staging,
) -> Result<bool, ServerError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let rows = match staging {
        Staging::Percent(percent) => {
            let percent = i16::from(percent.min(100));
            let sql = format!(
                "update rollouts set percent = $2, over_seconds = null, held = false, why = null
                 where number = $1 and {REACHED} <= $2 returning 1"
            );
            database.query(&sql, &[(&number, Type::INT8), (&percent, Type::INT2)]).await?
        }
        Staging::Wave(label) => {
            let sql = format!(
                "update rollouts set percent = {REACHED}, over_seconds = null, waves = array_append(waves, $2),
                 held = false, why = null where number = $1 and (held or $2 <> all (waves)) returning 1"
            );
            database.query(&sql, &[(&number, Type::INT8), (&label, Type::TEXT)]).await?
        }
        Staging::Over(seconds) => {
            let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
            let sql = format!(
                "update rollouts set percent = {REACHED}, over_seconds = $2, began = now(), held = false, why = null
                 where number = $1 returning 1"
            );
            database.query(&sql, &[(&number, Type::INT8), (&seconds, Type::INT8)]).await?
        }
    };
    Ok(!rows.is_empty())
}

/// Offers a version to nobody who does not have it.
pub(crate) async fn hold(database: &Database, number: u64, why: &str) -> Result<(), ServerError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let sql = format!(
        "update rollouts set percent = {REACHED}, held = true, why = $2 where number = $1 and not held returning 1"
    );
    let why = text(why);
    database.query(&sql, &[(&number, Type::INT8), (&why, Type::TEXT)]).await.map(drop)
}

/// Notes that a machine cannot load a version. The first time it holds the rollout.
pub(crate) async fn not_loaded(
    database: &Database,
    machine: u32,
    stage: Option<&RolloutStage>,
    (version, why): (u64, &str),
) -> Result<(), ServerError> {
    let number = stage.map_or(0, |it| i64::try_from(it.number).unwrap_or(i64::MAX));
    let (id, version) =
        (i32::try_from(machine).unwrap_or(0), i64::try_from(version).unwrap_or(i64::MAX));
    let why = text(why);
    let held = text(&format!("machine {machine} cannot load it: {why}"));
    let sql = format!(
        "with new as (
           insert into load_failures (machine, version, why) values ($1, $2, $3) on conflict do nothing returning 1)
         update rollouts set percent = {REACHED}, held = true, why = $5
         where number = $4 and not held and {REACHED} < 100 and exists (select from new) returning 1"
    );
    let values: [Parameter<'_>; 5] = [
        (&id, Type::INT4),
        (&version, Type::INT8),
        (&why, Type::TEXT),
        (&number, Type::INT8),
        (&held, Type::TEXT),
    ];
    database.query(&sql, &values).await.map(drop)
}
