//! Whose signature an answer has, for the gate that runs the call.

use eclusa::approve::{Proof, SignedAnswer, SignerDirectory};

use crate::{people::People, proof::verify};

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
