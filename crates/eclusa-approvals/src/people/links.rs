//! Links that let somebody pair a browser: made on the command line, used once at the page. Only their
//! digests are kept.

use eclusa::{Hash, random::random_name};
use serde::{Deserialize, Serialize};

use super::{People, PeopleError};

/// So many random bytes has a link.
const CODE_BYTES: usize = 24;

/// So many may wait to be used; the oldest go.
const MAX_LINKS: usize = 20;

/// A link that was not used yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingLink {
    /// Whom it lets in.
    pub(super) person: String,
    /// The digest of its code.
    sha256: String,
    /// When it is too late, in milliseconds since 1970.
    until: u64,
}

impl People {
    /// The code of a link that lets this person in, once, from now until then (in milliseconds since
    /// 1970).
    pub fn add_link(&self, person: &str, now: u64, until: u64) -> Result<String, PeopleError> {
        let _writing = self.lock()?;
        let mut file = self.read()?;
        let failed = |err| PeopleError::File { path: self.path.clone(), err };
        let code = random_name::<CODE_BYTES>().map_err(|err| failed(err.into()))?;
        file.links.retain(|it| it.until > now);
        let kept = file.links.len().min(MAX_LINKS - 1);
        file.links.drain(..file.links.len() - kept);
        let (person, sha256) = (person.to_owned(), Hash::sha256(code.as_bytes()).to_string());
        file.links.push(PendingLink { person, sha256, until });
        self.write(&mut file)?;
        Ok(code)
    }

    /// Whose link has this code, if it is not too late. It works once.
    pub fn redeem_link(&self, code: &str, now: u64) -> Result<Option<String>, PeopleError> {
        let _writing = self.lock()?;
        let mut file = self.read()?;
        let sha256 = Hash::sha256(code.as_bytes()).to_string();
        let Some(at) = file.links.iter().position(|it| it.sha256 == sha256) else {
            return Ok(None);
        };
        let link = file.links.remove(at);
        self.write(&mut file)?;
        Ok((link.until > now).then_some(link.person))
    }
}

#[cfg(test)]
mod tests;
