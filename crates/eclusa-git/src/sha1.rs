//! SHA-1, which git names contents by. Good for recognising what git has already, and for nothing
//! that somebody might want to forge.

/// The name that git gives to a file with this content.
#[must_use]
pub fn blob_id(content: &[u8]) -> [u8; 20] {
    let mut bytes = format!("blob {}\0", content.len()).into_bytes();
    bytes.extend_from_slice(content);
    sha1(&bytes)
}

/// SHA-1 of some bytes (FIPS 180-4, 6.1).
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    let mut blocks = bytes.chunks_exact(64);
    blocks.by_ref().for_each(|block| compress(&mut state, block));
    let mut last = blocks.remainder().to_vec();
    last.push(0x80);
    while last.len() % 64 != 56 {
        last.push(0);
    }
    last.extend_from_slice(&((bytes.len() as u64).wrapping_mul(8)).to_be_bytes());
    last.chunks_exact(64).for_each(|block| compress(&mut state, block));
    let mut id = [0; 20];
    for (place, word) in id.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    id
}

fn compress(state: &mut [u32; 5], block: &[u8]) {
    let mut words: Vec<u32> = block
        .chunks_exact(4)
        .map(|it| it.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        .collect();
    for at in 16..80 {
        let word = |back: usize| words.get(at - back).copied().unwrap_or_default();
        words.push((word(3) ^ word(8) ^ word(14) ^ word(16)).rotate_left(1));
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.into_iter().enumerate() {
        let (mix, constant) = match at {
            0..20 => ((b & c) | (!b & d), 0x5A82_7999),
            20..40 => (b ^ c ^ d, 0x6ED9_EBA1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
            _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mix)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(part);
    }
}

#[cfg(test)]
mod tests;
