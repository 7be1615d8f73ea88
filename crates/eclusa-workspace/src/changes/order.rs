//! The order in which people read paths: `a2` before `a10`.

use std::{cmp::Ordering, iter::Peekable, path::Path, str::Chars};

/// Compares paths part by part, and runs of digits as numbers.
pub fn natural(one: &Path, other: &Path) -> Ordering {
    let parts = |it: &Path| -> Vec<String> {
        it.components().map(|it| it.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let by_parts = || {
        let (one, other) = (parts(one), parts(other));
        let different = one.iter().zip(&other).map(|(a, b)| by_numbers(a, b));
        different.into_iter().find(|it| it.is_ne()).unwrap_or(one.len().cmp(&other.len()))
    };
    // Names that look the same are still two.
    by_parts().then_with(|| one.cmp(other))
}

fn by_numbers(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.chars().peekable(), other.chars().peekable());
    loop {
        let numbers = match (one.peek(), other.peek()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(a), Some(b)) => a.is_ascii_digit() && b.is_ascii_digit(),
        };
        let compared = match numbers {
            true => {
                let (a, b) = (digits(&mut one), digits(&mut other));
                a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
            }
            false => one.next().cmp(&other.next()),
        };
        if compared.is_ne() {
            return compared;
        }
    }
}

/// The digits that come next, without zeros in front.
fn digits(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut all = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        all.push(digit);
    }
    all.trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests;
