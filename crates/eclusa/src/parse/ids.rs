//! Ids for calls to which the model gave none.

use std::hash::{BuildHasher, Hasher, RandomState};

/// What every made id begins with.
const PREFIX: &str = "made_";

/// Digits of the random part.
const RANDOM: usize = 16;

/// Makes ids that are unlike each other, those of every other maker, and anything that the model
/// can have written: each maker draws 64 random bits, and counts.
#[derive(Debug, Clone)]
pub(crate) struct IdGenerator {
    random: u64,
    count: u64,
}

impl Default for IdGenerator {
    fn default() -> IdGenerator {
        // The standard library's hasher is keyed at random, which is all that is needed here.
        IdGenerator { random: RandomState::new().build_hasher().finish(), count: 0 }
    }
}

impl IdGenerator {
    /// A new id, of letters, digits and `_` only: every model API accepts those.
    pub(crate) fn next(&mut self) -> String {
        self.count += 1;
        format!("{PREFIX}{:016x}_{}", self.random, self.count)
    }

    /// The model's id, or a new one if it gave none.
    pub(crate) fn or_next(&mut self, id: Option<&str>) -> String {
        match id {
            Some(id) if !id.is_empty() => id.to_owned(),
            _ => self.next(),
        }
    }
}

/// True for an id that was made here because the model gave none. A wire on which ids are
/// optional gets its answer without it.
pub fn was_made(id: &str) -> bool {
    let Some((random, count)) = id.strip_prefix(PREFIX).and_then(|it| it.split_once('_')) else {
        return false;
    };
    random.len() == RANDOM
        && random.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        && !count.is_empty()
        && count.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests;
