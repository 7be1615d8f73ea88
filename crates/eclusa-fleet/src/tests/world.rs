//! A fleet of a test: its keys, what it has published, and a machine.

use std::collections::BTreeMap;

use crate::{
    Author, Digest, DocumentBundle, FleetAnchor, FleetError, Invite, Membership, PolicyPayload,
    RoleKeys, SigningKey, SigningRole, TakenDocuments,
};

/// The time of the tests.
pub(crate) const NOW: u64 = 1_800_000_000_000;
pub(crate) const DAY: u64 = 86_400_000;

pub(crate) struct Fleet {
    pub(crate) author: Author,
    pub(crate) keys: Vec<SigningKey>,
}

impl Fleet {
    /// A fleet in which so many keys of each role must sign; there is one more of each.
    pub(crate) fn new(name: &str, need: usize) -> Fleet {
        let mut roles = BTreeMap::new();
        let mut keys = Vec::new();
        for role in SigningRole::ALL {
            let made: Vec<SigningKey> = (0..=need)
                .map(|it| SigningKey::generate(&format!("{name}-{role}-{it}")).unwrap())
                .collect();
            let public = made.iter().map(|it| it.public().clone()).collect();
            roles.insert(role, RoleKeys { keys: public, need });
            keys.extend(made);
        }
        let addresses = ["https://fleet.example/documents.json".to_owned()];
        let author = Author::begin(name, &addresses, &roles, NOW + 1_000 * DAY, &keys).unwrap();
        Fleet { author, keys }
    }

    pub(crate) fn key(&self, name: &str) -> &SigningKey {
        self.keys.iter().find(|it| it.public().name() == name).unwrap()
    }

    /// Those keys alone.
    pub(crate) fn only(&self, names: &[&str]) -> Vec<SigningKey> {
        names.iter().map(|it| self.key(it).private_text().parse().unwrap()).collect()
    }

    /// Publishes this as `all.toml`.
    pub(crate) fn push(&mut self, text: &str) -> u64 {
        self.push_until(text, NOW + 14 * DAY)
    }

    pub(crate) fn push_until(&mut self, text: &str, expires: u64) -> u64 {
        self.author.policy(&policy(text), expires, &self.keys).unwrap()
    }

    pub(crate) fn published(&self) -> DocumentBundle {
        DocumentBundle::parse(&self.author.bundle().to_text()).unwrap()
    }

    pub(crate) fn anchor(&self) -> FleetAnchor {
        let root = self.author.root();
        FleetAnchor { name: root.name.clone(), root: root.digest, from: None }
    }

    pub(crate) fn invite(&self, labels: &[(&str, &str)]) -> crate::SignedDocument {
        let labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let secret = Digest::compute(b"secret");
        let invite = Invite { id: "1".into(), labels, ephemeral: false, uses: 1, secret };
        self.author.invite(&invite, NOW + DAY, &self.keys).unwrap()
    }

    pub(crate) fn machine(&self) -> Membership {
        begin(self.published(), &self.anchor()).unwrap()
    }
}

pub(crate) fn policy(text: &str) -> PolicyPayload {
    let files = BTreeMap::from([("all.toml".to_owned(), text.to_owned())]);
    PolicyPayload { files, ..PolicyPayload::default() }
}

pub(crate) fn begin(
    offered: DocumentBundle,
    anchor: &FleetAnchor,
) -> Result<Membership, FleetError> {
    Membership::begin(offered, None, anchor, (NOW, "0.4.0"), |_, _| Ok(()))
}

pub(crate) fn take(
    machine: &Membership,
    offered: DocumentBundle,
    anchor: &FleetAnchor,
) -> Result<(Membership, TakenDocuments), FleetError> {
    machine.take(offered, anchor, (NOW, "0.4.0"), |_, _| Ok(()))
}
