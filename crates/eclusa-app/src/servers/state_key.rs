//! What the state of a server is kept under.

use eclusa::{
    Hash,
    settings::{Endpoint, ServerSettings},
};

/// What is kept of a server is kept under this. One that is in no file has nothing but its command
/// to be known by: two that are called the same are not the same.
pub fn key(server: &ServerSettings) -> String {
    match &server.reach {
        Endpoint::Command(command) if server.origin.is_empty() => {
            let hash = Hash::sha256(command.join("\0").as_bytes()).to_string();
            format!("{}-{}", server.name, hash.get(..8).unwrap_or_default())
        }
        Endpoint::Url { url, .. } if server.origin.is_empty() => {
            let hash = Hash::sha256(url.as_bytes()).to_string();
            format!("{}-{}", server.name, hash.get(..8).unwrap_or_default())
        }
        _ => server.name.clone(),
    }
}
