//! Random bytes and names that nobody can guess, from the system: for links, tickets, tokens and keys.

use std::io;

/// The system gave no random bytes; whatever needs them must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes: {0}")]
pub struct RandomnessError(getrandom::Error);

impl From<RandomnessError> for io::Error {
    fn from(err: RandomnessError) -> io::Error {
        io::Error::other(err)
    }
}

/// Random bytes.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(RandomnessError)?;
    Ok(bytes)
}

/// A name made of `N` random bytes, in hexadecimal digits.
pub fn random_name<const N: usize>() -> Result<String, RandomnessError> {
    Ok(random_bytes::<N>()?.iter().map(|it| format!("{it:02x}")).collect())
}

#[cfg(test)]
mod tests;
