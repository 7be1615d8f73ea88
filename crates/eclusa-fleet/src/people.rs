//! The people document: who may answer, with which keys.

use serde::{Deserialize, Serialize};

use crate::FleetError;

/// Who may answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeoplePayload {
    /// All of them.
    pub people: Vec<FleetPerson>,
}

/// Somebody who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetPerson {
    /// The name that goes on record.
    pub name: String,
    /// The groups that rules may name in place of people.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The keys that count.
    #[serde(default)]
    pub keys: Vec<FleetKey>,
}

/// A key of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetKey {
    /// `browser`, `file` or `passkey`.
    pub kind: String,
    /// The public part, in base64.
    pub public: String,
    /// What the authenticator calls a passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The page that a passkey is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl PeoplePayload {
    /// Reads a payload. Nobody has two entries, and no key two owners.
    pub fn parse(payload: &str) -> Result<PeoplePayload, FleetError> {
        let wrong = |why: String| FleetError::malformed(format!("the people document {why}"));
        let read: PeoplePayload =
            serde_json::from_str(payload).map_err(|err| wrong(format!("cannot be read: {err}")))?;
        for (at, person) in read.people.iter().enumerate() {
            let later = || read.people.iter().skip(at + 1);
            if later().any(|it| it.name == person.name) {
                return Err(wrong(format!("has `{}` twice", person.name.escape_debug())));
            }
            let shared = |it: &FleetKey| {
                later().flat_map(|it| &it.keys).any(|other| other.public == it.public)
            };
            if person.keys.iter().any(shared) {
                let name = person.name.escape_debug();
                return Err(wrong(format!("has a key of `{name}` with somebody else, too")));
            }
        }
        Ok(read)
    }

    /// The payload that says this.
    pub fn to_text(&self) -> String {
        // Texts can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}
