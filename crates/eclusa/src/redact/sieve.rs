//! The first look at a text: could any keyword be in it?
//!
//! Every keyword leaves one of its triples of bytes, the one that is rarest in ordinary text, in
//! a table of bits that fits into the nearest cache. A text none of whose triples is there has no
//! keyword. It is wrong at times to the safe side, and several times quicker than looking for the
//! keywords themselves.

/// Words of 64 bits in the table.
const WORDS: usize = 1024;
/// How many triples are looked at between two questions whether one was found: whole words of six.
const STRIDE: usize = 66;

/// The triples of the keywords.
pub(super) struct Sieve {
    bits: Box<[u64; WORDS]>,
    /// Set when a keyword is too short to have a triple: then everything is held.
    holds_all: bool,
}

impl Sieve {
    pub(super) fn new<'a>(keywords: impl Iterator<Item = &'a String>) -> Sieve {
        let mut sieve = Sieve { bits: Box::new([0; WORDS]), holds_all: false };
        for keyword in keywords {
            let triples = keyword.as_bytes().windows(3);
            match triples
                .min_by_key(|triple| triple.iter().map(|byte| commonness(*byte)).sum::<usize>())
            {
                Some(triple) => {
                    let (word, bit) = place(number(triple));
                    if let Some(bits) = sieve.bits.get_mut(word) {
                        *bits |= 1 << bit;
                    }
                }
                None => sieve.holds_all = true,
            }
        }
        sieve
    }

    /// False when there is certainly no keyword in the text, in whatever case.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        self.holds_all
            || (0..bytes.len().saturating_sub(2)).step_by(STRIDE).any(|at| {
                let end = bytes.len().min(at + STRIDE + 2);
                self.is_held_in(bytes.get(at..end).unwrap_or_default())
            })
    }

    /// Whether any triple of these bytes is held: eight bytes at a time, in which six triples begin,
    /// and what is left one by one.
    fn is_held_in(&self, stride: &[u8]) -> bool {
        let words = stride.windows(8).step_by(6);
        let rest = stride.get(6 * words.len()..).unwrap_or_default();
        let in_words = words.fold(0, |any, word| any | self.held_in_word(word));
        rest.windows(3).fold(in_words, |any, triple| any | self.held(number(triple))) != 0
    }

    fn held_in_word(&self, word: &[u8]) -> u64 {
        let Ok(word) = <[u8; 8]>::try_from(word) else { return 1 };
        let word = u64::from_le_bytes(word) | 0x2020_2020_2020_2020;
        (0..6).fold(0, |any, at| any | self.held((word >> (8 * at)) as u32 & 0x00ff_ffff))
    }

    fn held(&self, number: u32) -> u64 {
        let (word, bit) = place(number);
        self.bits.get(word).map_or(1, |bits| bits >> bit & 1)
    }
}

/// A triple as a number. Upper and lower case have the same.
fn number(triple: &[u8]) -> u32 {
    let &[a, b, c] = triple else { return 0 };
    u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0])
}

/// Where a triple has its bit.
fn place(number: u32) -> (usize, u32) {
    let hash = number.wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize, hash & 63)
}

/// How common a byte is in ordinary text.
fn commonness(byte: u8) -> usize {
    const COMMON_LAST: &[u8] = b"zqxjkvbpygfwmucldrhsnioate ";
    COMMON_LAST.iter().position(|it| *it == byte.to_ascii_lowercase()).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests;
