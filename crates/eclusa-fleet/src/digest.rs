//! SHA-256 of a payload, as documents, codes and configuration write it.

use std::{fmt, str::FromStr};

use ring::digest::{SHA256, digest};

use crate::FleetError;

/// A SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn compute(bytes: &[u8]) -> Digest {
        let mut whole = [0; 32];
        whole.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Digest(whole)
    }

    /// Its first four bytes.
    pub(crate) fn short(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.0;
        [a, b, c, d]
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|it| write!(f, "{it:02x}"))
    }
}

impl FromStr for Digest {
    type Err = FleetError;

    /// Reads 64 hexadecimal digits in lower case, with or without `sha256:` before them.
    fn from_str(text: &str) -> Result<Digest, FleetError> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        let wrong =
            || FleetError::Malformed(format!("`{}` is not a SHA-256 digest", text.escape_debug()));
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = digits.get(at * 2..at * 2 + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        let read = Digest(bytes);
        if read.to_string() == digits { Ok(read) } else { Err(wrong()) }
    }
}
