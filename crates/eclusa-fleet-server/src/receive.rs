//! What becomes of chains and shipments that machines send, whatever keeps them: PostgreSQL, or the memory of a
//! simulation.

use eclusa::audit::Head;
use eclusa_fleet::{
    shipment::ShipmentError,
    wire::{ChainHead, ChainState},
};

use crate::{ServerError, store::ship::CheckedShipment};

/// Where the records of chains are kept.
pub(crate) trait TrailStore {
    /// Keeps a shipment if its chain is the machine's, goes on, and is exactly where the shipment begins: whether it did.
    fn keep(
        &self,
        shipment: CheckedShipment,
    ) -> impl Future<Output = Result<bool, ServerError>> + Send;

    /// A chain of a machine.
    fn chain(
        &self,
        machine: u32,
        chain: u32,
    ) -> impl Future<Output = Result<Option<ChainState>, ServerError>> + Send;
}

/// Why a shipment is not taken.
#[derive(Debug)]
pub(crate) enum ShipmentRefusal {
    /// It is none.
    Unusable(ShipmentError),
    /// The machine has no such chain.
    NoChain,
    /// The chain takes nothing more.
    Stopped(String),
    /// The chain is at another record.
    OtherHead(ChainHead),
    /// The store cannot say.
    Failed(ServerError),
}

/// Takes a shipment, or says why not. The same again is refused with the head that it leads to.
pub(crate) async fn receive(
    store: &impl TrailStore,
    (machine, chain): (u32, u32),
    before: Head,
    body: Vec<u8>,
) -> Result<(ChainHead, usize), ShipmentRefusal> {
    let shipment = CheckedShipment::check((machine, chain), before, body);
    let shipment = shipment.map_err(ShipmentRefusal::Unusable)?;
    let (last, records) = (shipment.last(), shipment.records());
    if store.keep(shipment).await.map_err(ShipmentRefusal::Failed)? {
        return Ok((last.into(), records));
    }
    match store.chain(machine, chain).await.map_err(ShipmentRefusal::Failed)? {
        None => Err(ShipmentRefusal::NoChain),
        Some(ChainState { stopped: Some(why), .. }) => Err(ShipmentRefusal::Stopped(why)),
        Some(found) => Err(ShipmentRefusal::OtherHead(found.head)),
    }
}
