//! A link as a QR code of blocks, for the camera of a phone: bytes, error correction L, versions 1 to 6.

use super::Paint;

/// For each version: data bytes and bytes of error correction in a block, and how many blocks.
const VERSIONS: [(usize, usize, usize); 6] =
    [(19, 7, 1), (34, 10, 1), (55, 15, 1), (80, 20, 1), (108, 26, 1), (68, 18, 2)];

/// The bits that say "error correction L, mask 0".
const FORMAT: u32 = 0x77c4;

/// Light around the code, in modules.
const QUIET: usize = 2;

/// The code of a text, in lines for a terminal with colours; nothing where there are none, or the text is too long.
pub fn lines(text: &str, paint: Paint) -> Option<Vec<String>> {
    let modules = if paint.0 { Modules::of(text.as_bytes())? } else { return None };
    let side = modules.size + 2 * QUIET;
    let is_dark = |x: usize, y: usize| {
        let inside = x.checked_sub(QUIET).zip(y.checked_sub(QUIET));
        inside.is_some_and(|(x, y)| modules.is_dark(x, y))
    };
    let row = |y: usize| -> String {
        let block = |x: usize| match (is_dark(x, y), is_dark(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        let blocks: String = (0..side).map(block).collect();
        format!("\x1b[30;107m{blocks}\x1b[0m")
    };
    Some((0..side).step_by(2).map(row).collect())
}

/// The squares of a code.
struct Modules {
    size: usize,
    dark: Vec<bool>,
    /// Those that hold no data.
    fixed: Vec<bool>,
}

impl Modules {
    fn of(text: &[u8]) -> Option<Modules> {
        let fits = |it: &(usize, usize, usize)| text.len() + 2 <= it.0 * it.2;
        let (at, &(data, correction, blocks)) =
            VERSIONS.iter().enumerate().find(|it| fits(it.1))?;
        let size = 21 + 4 * at;
        let mut modules =
            Modules { size, dark: vec![false; size * size], fixed: vec![false; size * size] };
        modules.patterns(at > 0);
        modules.format();
        modules.fill(&codewords(text, data, correction, blocks));
        Some(modules)
    }

    fn is_dark(&self, x: usize, y: usize) -> bool {
        x < self.size && y < self.size && self.dark.get(y * self.size + x) == Some(&true)
    }

    fn fix(&mut self, x: usize, y: usize, dark: bool) {
        let at = y * self.size + x;
        if let (true, Some(module), Some(fixed)) =
            (x < self.size, self.dark.get_mut(at), self.fixed.get_mut(at))
        {
            (*module, *fixed) = (dark, true);
        }
    }

    /// What a camera finds the code by.
    fn patterns(&mut self, has_alignment: bool) {
        let last = self.size - 1;
        for at in 0..self.size {
            self.fix(6, at, at % 2 == 0);
            self.fix(at, 6, at % 2 == 0);
        }
        for (x, y) in [(3, 3), (last - 3, 3), (3, last - 3)] {
            for (dx, dy) in square(4) {
                let distance = dx.abs().max(dy.abs());
                let place = x.checked_add_signed(dx).zip(y.checked_add_signed(dy));
                if let Some((x, y)) = place {
                    self.fix(x, y, distance != 2 && distance != 4);
                }
            }
        }
        let centre = self.size - 7;
        for (dx, dy) in square(2).filter(|_| has_alignment) {
            let place = centre.checked_add_signed(dx).zip(centre.checked_add_signed(dy));
            if let Some((x, y)) = place {
                self.fix(x, y, dx.abs().max(dy.abs()) != 1);
            }
        }
    }

    fn format(&mut self) {
        let bit = |at: usize| (FORMAT >> at) & 1 == 1;
        let size = self.size;
        for at in 0..15 {
            let (x, y) = match at {
                0..=5 => (8, at),
                6 => (8, 7),
                7 => (8, 8),
                8 => (7, 8),
                _ => (14 - at, 8),
            };
            self.fix(x, y, bit(at));
            let (x, y) = if at < 8 { (size - 1 - at, 8) } else { (8, size - 15 + at) };
            self.fix(x, y, bit(at));
        }
        self.fix(8, size - 8, true);
    }

    /// The bits in columns of two, from the right, up and down in turn, under mask 0.
    fn fill(&mut self, bytes: &[u8]) {
        let mut bits = bytes.iter().flat_map(|it| (0..8).rev().map(move |at| (it >> at) & 1 == 1));
        let columns = (1..self.size).rev().step_by(2).map(|it| if it <= 6 { it - 1 } else { it });
        for (turn, right) in columns.enumerate() {
            for step in 0..self.size {
                let y = if turn % 2 == 0 { self.size - 1 - step } else { step };
                for x in [right, right.saturating_sub(1)] {
                    let at = y * self.size + x;
                    if self.fixed.get(at) == Some(&false)
                        && let Some(module) = self.dark.get_mut(at)
                    {
                        *module = bits.next().unwrap_or(false) ^ ((x + y) % 2 == 0);
                    }
                }
            }
        }
    }
}

/// The places around a centre.
fn square(reach: isize) -> impl Iterator<Item = (isize, isize)> {
    (-reach..=reach).flat_map(move |dy| (-reach..=reach).map(move |dx| (dx, dy)))
}

/// The bytes of the code: mode, length, text and padding, then what corrects errors.
fn codewords(text: &[u8], data: usize, correction: usize, blocks: usize) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    let mut nibbles = vec![4, length >> 4, length & 15];
    nibbles.extend(text.iter().flat_map(|it| [it >> 4, it & 15]));
    nibbles.push(0);
    let mut all: Vec<u8> = nibbles
        .chunks(2)
        .map(|it| (it.first().copied().unwrap_or(0) << 4) | it.get(1).copied().unwrap_or(0))
        .collect();
    all.extend([0xec, 0x11].into_iter().cycle().take((data * blocks).saturating_sub(all.len())));
    let parts: Vec<&[u8]> = all.chunks(data).collect();
    let corrections: Vec<Vec<u8>> = parts.iter().map(|it| remainder(it, correction)).collect();
    let mut mixed = Vec::with_capacity(blocks * (data + correction));
    mixed.extend((0..data).flat_map(|at| parts.iter().filter_map(move |it| it.get(at).copied())));
    for at in 0..correction {
        mixed.extend(corrections.iter().filter_map(|it| it.get(at).copied()));
    }
    mixed
}

/// What is left of a division by the generator of Reed and Solomon.
fn remainder(data: &[u8], count: usize) -> Vec<u8> {
    let mut generator = vec![0; count];
    if let Some(last) = generator.last_mut() {
        *last = 1;
    }
    let mut root = 1;
    for _ in 0..count {
        let shifted: Vec<u8> = generator.iter().skip(1).copied().chain([0]).collect();
        generator =
            generator.iter().zip(shifted).map(|(it, next)| times(*it, root) ^ next).collect();
        root = times(root, 2);
    }
    let mut rest = vec![0; count];
    for byte in data {
        let factor = byte ^ rest.first().copied().unwrap_or(0);
        rest = rest.into_iter().skip(1).chain([0]).collect();
        for (it, by) in rest.iter_mut().zip(&generator) {
            *it ^= times(*by, factor);
        }
    }
    rest
}

/// Product in the field of 256.
fn times(one: u8, other: u8) -> u8 {
    (0..8).rev().fold(0u8, |product, at| {
        let carried = if product & 0x80 == 0 { 0 } else { 0x1d };
        (product << 1) ^ carried ^ if (other >> at) & 1 == 1 { one } else { 0 }
    })
}

#[cfg(test)]
mod tests;
