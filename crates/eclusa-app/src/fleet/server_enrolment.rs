//! Entering a fleet at its server: a key of this machine's own, a number for it, and the documents.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    EnrolmentCode, FleetAnchor, MachineState, Membership, ShippedStore,
    wire::{EnrolRequest, Enrolled},
};

use super::{
    client::{REQUEST_TIME, ServerClient},
    enter, keep, lock,
};
use crate::{
    failure::Failure,
    fleet_machine::{local_stores::LocalStores, machine_files},
    paths::Paths,
};

/// Lets this machine in: everything is checked and in force, or nothing has changed here. With `history`, records from
/// before are shipped as well.
pub async fn enroll_at(
    paths: &Paths,
    (code, server): (&EnrolmentCode, &str),
    anchor: &FleetAnchor,
    history: bool,
) -> Result<Membership, Failure> {
    let _only = lock(paths)?;
    let Some(_shipping) = machine_files::shipping_lock(paths)? else {
        return Err(Failure::failed("another process ships this machine's records")
            .hint("end `eclusa fleet sync` first"));
    };
    let key = machine_files::next_key(paths)?;
    let request = EnrolRequest {
        invite: code.invite.clone(),
        secret: code.secret.clone(),
        key: key.public().to_base64(),
        name: host_name(),
    };
    let mut client = ServerClient::new(server, &code.fleet, key, (0, 0))?;
    let enrolled: Result<Enrolled, _> = client.post("/v1/enroll", &request, REQUEST_TIME).await;
    let enrolled = enrolled.map_err(|err| {
        Failure::failed(format!("cannot enrol at `{server}`: {}", err.describe()))
    })?;
    let new = enter(paths, code, anchor, enrolled.documents)?;
    let mut state = MachineState {
        machine: enrolled.machine,
        server: server.to_owned(),
        offset: client.offset,
        caught_up: SystemClock.unix_ms(),
        documents: 0,
        suspended: None,
        stores: Default::default(),
    };
    let mut stores = LocalStores::default();
    for why in stores.refresh(paths) {
        crate::screen::note(&why);
    }
    for store in stores.iter() {
        let behind = match history {
            true => Default::default(),
            false => store.store.head().map_err(Failure::failed)?,
        };
        state.stores.insert(store.id.clone(), ShippedStore::begin(behind));
    }
    keep(paths, &new)?;
    machine_files::use_next_key(paths)?;
    machine_files::keep_state(paths, &state)?;
    Ok(new)
}

/// What this machine is called.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
