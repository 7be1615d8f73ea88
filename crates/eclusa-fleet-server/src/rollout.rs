//! Rolling out and shutting out, for whoever administers: the same statements that a server reads, sent by whoever may change the database.
//!
//! There is no request for it. Which signed version a machine is offered is what the database's owner can choose anyway,
//! so that nobody else needs to be let in, and no request of long ago can be sent again.

use eclusa_fleet::{DocumentBundle, FleetAnchor};
use serde_json::json;

use crate::{
    Database, ServerError, schema,
    store::{
        acts,
        documents::{self, CurrentDocuments},
        offers::Offer,
        overview::{self, FleetMachine, MachineStop},
        rollouts::{self, Staging},
    },
};

/// A version that some machines are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedVersion {
    /// The version of the policy.
    pub version: u64,
    /// To how many of a hundred.
    pub percent: u8,
    /// And to machines with these labels.
    pub waves: Vec<String>,
    /// Whether it is offered to nobody who does not have it.
    pub held: bool,
    /// Why it is.
    pub why: Option<String>,
}

impl OfferedVersion {
    fn new(offer: &Offer) -> OfferedVersion {
        let stage = offer.stage.as_ref();
        OfferedVersion {
            version: offer.version,
            percent: stage.map_or(100, |it| it.percent),
            waves: stage.map(|it| it.waves.clone()).unwrap_or_default(),
            held: stage.is_some_and(|it| it.held),
            why: stage.and_then(|it| it.why.clone()),
        }
    }
}

async fn current(database: &Database) -> Result<(FleetAnchor, CurrentDocuments), ServerError> {
    schema::check(database).await?;
    let anchor = schema::fleet(database).await?;
    let current = documents::current(database, &anchor).await?;
    Ok((anchor, current))
}

/// Takes newer documents, to be offered so far; `None`: to everyone.
pub async fn push(
    database: &Database,
    offered: DocumentBundle,
    staging: Option<Staging>,
    now: u64,
) -> Result<(), ServerError> {
    let (anchor, current) = current(database).await?;
    documents::push(database, &current, offered, &anchor, staging, now).await.map(drop)
}

/// What is offered, newest first; the last to everyone.
pub async fn offered(database: &Database) -> Result<Vec<OfferedVersion>, ServerError> {
    Ok(current(database).await?.1.offers.iter().map(OfferedVersion::new).collect())
}

/// The newest rollout that is not over.
fn open(current: &CurrentDocuments) -> Result<(u64, u64), ServerError> {
    let newest =
        current.offers.first().and_then(|it| Some((it.stage.as_ref()?.number, it.version)));
    newest.ok_or_else(|| {
        let version = current.held.policy().heading().version;
        ServerError::Schema(format!(
            "policy {version} is for everyone; there is nothing to roll out"
        ))
    })
}

/// Offers the newest version to more machines. Says which version.
pub async fn roll_out(database: &Database, staging: Staging) -> Result<u64, ServerError> {
    let (number, version) = open(&current(database).await?.1)?;
    let about = json!({"policy": version, "offered": staging.describe()});
    acts::note(database, "rolled out", about).await?;
    match rollouts::widen(database, number, staging).await? {
        true => Ok(version),
        false => Err(ServerError::Schema(format!(
            "policy {version} is offered to more machines already, and what is in force on a machine stays there; \
             `--hold` keeps it from others, and `eclusa fleet rollback` takes it back"
        ))),
    }
}

/// Offers the newest version to nobody who does not have it. Says which version.
pub async fn hold(database: &Database, why: &str) -> Result<u64, ServerError> {
    let (number, version) = open(&current(database).await?.1)?;
    acts::note(database, "held", json!({"policy": version, "why": why})).await?;
    rollouts::hold(database, number, why).await?;
    Ok(version)
}

/// The payload of a version of the policy that was pushed before.
pub async fn old_policy(database: &Database, version: u64) -> Result<String, ServerError> {
    schema::check(database).await?;
    let anchor = schema::fleet(database).await?;
    let held = documents::with_version(database, &anchor, version).await?;
    let held = held.ok_or_else(|| {
        ServerError::Schema(format!("there never was a policy {version} at the server"))
    })?;
    Ok(held.policy().payload().to_owned())
}

/// All machines, by their numbers.
pub async fn machines(database: &Database) -> Result<Vec<FleetMachine>, ServerError> {
    overview::machines(database, &current(database).await?.1).await
}

/// Suspends, resumes or revokes a machine, which is told why. Every server knows within a second. False: there is no such
/// machine, or it was revoked.
pub async fn stop(
    database: &Database,
    machine: u32,
    what: MachineStop,
    told: Option<&str>,
) -> Result<bool, ServerError> {
    schema::check(database).await?;
    let about = json!({"machine": machine, "why": told});
    acts::note(database, what.act(), about).await?;
    overview::stop(database, machine, what, told).await
}
