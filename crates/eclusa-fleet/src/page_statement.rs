//! What somebody signs in the page of a fleet's server besides answers: that they look, and that a new key is theirs. Each
//! names the fleet and its own purpose, so that it is nothing else.

use serde_json::json;

/// What opens the page for reading. `nonce` makes it one that was never used.
pub fn sign_in_statement(fleet: &str, origin: &str, nonce: &str, expires: u64) -> String {
    let body = json!({"expires": expires, "fleet": fleet, "nonce": nonce, "origin": origin});
    format!("eclusa sign-in v1\n{body}")
}

/// What a new key is made over, and what a key of a browser signs.
pub fn join_statement(fleet: &str, invite: &str, person: &str, expires: u64) -> String {
    let body = json!({"expires": expires, "fleet": fleet, "invite": invite, "person": person});
    format!("eclusa join v1\n{body}")
}
