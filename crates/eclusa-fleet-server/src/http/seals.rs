//! `GET /log/roots`, `/log/checkpoint` and `/log/leaves?from=N`: what a witness needs, handed to anybody. It says how many
//! heads were sealed, and nothing of whom they are.

use eclusa_fleet::wire::SealedLeaves;
use hyper::{Request, StatusCode, body::Incoming};

use super::{Answer, HttpRefusal, json};
use crate::{server::FleetServer, store::seals};

/// How many leaves are handed out at once.
const MAX_LEAVES: u64 = 10_000;

/// Every root of the fleet.
pub(super) fn roots(server: &FleetServer) -> Answer {
    json(StatusCode::OK, &server.documents().held.documents().roots_alone())
}

/// The newest seal.
pub(super) async fn checkpoint(server: &FleetServer) -> Result<Answer, HttpRefusal> {
    let newest = seals::newest(&server.database).await?;
    let none = || HttpRefusal::new(StatusCode::NOT_FOUND, "nothing was sealed yet");
    Ok(json(StatusCode::OK, &newest.ok_or_else(none)?.1))
}

/// Hashes of leaves from one on.
pub(super) async fn leaves(
    server: &FleetServer,
    request: &Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let Ok(_room) = server.pushing.try_acquire() else {
        return Err(HttpRefusal::later("others read the log of seals; come again later"));
    };
    let query = request.uri().query().unwrap_or_default();
    let from = url::form_urlencoded::parse(query.as_bytes()).find(|it| it.0 == "from");
    let from = from.and_then(|it| it.1.parse().ok()).filter(|it| *it < 1 << 62).unwrap_or(0);
    let found = seals::range(&server.database, from, from + MAX_LEAVES).await?;
    let hex = |it: &[u8; 32]| -> String { it.iter().map(|it| format!("{it:02x}")).collect() };
    Ok(json(StatusCode::OK, &SealedLeaves { leaves: found.iter().map(hex).collect() }))
}
