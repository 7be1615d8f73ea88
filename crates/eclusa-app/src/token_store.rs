//! Tokens of servers, in a file that is of no use without another one.
//!
//! Each token lies encrypted in the state directory; the key lies beside the configuration. Both
//! are this user's alone. A copy of one of the two places tells nothing; whoever can read both as
//! this user can read the tokens, as with any program that has to log in by itself.

use std::{env, fs, io, os::unix::fs::MetadataExt as _, path::PathBuf};

use eclusa::random::random_bytes;
use eclusa_mcp::Credentials;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::{address_variable::header_in_variable, remember::replace};

/// How long a key is.
const KEY: usize = 32;
/// How long the number is that each encryption begins with.
const NONCE: usize = 12;

/// Where tokens are kept, and what they are encrypted with.
pub struct TokenStore {
    /// The directory of the tokens.
    pub tokens: PathBuf,
    /// The file of the key.
    pub key: PathBuf,
}

impl Credentials for TokenStore {
    fn variable(&self, name: &str) -> Option<String> {
        let value = env::var(name).ok().or_else(|| header_in_variable(name));
        value.filter(|it| !it.is_empty())
    }

    fn load(&self, server: &str) -> io::Result<Option<Vec<u8>>> {
        let sealed = match fs::read(self.token(server)) {
            Ok(sealed) if sealed.is_empty() => return Ok(None),
            Ok(sealed) => sealed,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err),
        };
        let spoilt = || {
            let file = self.token(server);
            let text = format!(
                "`{}` cannot be opened with the key in `{}`; log in again",
                file.display(),
                self.key.display()
            );
            io::Error::other(text)
        };
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or_else(spoilt)?;
        let key = self.key(false)?.ok_or_else(spoilt)?;
        let mut text = rest.to_vec();
        let (nonce, aad) = (Nonce::assume_unique_for_key(*nonce), Aad::from(server.as_bytes()));
        let opened = key.open_in_place(nonce, aad, &mut text).map_err(|_| spoilt())?;
        Ok(Some(opened.to_vec()))
    }

    fn keep(&self, server: &str, token: Option<&[u8]>) -> io::Result<()> {
        let file = self.token(server);
        let Some(token) = token else { return replace(&file, "") };
        let key = self.key(true)?.ok_or_else(|| io::Error::other("there is no key"))?;
        let mut sealed = token.to_vec();
        let aad = Aad::from(server.as_bytes());
        let number = random_bytes::<NONCE>()?;
        let nonce = Nonce::assume_unique_for_key(number);
        key.seal_in_place_append_tag(nonce, aad, &mut sealed).map_err(io::Error::other)?;
        let mut whole = number.to_vec();
        whole.extend(sealed);
        replace(&file, whole)
    }
}

impl TokenStore {
    fn token(&self, server: &str) -> PathBuf {
        self.tokens.join(format!("{server}.token"))
    }

    /// The key; a new one is made where there is none, if one is needed.
    fn key(&self, make: bool) -> io::Result<Option<LessSafeKey>> {
        let bytes = match fs::read(&self.key) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound && make => {
                let bytes = random_bytes::<KEY>()?;
                replace(&self.key, bytes)?;
                bytes.to_vec()
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err),
        };
        if fs::metadata(&self.key)?.mode() & 0o077 != 0 {
            let text = format!(
                "others can read the key in `{}`; take that right away (chmod 600), and log in again",
                self.key.display()
            );
            return Err(io::Error::other(text));
        }
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| {
            io::Error::other(format!("`{}` does not hold a key", self.key.display()))
        })?;
        Ok(Some(LessSafeKey::new(key)))
    }
}

#[cfg(test)]
mod tests;
