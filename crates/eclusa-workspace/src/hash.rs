//! A SHA-256 hash, and the one place that computes it.
//!
//! With the feature `ring` it is computed by that library, which is twice as quick on processors without
//! instructions for it; whoever speaks TLS has it anyway. The hashes are the same.

use std::fmt;

/// A SHA-256 hash, shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of these bytes.
    pub fn sha256(bytes: &[u8]) -> Hash {
        let mut hash = HashBuilder::default();
        hash.add(bytes);
        hash.finish()
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hexadecimal digits, in a buffer of their own: no allocation.
    pub fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
        let mut hex = [0; 64];
        for (pair, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        hex
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Hash> {
        let digits = text.as_bytes();
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return None;
        }
        let nibble =
            |digit: u8| char::from(digit).to_digit(16).and_then(|it| u8::try_from(it).ok());
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Some(Hash(bytes))
    }
}

/// The hash of bytes that come one after the other.
#[derive(Clone)]
pub struct HashBuilder(Sha256);

#[cfg(not(feature = "ring"))]
type Sha256 = sha2::Sha256;

#[cfg(feature = "ring")]
type Sha256 = ring::digest::Context;

#[cfg(not(feature = "ring"))]
impl HashBuilder {
    /// Adds these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.0, bytes);
    }

    /// The hash of all of them.
    pub fn finish(self) -> Hash {
        Hash(sha2::Digest::finalize(self.0).into())
    }
}

#[cfg(feature = "ring")]
impl HashBuilder {
    /// Adds these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them.
    pub fn finish(self) -> Hash {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.finish().as_ref());
        Hash(bytes)
    }
}

impl Default for HashBuilder {
    fn default() -> HashBuilder {
        #[cfg(not(feature = "ring"))]
        let empty = sha2::Digest::new();
        #[cfg(feature = "ring")]
        let empty = Sha256::new(&ring::digest::SHA256);
        HashBuilder(empty)
    }
}

impl fmt::Debug for HashBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashBuilder").finish_non_exhaustive()
    }
}

impl From<[u8; 32]> for Hash {
    fn from(bytes: [u8; 32]) -> Hash {
        Hash(bytes)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
