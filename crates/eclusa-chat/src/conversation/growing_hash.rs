//! The hash of requests that begin like the one before: only what is new is hashed.

use eclusa::{Hash, workspace::HashBuilder};

/// Requests are compared in pieces of this length.
const PIECE: usize = 256;

/// Hashes requests, one after the other.
#[derive(Default)]
pub(super) struct GrowingHash {
    /// The request before.
    last: Vec<u8>,
    /// The hash of its first bytes, and how many they are.
    begun: (HashBuilder, usize),
}

impl GrowingHash {
    /// The hash of these bytes.
    pub(super) fn sha256(&mut self, bytes: &[u8]) -> Hash {
        let pieces = self.last.chunks_exact(PIECE).zip(bytes.chunks_exact(PIECE));
        let same = PIECE * pieces.take_while(|(before, now)| before == now).count();
        if self.begun.1 > same {
            self.begun = Default::default();
        }
        let (hash, begun) = &mut self.begun;
        hash.add(bytes.get(*begun..same).unwrap_or_default());
        *begun = same;
        let mut whole = hash.clone();
        whole.add(bytes.get(same..).unwrap_or_default());
        self.last.clear();
        self.last.extend_from_slice(bytes);
        whole.finish()
    }
}

#[cfg(test)]
mod tests;
