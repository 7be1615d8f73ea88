//! The root document: the name of a fleet, where its documents lie, its keys, and what each may sign.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, FleetError, PublicKey, SigningRole, key::check_name};

/// A root document that was read. Whether anybody signed it is another matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetRoot {
    /// The name of the fleet.
    pub name: String,
    /// Where machines find the newest documents.
    pub addresses: Vec<String>,
    /// Its version.
    pub version: u64,
    /// Until when it is good, in milliseconds since 1970.
    pub expires: u64,
    /// The digest of its payload, by which machines pin it.
    pub digest: Digest,
    roles: BTreeMap<SigningRole, RoleKeys>,
}

/// The keys of a role, and how many of them must sign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleKeys {
    /// The keys.
    pub keys: Vec<PublicKey>,
    /// How many different ones must sign; 0 only where there is no such role, and then nothing is signed by it.
    pub need: usize,
}

/// The payload as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RootPayload {
    name: String,
    #[serde(default)]
    addresses: Vec<String>,
    keys: Vec<String>,
    roles: BTreeMap<SigningRole, RolePayload>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RolePayload {
    keys: Vec<String>,
    need: usize,
}

impl FleetRoot {
    /// Reads a payload.
    pub(crate) fn parse(
        payload: &str,
        version: u64,
        expires: u64,
    ) -> Result<FleetRoot, FleetError> {
        let wrong =
            |why: String| FleetError::malformed(format!("the root document {version} {why}"));
        let read: RootPayload = toml::from_str(payload).map_err(|err| {
            wrong(format!("cannot be read: {}", err.message().replace('\n', ", ")))
        })?;
        check_name(&read.name)?;
        let keys = read.keys.iter().map(|it| it.parse()).collect::<Result<Vec<PublicKey>, _>>()?;
        for (at, key) in keys.iter().enumerate() {
            // One key under two names would count twice.
            let same = |it: &PublicKey| it.name() == key.name() || it.bytes() == key.bytes();
            if keys.iter().skip(at + 1).any(same) {
                return Err(wrong(format!("has the key `{}` twice", key.name())));
            }
        }
        let mut roles = BTreeMap::new();
        for (role, written) in read.roles {
            let mut of_role: Vec<PublicKey> = Vec::new();
            for name in &written.keys {
                let key = keys.iter().find(|it| it.name() == name);
                let key = key.ok_or_else(|| wrong(format!("has no key `{name}` for `{role}`")))?;
                if of_role.contains(key) {
                    return Err(wrong(format!("names the key `{name}` twice for `{role}`")));
                }
                of_role.push(key.clone());
            }
            if written.need == 0 || written.need > of_role.len() {
                let (need, have) = (written.need, of_role.len());
                return Err(wrong(format!("needs {need} of {have} keys for `{role}`")));
            }
            roles.insert(role, RoleKeys { keys: of_role, need: written.need });
        }
        for role in [SigningRole::Root, SigningRole::Policy] {
            if !roles.contains_key(&role) {
                return Err(wrong(format!("has no keys for `{role}`")));
            }
        }
        let digest = Digest::compute(payload.as_bytes());
        let (name, addresses) = (read.name, read.addresses);
        Ok(FleetRoot { name, addresses, version, expires, digest, roles })
    }

    /// The payload that says this.
    pub(crate) fn payload(
        name: &str,
        addresses: &[String],
        roles: &BTreeMap<SigningRole, RoleKeys>,
    ) -> Result<String, FleetError> {
        let mut keys: Vec<String> = Vec::new();
        for key in roles.values().flat_map(|it| &it.keys).map(ToString::to_string) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let named = |it: &RoleKeys| RolePayload {
            keys: it.keys.iter().map(|it| it.name().to_owned()).collect(),
            need: it.need,
        };
        let roles = roles.iter().map(|(role, it)| (*role, named(it))).collect();
        let (name, addresses) = (name.to_owned(), addresses.to_vec());
        toml::to_string(&RootPayload { name, addresses, keys, roles })
            .map_err(|err| FleetError::malformed(format!("no root document can be made: {err}")))
    }

    /// The keys of a role; none where there is no such role.
    pub fn role(&self, role: SigningRole) -> RoleKeys {
        self.roles.get(&role).cloned().unwrap_or_default()
    }

    /// All roles.
    pub(crate) fn roles(&self) -> &BTreeMap<SigningRole, RoleKeys> {
        &self.roles
    }

    /// Whether a role has the same keys in another root: then its documents are counted on.
    pub(crate) fn has_same_keys(&self, other: &FleetRoot, role: SigningRole) -> bool {
        let (own, others) = (self.role(role).keys, other.role(role).keys);
        own.len() == others.len() && own.iter().all(|it| others.contains(it))
    }
}
