//! Which generation of the protocol a peer speaks. Decided here and nowhere else.

use rmcp::{
    ErrorData, RoleClient, RoleServer,
    model::{DiscoverResult, ErrorCode, ProtocolVersion},
    service::{ClientLifecycleMode, Peer, RequestContext},
};
use serde_json::Value;

/// A generation of the Model Context Protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: a connection begins with `initialize`, and a server asks with requests of
    /// its own.
    Legacy,
    /// From 2026-07-28: every request carries what it needs, and a server asks by answering.
    #[default]
    Stateless,
}

impl Era {
    /// The era of a protocol version. Versions are dates, so later ones compare as greater.
    pub fn from_version(version: &str) -> Era {
        match version >= ProtocolVersion::V_2026_07_28.as_str() {
            true => Era::Stateless,
            false => Era::Legacy,
        }
    }

    /// The era of a client's request. A request that names no version belongs to the older era.
    pub(crate) fn of_request(context: &RequestContext<RoleServer>) -> Era {
        let version = context.protocol_version();
        version.map_or(Era::Legacy, |it| Era::from_version(it.as_str()))
    }

    /// The era that was agreed on with a server.
    pub(crate) fn of_server(peer: &Peer<RoleClient>) -> Era {
        let info = peer.peer_info();
        info.map_or(Era::Legacy, |it| Era::from_version(it.protocol_version.as_str()))
    }

    /// True when a server that says this about itself speaks the older era too.
    pub(crate) fn includes_legacy(found: &DiscoverResult) -> bool {
        found.supported_versions.iter().any(|it| Era::from_version(it.as_str()) == Era::Legacy)
    }

    /// True when a server's refusal names only versions of the older era.
    pub(crate) fn is_legacy_refusal(err: &ErrorData) -> bool {
        let stateless =
            |it: &Value| it.as_str().is_some_and(|it| Era::from_version(it) == Era::Stateless);
        let supported = err.data.as_ref().and_then(|it| it.get("supported"));
        let supported = supported.and_then(Value::as_array);
        let legacy = supported.is_some_and(|it| !it.is_empty() && !it.iter().any(stateless));
        err.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION && legacy
    }

    /// How a connection to a server begins: with the newer era, and with the older where the
    /// server does not know it. A server that is known to be of the newer era is given all its time
    /// to say so; one that shall be talked to in the older era is greeted in that.
    pub(crate) fn lifecycle(known: Option<Era>) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match known {
            Some(Era::Stateless) => ClientLifecycleMode::Discover { preferred_versions },
            Some(Era::Legacy) => ClientLifecycleMode::Initialize,
            None => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        }
    }
}
