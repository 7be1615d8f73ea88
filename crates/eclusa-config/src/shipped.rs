//! The shipped configuration as every start reads it: without its comments and examples, which are
//! for people and for a test, and each line where it was.

/// The text, for people too.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");

/// The lines that are read, and an empty one for each of the others.
pub(crate) const SHIPPED: &str = match str::from_utf8(&SHORTENED) {
    Ok(text) => text,
    Err(_) => DEFAULTS,
};

/// They, and how many bytes they are.
const LINES: (usize, [u8; DEFAULTS.len()]) = shortened(DEFAULTS.as_bytes());

const SHORTENED: [u8; LINES.0] = {
    let mut bytes = [0; LINES.0];
    bytes.copy_from_slice(LINES.1.split_at(LINES.0).0);
    bytes
};

/// The text without comments and examples, and how long that is.
const fn shortened<const LENGTH: usize>(mut text: &[u8]) -> (usize, [u8; LENGTH]) {
    let (mut kept, mut bytes) = (0, [0; LENGTH]);
    let mut in_example = false;
    while let Some((line, rest)) = cut(text) {
        let example = in_example || begins(line, b"match = ") || begins(line, b"not_match = ");
        if example {
            in_example = if in_example { !begins(line, b"]") } else { ends_open(line) };
        } else if !begins(line, b"#") {
            let (_, to) = bytes.split_at_mut(kept);
            to.split_at_mut(line.len()).0.copy_from_slice(line);
            kept += line.len();
        }
        if let Some((newline, _)) = bytes.split_at_mut(kept).1.split_first_mut() {
            *newline = b'\n';
            kept += 1;
        }
        text = rest;
    }
    (kept, bytes)
}

/// The first line, and what is behind its end.
const fn cut(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut rest) = (0, text);
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == b'\n' {
            return Some((text.split_at(length).0, rest));
        }
        length += 1;
    }
    None
}

const fn begins(mut line: &[u8], mut with: &[u8]) -> bool {
    while let ([one, line_rest @ ..], [other, with_rest @ ..]) = (line, with) {
        if *one != *other {
            return false;
        }
        (line, with) = (line_rest, with_rest);
    }
    with.is_empty()
}

const fn ends_open(line: &[u8]) -> bool {
    matches!(line, [.., b'['])
}

#[cfg(test)]
mod tests;
