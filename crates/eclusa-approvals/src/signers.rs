//! Whose signature an answer has, for the gate that runs the call.

use eclusa::approve::{Proof, SignedAnswer, SignerDirectory};
use serde::Deserialize;

use crate::{
    people::{KeyKind, People, PersonKey},
    proof::verify,
};

impl SignerDirectory for People {
    fn verify(&self, person: &str, signed: &SignedAnswer) -> Option<Proof> {
        let (owner, key) = self.key(&signed.key).ok().flatten()?;
        let holds = owner == person && verify(&key, &signed.statement, &signed.signature).is_ok();
        // What the answer says of itself counts for nothing.
        holds.then(|| key.kind.proof())
    }

    fn groups(&self, person: &str) -> Vec<String> {
        let all = self.all().unwrap_or_default();
        all.into_iter().find(|it| it.name == person).map(|it| it.groups).unwrap_or_default()
    }
}

/// People whose keys somebody vouched for: those of a signed list. It is read once and changes no more.
#[derive(Debug, Clone, Default)]
pub struct KnownSigners {
    people: Vec<KnownSigner>,
}

#[derive(Debug, Clone)]
struct KnownSigner {
    name: String,
    groups: Vec<String>,
    keys: Vec<PersonKey>,
}

#[derive(Deserialize)]
struct SignerList {
    people: Vec<ListedSigner>,
}

#[derive(Deserialize)]
struct ListedSigner {
    name: String,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    keys: Vec<ListedKey>,
}

#[derive(Deserialize)]
struct ListedKey {
    kind: KeyKind,
    public: String,
    #[serde(default)]
    credential: Option<String>,
    #[serde(default)]
    origin: Option<String>,
}

impl KnownSigners {
    /// Reads a list: `{"people": [{"name", "groups", "keys": [{"kind", "public", "credential", "origin"}]}]}`.
    pub fn parse(text: &str) -> Result<KnownSigners, serde_json::Error> {
        let list: SignerList = serde_json::from_str(text)?;
        let key = |it: ListedKey| PersonKey {
            credential: it.credential,
            origin: it.origin,
            ..PersonKey::new(it.kind, it.public, String::new(), 0)
        };
        let person = |it: ListedSigner| KnownSigner {
            name: it.name,
            groups: it.groups,
            keys: it.keys.into_iter().map(key).collect(),
        };
        Ok(KnownSigners { people: list.people.into_iter().map(person).collect() })
    }

    /// Whose key this is.
    pub fn owner(&self, key: &str) -> Option<&str> {
        self.find(key).map(|it| it.0)
    }

    /// Whose key signed exactly this text, and how sure that is; `None` where no key of this name did.
    pub fn signer(&self, key: &str, text: &str, signature: &str) -> Option<(&str, Proof)> {
        let (owner, key) = self.find(key)?;
        verify(key, text, signature).is_ok().then(|| (owner, key.kind.proof()))
    }

    /// The keys of a person.
    pub fn keys_of(&self, person: &str) -> &[PersonKey] {
        self.people.iter().find(|it| it.name == person).map_or(&[], |it| &it.keys)
    }

    /// The keys that an authenticator calls so, of whomever.
    pub fn passkeys(&self, credential: &str) -> impl Iterator<Item = &PersonKey> {
        let all = self.people.iter().flat_map(|it| &it.keys);
        all.filter(move |it| it.credential.as_deref() == Some(credential))
    }

    fn find(&self, id: &str) -> Option<(&str, &PersonKey)> {
        let mut all =
            self.people.iter().flat_map(|it| it.keys.iter().map(|key| (it.name.as_str(), key)));
        all.find(|(_, key)| key.id == id)
    }
}

impl SignerDirectory for KnownSigners {
    fn verify(&self, person: &str, signed: &SignedAnswer) -> Option<Proof> {
        let (owner, proof) = self.signer(&signed.key, &signed.statement, &signed.signature)?;
        (owner == person).then_some(proof)
    }

    fn groups(&self, person: &str) -> Vec<String> {
        let found = self.people.iter().find(|it| it.name == person);
        found.map(|it| it.groups.clone()).unwrap_or_default()
    }
}
