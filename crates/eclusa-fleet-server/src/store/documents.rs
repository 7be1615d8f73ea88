//! The documents of the fleet: every bundle that was pushed, numbered. What is in them is checked whenever it is read.

use std::collections::BTreeMap;

use eclusa_fleet::{
    DocumentBundle, FleetAnchor, MachinePublicKey, Membership, TakenDocuments, Verified,
};
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use super::{
    acts,
    offers::{Offer, offers},
    rollouts::{self, RolloutStage, Staging},
};
use crate::{Database, ServerError};

/// A version that satisfies every `needs`: the server carries a policy that it need not understand.
pub(crate) const ANY_PROGRAM: &str = "1000000";

/// The documents in force, and their number.
#[derive(Clone)]
pub(crate) struct CurrentDocuments {
    pub(crate) number: u64,
    pub(crate) held: Membership,
    /// What machines are offered, newest first; never empty.
    pub(crate) offers: Vec<Offer>,
    /// The rollouts that it was made by.
    pub(crate) stages: Vec<RolloutStage>,
}

impl CurrentDocuments {
    /// What a machine is offered, on which this version is in force.
    pub(crate) fn offer(
        &self,
        machine: (MachinePublicKey, &BTreeMap<String, String>),
        in_force: u64,
    ) -> Option<&Offer> {
        self.offers.iter().find(|it| it.is_for(machine, in_force))
    }
}

/// The newest documents.
pub(crate) async fn current(
    database: &Database,
    anchor: &FleetAnchor,
) -> Result<CurrentDocuments, ServerError> {
    let sql = "select number, text from documents order by number desc limit 1";
    let rows = database.query(sql, &[]).await?;
    let row = rows.first().ok_or_else(|| {
        ServerError::Schema(
            "the database holds no documents; run `eclusa fleet migrate`".to_owned(),
        )
    })?;
    let number = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
    let (held, stages) = (Membership::load(row.get(1), anchor)?, rollouts::newest(database).await?);
    let offers = offers(database, anchor, (number, &held), &stages).await?;
    Ok(CurrentDocuments { number, held, offers, stages })
}

/// The number of the newest documents.
pub(crate) async fn newest(database: &Database) -> Result<u64, ServerError> {
    let rows = database.query("select coalesce(max(number), 0) from documents", &[]).await?;
    Ok(rows.first().and_then(|it| u64::try_from(it.get::<_, i64>(0)).ok()).unwrap_or(0))
}

/// Takes newer documents, as a machine would: enough keys signed them, and nothing in them goes back.
pub(crate) async fn push(
    database: &Database,
    current: &CurrentDocuments,
    offered: DocumentBundle,
    anchor: &FleetAnchor,
    staging: Option<Staging>,
    now: u64,
) -> Result<CurrentDocuments, ServerError> {
    let usable = |_, _: &_| Ok(());
    let (held, taken) = current.held.take(offered, anchor, (now, ANY_PROGRAM), usable)?;
    match (taken, &staging) {
        (TakenDocuments::Unchanged, None) => return Ok(current.clone()),
        (TakenDocuments::Unchanged, Some(_)) => {
            return Err(ServerError::Schema(
                "the server has these documents already; `eclusa fleet rollout` says how far they are offered"
                    .to_owned(),
            ));
        }
        (TakenDocuments::Newer, _) => {}
    }
    acts::note(database, "documents", about(&held, staging.as_ref())).await?;
    // By the clock, so that no number comes twice, also where the database was set back.
    let number = now.max(current.number + 1);
    match staging {
        None => insert(database, number, &held).await?,
        Some(staging) => {
            let (version, text) = (held.policy().heading().version, held.to_text());
            if !rollouts::insert(database, (number, &text), version, staging).await? {
                return Err(somebody_else());
            }
        }
    }
    self::current(database, anchor).await
}

/// Which documents these are, and who signed them.
pub(crate) fn about(held: &Membership, staging: Option<&Staging>) -> Value {
    let of = |it: &Verified| {
        let heading = it.heading();
        let digest = format!("sha256:{}", heading.digest);
        json!({"version": heading.version, "digest": digest, "signers": it.signers()})
    };
    let root = held.root();
    json!({
        "root": {"version": root.version, "digest": format!("sha256:{}", root.digest)},
        "policy": of(held.policy()),
        "people": held.people().map(|it| of(it.0)),
        "offered": staging.map(Staging::describe),
    })
}

/// Keeps documents under this number, if it is higher than all others: otherwise somebody else pushed meanwhile.
pub(crate) async fn insert(
    database: &Database,
    number: u64,
    held: &Membership,
) -> Result<(), ServerError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let sql = "
insert into documents (number, text) select $1, $2 where not exists (select from documents where number >= $1)
on conflict do nothing returning 1";
    let kept = database.query(sql, &[(&number, Type::INT8), (&held.to_text(), Type::TEXT)]).await?;
    match kept.is_empty() {
        false => Ok(()),
        true => Err(somebody_else()),
    }
}

fn somebody_else() -> ServerError {
    ServerError::Schema("somebody else pushed documents at the same moment; push again".to_owned())
}

/// The bundle that first brought this version of the policy.
pub(crate) async fn with_version(
    database: &Database,
    anchor: &FleetAnchor,
    version: u64,
) -> Result<Option<Membership>, ServerError> {
    let mut after = 0_i64;
    loop {
        let sql = "select number, text from documents where number > $1 order by number limit 1";
        let rows = database.query(sql, &[(&after, Type::INT8)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        after = row.get(0);
        let held = Membership::load(row.get(1), anchor)?;
        if held.policy().heading().version == version {
            return Ok(Some(held));
        }
    }
}
