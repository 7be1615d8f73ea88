//! What pages of ours are made of and guarded by, for the servers of other pages: one code, one set of rules.

use crate::{
    people::{KeyKind, PersonKey},
    proof::{check_new, verify},
};

pub use crate::{
    page::{Html, ICON, PAGE_SCRIPT, STYLE, ago, document_head, plain, span, text_lines},
    proof::Registration,
    server::{Buckets, Guard, Refusal, protect},
};

/// A key that a browser has just made, and what shows that it is there.
#[derive(Debug, Clone)]
pub enum NewKey {
    /// Of an authenticator, made over the digest of a text.
    Passkey(Registration),
    /// Kept by the browser: its public part, and its signature over a text.
    Browser {
        /// The public part, in base64.
        public: String,
        /// The signature, in base64.
        signature: String,
    },
}

impl NewKey {
    /// The key, if it was made for exactly this text, on the page of this origin.
    pub fn check(self, text: &str, origin: &str, now: u64) -> Option<PersonKey> {
        match self {
            NewKey::Passkey(new) => {
                check_new(&new, text, origin).ok()?;
                let key = PersonKey::new(KeyKind::Passkey, new.public, String::new(), now);
                let (credential, origin) = (Some(new.credential), Some(origin.to_owned()));
                Some(PersonKey { credential, origin, ..key })
            }
            NewKey::Browser { public, signature } => {
                let key = PersonKey::new(KeyKind::Browser, public, String::new(), now);
                let holds = key.is_well_formed() && verify(&key, text, &signature).is_ok();
                holds.then_some(key)
            }
        }
    }
}
