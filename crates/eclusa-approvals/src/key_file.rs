//! A person's key in a file: whoever can read the file answers as that person.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use eclusa::{Durability, workspace::private_file};
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair as _},
};

use crate::people::{KeyKind, PeopleError, PersonKey};

/// What the file begins with, so that nobody takes another for it.
const HEADLINE: &str = "eclusa-key-v1 ";

/// An Ed25519 key.
pub struct KeyFile {
    pair: Ed25519KeyPair,
}

impl KeyFile {
    /// Makes a new key, in a file that is not there yet and that only its owner reads.
    pub fn create(path: &Path) -> Result<KeyFile, PeopleError> {
        let failed = |err: io::Error| PeopleError::File { path: path.to_owned(), err };
        let broken = || failed(io::Error::other("no key could be made"));
        let private = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| broken())?;
        let pair = Ed25519KeyPair::from_pkcs8(private.as_ref()).map_err(|_| broken())?;
        let text = format!("{HEADLINE}{}\n", STANDARD.encode(private.as_ref()));
        private_file::create(path, text, Durability::PowerLoss).map_err(failed)?;
        Ok(KeyFile { pair })
    }

    /// The key in this file.
    pub fn open(path: &Path) -> Result<KeyFile, PeopleError> {
        let failed = |err: io::Error| PeopleError::File { path: path.to_owned(), err };
        let text = read(path).map_err(failed)?;
        let unreadable = || failed(io::Error::other("it holds no key of a person"));
        let private = text.trim().strip_prefix(HEADLINE).and_then(|it| STANDARD.decode(it).ok());
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&private.ok_or_else(unreadable)?);
        Ok(KeyFile { pair: pair.map_err(|_| unreadable())? })
    }

    /// Its public part, to be registered for a person.
    pub fn public(&self, label: String, now: u64) -> PersonKey {
        let public = STANDARD.encode(self.pair.public_key().as_ref());
        PersonKey::new(KeyKind::File, public, label, now)
    }

    /// Signs a text, in base64.
    pub fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.pair.sign(text.as_bytes()))
    }
}

/// The text of a plain file that is no larger than a key: nothing else is waited for or read whole.
fn read(path: &Path) -> io::Result<String> {
    const MAX_BYTES: u64 = 16 << 10;
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
