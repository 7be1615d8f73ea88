//! What the escapes in `$'…'` of a shell text spell, so that a name cannot hide in them.

/// Every `$'…'` of a shell text that has an escape in it, with what it spells. Where it stands
/// between double quotes a shell would not read it so; it is shown all the same.
pub(super) fn spelled(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("$'") {
        let end = closing_quote(after);
        let inside = after.get(..end).unwrap_or(after);
        if inside.contains('\\') {
            found.push((format!("$'{inside}'"), spell(inside)));
        }
        rest = after.get(end..).unwrap_or_default();
    }
    found
}

/// Where the quote ends, or the text if it does not.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\'' if !escaped => return at,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn spell(inside: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            escape(&mut rest, &mut bytes);
        } else {
            push(&mut bytes, c);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What stands after a backslash: a byte for most, a character for `\u` and `\U`.
fn escape(rest: &mut std::str::Chars<'_>, bytes: &mut Vec<u8>) {
    let Some(c) = rest.next() else { return };
    match c {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        'c' => bytes.extend(rest.next().map(|c| (u32::from(c) & 0x1F) as u8)),
        'x' => bytes.push(number(rest, 16, 2, 0) as u8),
        'u' => push(bytes, char::from_u32(number(rest, 16, 4, 0)).unwrap_or('\u{FFFD}')),
        'U' => push(bytes, char::from_u32(number(rest, 16, 8, 0)).unwrap_or('\u{FFFD}')),
        _ => match c.to_digit(8) {
            Some(first) => bytes.push(number(rest, 8, 2, first) as u8),
            None => push(bytes, c),
        },
    }
}

/// The number that at most so many digits make.
fn number(rest: &mut std::str::Chars<'_>, radix: u32, most: usize, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(radix)) else { break };
        rest.next();
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    value
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
