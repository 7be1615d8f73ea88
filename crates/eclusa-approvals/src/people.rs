//! Who may answer, and with which keys: a file that only its owner reads and writes.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use eclusa::{Durability, Hash, approve::Proof, workspace::private_file};
use serde::{Deserialize, Serialize};

mod links;

use links::PendingLink;

/// What sort of key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// A P-256 key that a browser keeps and does not give away.
    Browser,
    /// An Ed25519 key in a file.
    File,
    /// A P-256 key of an authenticator, which verifies its person before it signs.
    Passkey,
}

impl KeyKind {
    /// The word for it in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyKind::Browser => "browser",
            KeyKind::File => "file",
            KeyKind::Passkey => "passkey",
        }
    }

    /// What a signature of such a key proves.
    pub fn proof(self) -> Proof {
        match self {
            KeyKind::Browser | KeyKind::File => Proof::Key,
            KeyKind::Passkey => Proof::Passkey,
        }
    }
}

/// A key of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonKey {
    /// Its name: the first digits of the digest of its public part.
    pub id: String,
    /// What sort of key it is.
    pub kind: KeyKind,
    /// The public part, in base64.
    pub public: String,
    /// What its owner calls it: a browser, a machine.
    pub label: String,
    /// When it was added, in milliseconds since 1970.
    pub added: u64,
    /// When it was taken away again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<u64>,
    /// What the authenticator calls a passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The page that a passkey is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl PersonKey {
    /// A key that counts from now on.
    pub fn new(kind: KeyKind, public: String, label: String, added: u64) -> PersonKey {
        let digest = Hash::sha256(public.as_bytes()).to_string();
        let id = digest.chars().take(16).collect();
        let (revoked, credential, origin) = (None, None, None);
        PersonKey { id, kind, public, label, added, revoked, credential, origin }
    }

    /// Whether the public part can be that of such a key.
    pub fn is_well_formed(&self) -> bool {
        let bytes = STANDARD.decode(&self.public).unwrap_or_default();
        match self.kind {
            KeyKind::Browser | KeyKind::Passkey => bytes.len() == 65 && bytes.first() == Some(&4),
            KeyKind::File => bytes.len() == 32,
        }
    }
}

/// Somebody who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The name in records.
    pub name: String,
    /// The groups that rules may name in place of people.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The keys.
    #[serde(default)]
    pub keys: Vec<PersonKey>,
}

/// Why the people cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The file.
    #[error("cannot use `{}`: {err}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        err: io::Error,
    },
    /// It is not what it should be.
    #[error(
        "`{}` is not a list of people ({why}); restore it, or move it away and add them again",
        path.display()
    )]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// There is no such key, and nobody of that name.
    #[error("there is no key or person `{0}`")]
    UnknownKey(String),
    /// Somebody else has it, or it was removed.
    #[error("the key `{0}` is somebody else's, or was removed; make another one")]
    KeyTaken(String),
}

/// The people who may answer, in a file. Read anew each time: another process may change it.
#[derive(Debug)]
pub struct People {
    path: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct PeopleFile {
    version: u8,
    people: Vec<Person>,
    /// Links that were made for somebody and not used yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<PendingLink>,
}

impl People {
    /// The people in this file. It is made when the first is added.
    pub fn new(path: PathBuf) -> People {
        People { path }
    }

    /// All of them.
    pub fn all(&self) -> Result<Vec<Person>, PeopleError> {
        self.read().map(|it| it.people)
    }

    /// A key that counts, and whose it is.
    pub fn key(&self, id: &str) -> Result<Option<(String, PersonKey)>, PeopleError> {
        let people = self.read()?.people;
        let all = people.into_iter().flat_map(|it| {
            let name = it.name;
            it.keys.into_iter().map(move |key| (name.clone(), key))
        });
        let mut counts = all.filter(|(_, key)| key.revoked.is_none());
        Ok(counts.find(|(_, key)| key.id == id))
    }

    /// The passkeys of a person that count.
    pub fn passkeys(&self, person: &str) -> Result<Vec<PersonKey>, PeopleError> {
        let people = self.read()?.people;
        let own = people.into_iter().filter(|it| it.name == person).flat_map(|it| it.keys);
        Ok(own.filter(|it| it.kind == KeyKind::Passkey && it.revoked.is_none()).collect())
    }

    /// Whether this key was registered once and taken away again.
    pub fn is_removed(&self, id: &str) -> Result<bool, PeopleError> {
        let people = self.read()?.people;
        let mut keys = people.iter().flat_map(|it| &it.keys);
        Ok(keys.any(|it| it.id == id && it.revoked.is_some()))
    }

    /// Adds a key of a person, who need not be known yet. A key that is there already stays as it
    /// is; one of somebody else, or one that was removed, is refused.
    pub fn add(&self, person: &str, key: PersonKey) -> Result<(), PeopleError> {
        let _writing = self.lock()?;
        let mut file = self.read()?;
        let mut keys = file.people.iter().flat_map(|it| it.keys.iter().map(|key| (&it.name, key)));
        if let Some((name, known)) = keys.find(|(_, it)| it.id == key.id) {
            return if name == person && known.revoked.is_none() {
                Ok(())
            } else {
                Err(PeopleError::KeyTaken(key.id))
            };
        }
        let known = file.people.iter().position(|it| it.name == person);
        match known.and_then(|at| file.people.get_mut(at)) {
            Some(person) => person.keys.push(key),
            None => {
                let (name, groups) = (person.to_owned(), Vec::new());
                file.people.push(Person { name, groups, keys: vec![key] });
            }
        }
        self.write(&mut file)
    }

    /// Adds a person, who may be known already, and groups of theirs.
    pub fn add_groups(&self, person: &str, groups: &[String]) -> Result<(), PeopleError> {
        let _writing = self.lock()?;
        let mut file = self.read()?;
        if !file.people.iter().any(|it| it.name == person) {
            let (name, groups) = (person.to_owned(), Vec::new());
            file.people.push(Person { name, groups, keys: Vec::new() });
        }
        for known in file.people.iter_mut().filter(|it| it.name == person) {
            known.groups.extend(groups.iter().cloned());
            known.groups.sort();
            known.groups.dedup();
        }
        self.write(&mut file)
    }

    /// Takes a key away, or a person with all keys, groups and links: what those keys sign does not
    /// count any more, also where it was signed before. Says whose keys, and how many.
    pub fn remove(&self, name: &str, now: u64) -> Result<(String, String), PeopleError> {
        let _writing = self.lock()?;
        let mut file = self.read()?;
        let mut removed = None;
        for person in &mut file.people {
            let whole = person.name == name;
            if whole {
                person.groups.clear();
                removed = Some((person.name.clone(), "all keys and groups".to_owned()));
            }
            let counts = |it: &&mut PersonKey| it.revoked.is_none() && (whole || it.id == name);
            for key in person.keys.iter_mut().filter(counts) {
                key.revoked = Some(now);
                removed.get_or_insert_with(|| (person.name.clone(), format!("key {name}")));
            }
        }
        let removed = removed.ok_or_else(|| PeopleError::UnknownKey(name.to_owned()))?;
        file.links.retain(|it| it.person != name);
        self.write(&mut file)?;
        Ok(removed)
    }

    fn read(&self) -> Result<PeopleFile, PeopleError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(PeopleFile::default()),
            Err(err) => return Err(PeopleError::File { path: self.path.clone(), err }),
        };
        serde_json::from_str(&text).map_err(|err| PeopleError::Unreadable {
            path: self.path.clone(),
            why: err.to_string(),
        })
    }

    /// The whole file in place of the old one, or the old one.
    fn write(&self, file: &mut PeopleFile) -> Result<(), PeopleError> {
        file.version = 1;
        let failed = |err: io::Error| PeopleError::File { path: self.path.clone(), err };
        let text = serde_json::to_string_pretty(file).map_err(io::Error::other).map_err(failed)?;
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        private_file::write(&self.path, text, Durability::PowerLoss).map_err(failed)
    }

    /// Nobody else, in this process or another, changes the file while this is kept.
    fn lock(&self) -> Result<File, PeopleError> {
        let failed = |err: io::Error| PeopleError::File { path: self.path.clone(), err };
        let file = private_file::open_lock(&self.path.with_extension("lock")).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }
}
