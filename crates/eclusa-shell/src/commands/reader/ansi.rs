//! `$'…'`: escapes as in C.

/// The text up to the closing quote, and how many bytes of `rest` were used, the quote included.
/// None when it does not end, or is not text.
pub(super) fn decode(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = 0;
    loop {
        let c = char_at(rest, at)?;
        at += c.len_utf8();
        match c {
            '\'' => return Some((text, at)),
            '\\' => at = escape(rest, at, &mut text)?,
            _ => text.push(c),
        }
    }
}

fn char_at(rest: &str, at: usize) -> Option<char> {
    rest.get(at..)?.chars().next()
}

fn escape(rest: &str, at: usize, text: &mut String) -> Option<usize> {
    let c = char_at(rest, at)?;
    let next = at + c.len_utf8();
    let known = match c {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => c,
        'x' => return number(rest, next, 2, 16, 0x7f, text),
        'u' => return number(rest, next, 4, 16, u32::MAX, text),
        'U' => return number(rest, next, 8, 16, u32::MAX, text),
        '0'..='7' => return number(rest, at, 3, 8, 0x7f, text),
        // Control characters have no business in a command.
        'c' => return None,
        _ => {
            text.push('\\');
            c
        }
    };
    text.push(known);
    Some(next)
}

/// A character by number. Numbers that are no character of text of their own are not decoded:
/// several of them could be one, and zero would end the word.
fn number(
    rest: &str,
    at: usize,
    digits: usize,
    radix: u32,
    max: u32,
    text: &mut String,
) -> Option<usize> {
    let tail = rest.get(at..)?;
    let length = tail.chars().take(digits).take_while(|it| it.is_digit(radix)).count();
    let value = u32::from_str_radix(tail.get(..length)?, radix).ok()?;
    let c = char::from_u32(value).filter(|_| value != 0 && value <= max)?;
    text.push(c);
    Some(at + length)
}
