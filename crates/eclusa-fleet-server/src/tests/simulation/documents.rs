//! Keys of people and signed documents, made once: making keys is what takes long.

use std::{collections::BTreeMap, sync::OnceLock};

use eclusa::{Answer, approve::Statement};
use eclusa_approvals::{KeyFile, KnownSigners};
use eclusa_fleet::{
    Author, DocumentBundle, FleetAnchor, FleetKey, FleetPerson, Membership, PeoplePayload,
    PolicyPayload, RoleKeys, SigningKey, SigningRole, mirror::CarriedAnswer,
};

/// When the simulation begins.
pub(super) const START: u64 = 1_800_000_000_000;

/// How many versions of the policy there are.
pub(super) const VERSIONS: usize = 6;

/// Who may answer; the last one is in no document.
pub(super) const PEOPLE: [&str; 4] = ["ana", "bo", "eve", "mallory"];

pub(super) struct SignedDocuments {
    pub(super) anchor: FleetAnchor,
    /// The bundles as they were published, one for each version of the policy.
    pub(super) bundles: Vec<DocumentBundle>,
    pub(super) signers: KnownSigners,
    keys: BTreeMap<&'static str, KeyFile>,
}

pub(super) fn documents() -> &'static SignedDocuments {
    static DOCUMENTS: OnceLock<SignedDocuments> = OnceLock::new();
    DOCUMENTS.get_or_init(make)
}

fn make() -> SignedDocuments {
    let dir = tempfile::tempdir().unwrap();
    let key = |name: &'static str| (name, KeyFile::create(&dir.path().join(name)).unwrap());
    let keys: BTreeMap<&str, KeyFile> = PEOPLE.into_iter().map(key).collect();
    let known = PEOPLE.iter().take(3).map(|name| {
        let key = keys[name].public(String::new(), 0);
        let key = FleetKey {
            kind: "file".to_owned(),
            public: key.public,
            credential: None,
            origin: None,
        };
        FleetPerson { name: (*name).to_owned(), groups: Vec::new(), keys: vec![key] }
    });
    let people = PeoplePayload { people: known.collect() };
    let (mut roles, mut signing) = (BTreeMap::new(), Vec::new());
    for role in SigningRole::ALL {
        let key = SigningKey::generate(&format!("acme-{role}")).unwrap();
        roles.insert(role, RoleKeys { keys: vec![key.public().clone()], need: 1 });
        signing.push(key);
    }
    let (far, address) = (START + 1_000 * 86_400_000, ["https://fleet.example/d".to_owned()]);
    let mut author = Author::begin("acme", &address, &roles, far, &signing).unwrap();
    author.people(&people, far, &signing).unwrap();
    let mut bundles = Vec::new();
    for version in 1..=VERSIONS {
        let files = BTreeMap::from([("all.toml".to_owned(), format!("# {version}\n"))]);
        let policy = PolicyPayload { files, ..PolicyPayload::default() };
        author.policy(&policy, far, &signing).unwrap();
        bundles.push(DocumentBundle::parse(&author.bundle().to_text()).unwrap());
    }
    let root = author.root();
    let anchor = FleetAnchor { name: root.name.clone(), root: root.digest, from: None };
    let signers = KnownSigners::parse(&people.to_text()).unwrap();
    SignedDocuments { anchor, bundles, signers, keys }
}

/// The first documents of a machine.
pub(super) fn enrolled() -> Membership {
    let it = documents();
    let at = (START, "0.4.0");
    Membership::begin(it.bundles[0].clone(), None, &it.anchor, at, |_, _| Ok(())).unwrap()
}

/// What somebody signs: a yes to a question, under a binding, of a store.
pub(super) fn signed_yes(
    signer: &str,
    (store, question, binding): (&str, u64, &str),
    expires: u64,
) -> CarriedAnswer {
    let (answer, questions) = (Answer::Once, [question]);
    let said = Statement {
        queue: store,
        questions: &questions,
        binding,
        answer: &answer,
        person: signer,
        expires,
    };
    let (statement, key) = (said.text(), &documents().keys[signer]);
    CarriedAnswer {
        store: store.to_owned(),
        question,
        conversation: String::new(),
        answer: "once".to_owned(),
        reason: String::new(),
        person: signer.to_owned(),
        expires,
        key: key.public(String::new(), 0).id,
        signature: key.sign(&statement),
        statement,
    }
}
