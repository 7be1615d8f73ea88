//! The first look at a text: could any keyword be in it?
//!
//! Every keyword leaves one of its triples of bytes, the one that is rarest in ordinary text, in
//! a table of bits that fits into the nearest cache. A text none of whose triples is there has no
//! keyword. It is wrong at times to the safe side, and several times quicker than looking for the
//! keywords themselves.

/// Words of 64 bits in the table.
const WORDS: usize = 1024;
/// How many triples are looked at between two questions whether one was found.
const STRIDE: usize = 64;

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
                    let (word, bit) = place(triple);
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
        let held = |triple: &[u8]| {
            let (word, bit) = place(triple);
            self.bits.get(word).map_or(1, |bits| bits >> bit & 1)
        };
        self.holds_all
            || (0..bytes.len().saturating_sub(2)).step_by(STRIDE).any(|at| {
                let end = bytes.len().min(at + STRIDE + 2);
                let stride = bytes.get(at..end).unwrap_or_default();
                stride.windows(3).fold(0, |any, triple| any | held(triple)) != 0
            })
    }
}

/// Where a triple has its bit. Upper and lower case have the same.
fn place(triple: &[u8]) -> (usize, u32) {
    let &[a, b, c] = triple else { return (0, 0) };
    let number = u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0]);
    let hash = number.wrapping_mul(0x9E37_79B1) >> 16;
    ((hash >> 6) as usize, hash & 63)
}

/// How common a byte is in ordinary text.
fn commonness(byte: u8) -> usize {
    const COMMON_LAST: &[u8] = b"zqxjkvbpygfwmucldrhsnioate ";
    COMMON_LAST.iter().position(|it| *it == byte.to_ascii_lowercase()).map_or(0, |at| at + 1)
}
