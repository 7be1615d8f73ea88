//! Entering a fleet at its server: a key of this machine's own, a number for it, and the documents.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    EnrolmentCode, FleetAnchor, JobToken, MachineState, Membership, ShippedStore,
    wire::{EnrolRequest, Enrolled, JobEnrolRequest},
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
    let new = enter(paths, Some(code), anchor, enrolled.documents)?;
    begin(paths, (enrolled.machine, server, client.offset), history, &new)?;
    Ok(new)
}

/// Lets the machine of a job in by the token of its platform.
pub async fn enroll_job(
    paths: &Paths,
    (token, server): (&str, &str),
    anchor: &FleetAnchor,
    history: bool,
) -> Result<Membership, Failure> {
    let _only = lock(paths)?;
    let Some(_shipping) = machine_files::shipping_lock(paths)? else {
        return Err(Failure::failed("another process ships this machine's records")
            .hint("end `eclusa fleet sync` first"));
    };
    let read = JobToken::parse(token).map_err(Failure::usage)?;
    let key = machine_files::next_key(paths)?;
    let request = JobEnrolRequest {
        token: token.to_owned(),
        key: key.public().to_base64(),
        name: host_name(),
    };
    let mut client = ServerClient::new(server, &anchor.name, key, (0, 0))?;
    let enrolled: Result<Enrolled, _> = client.post("/v1/enroll-job", &request, REQUEST_TIME).await;
    let enrolled = enrolled.map_err(|err| {
        Failure::failed(format!("cannot enrol at `{server}`: {}", err.describe()))
    })?;
    let new = enter(paths, None, anchor, enrolled.documents)?.of_job(&read);
    begin(paths, (enrolled.machine, server, client.offset), history, &new)?;
    Ok(new)
}

/// From here on this machine is that of the server.
fn begin(
    paths: &Paths,
    (machine, server, offset): (u32, &str, i64),
    history: bool,
    new: &Membership,
) -> Result<(), Failure> {
    let mut state = MachineState::enrolled(machine, server.to_owned());
    (state.offset, state.caught_up) = (offset, SystemClock.unix_ms());
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
    keep(paths, new)?;
    machine_files::use_next_key(paths)?;
    machine_files::keep_state(paths, &state)
}

/// What this machine is called.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
