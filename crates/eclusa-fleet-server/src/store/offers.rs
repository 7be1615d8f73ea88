//! Offers: which of the signed versions each machine is handed. The server chooses that, and nothing else.

use std::collections::BTreeMap;

use eclusa_fleet::{DocumentBundle, FleetAnchor, MachinePublicKey, Membership, rollout_place};
use tokio_postgres::types::Type;

use super::rollouts::RolloutStage;
use crate::{Database, ServerError};

/// How many bundles are looked at behind the newest.
const MAX_BACK: usize = 100;

/// Documents that are offered to some machines, or to all that are offered no newer ones.
#[derive(Clone)]
pub(crate) struct Offer {
    /// What machines are told: another number where there is anything else to fetch.
    pub(crate) number: u64,
    /// The version of the policy.
    pub(crate) version: u64,
    pub(crate) documents: DocumentBundle,
    /// How far it is offered; `None`: to everyone.
    pub(crate) stage: Option<RolloutStage>,
}

impl Offer {
    fn new(number: u64, of: &Membership, documents: DocumentBundle) -> Offer {
        let version = of.policy().heading().version;
        Offer { number, version, documents, stage: None }
    }

    /// Whether it is for this machine. What is in force on a machine stays its offer: nobody is sent back.
    pub(crate) fn is_for(
        &self,
        (machine, labels): (MachinePublicKey, &BTreeMap<String, String>),
        in_force: u64,
    ) -> bool {
        let Some(stage) = &self.stage else { return true };
        let by_place = || rollout_place(machine, stage.version) < stage.percent;
        let is_early = !stage.held && (by_place() || stage.has_wave_of(labels));
        is_early || in_force == self.version
    }
}

/// What is offered, newest first. The last is for everyone.
pub(crate) async fn offers(
    database: &Database,
    anchor: &FleetAnchor,
    (newest, held): (u64, &Membership),
    stages: &[RolloutStage],
) -> Result<Vec<Offer>, ServerError> {
    let mut offers = Vec::new();
    let mut digest = held.policy().heading().digest;
    let mut open = Offer::new(newest, held, held.documents().clone());
    let mut number = newest;
    for _ in 0..MAX_BACK {
        let stage = stages.iter().find(|it| it.number == number);
        let is_last = match stage {
            Some(stage) => stage.is_for_everyone(),
            None => !stages.iter().any(|it| it.number < number),
        };
        if is_last {
            break;
        }
        let Some((before, earlier)) = before(database, anchor, number).await? else { break };
        let same = earlier.policy().heading().digest == digest;
        match stage {
            // The same policy in an earlier bundle, or renewed since, is offered as far as it was.
            None if same => {}
            None => break,
            Some(stage) => {
                // Where other keys sign policies now, only the newest counts, for everyone.
                let Some(documents) = held.with_earlier_policy(&earlier) else { break };
                let version = earlier.policy().heading().version;
                open.stage = Some(stage.clone());
                let next = Offer::new(newest ^ (version << 43), &earlier, documents);
                offers.push(std::mem::replace(&mut open, next));
                digest = earlier.policy().heading().digest;
            }
        }
        number = before;
    }
    offers.push(open);
    Ok(offers)
}

/// The bundle before this one.
async fn before(
    database: &Database,
    anchor: &FleetAnchor,
    number: u64,
) -> Result<Option<(u64, Membership)>, ServerError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let sql = "select number, text from documents where number < $1 order by number desc limit 1";
    let rows = database.query(sql, &[(&number, Type::INT8)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let number = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
    Ok(Some((number, Membership::load(row.get(1), anchor)?)))
}
