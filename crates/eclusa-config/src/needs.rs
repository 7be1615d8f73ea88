//! `needs = "0.5"`: which version of the program a file is for.

use toml::de::{DeTable, DeValue};

use crate::error::Problem;

/// This version.
const THIS: &str = env!("CARGO_PKG_VERSION");

/// Why this program cannot read a file, if it is for a later one.
pub(super) fn unmet(file: &DeTable<'_>) -> Option<Problem> {
    let (_, value) = file.iter().find(|(key, _)| key.get_ref() == "needs")?;
    // Any other value is told like every value of the wrong kind.
    let DeValue::String(needs) = value.get_ref() else { return None };
    let Some(wanted) = numbers(needs) else {
        let text = format!("`{needs}` is no version; write one like `0.5`");
        return Some(Problem::new(&value.span(), text));
    };
    let text =
        format!("this file is for eclusa {needs} and later, and this is {THIS}; upgrade eclusa");
    (numbers(THIS)? < wanted).then(|| Problem::new(&value.span(), text))
}

/// `0.5` or `0.5.2` as numbers.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut all = [0; 3];
    let mut parts = version.split('.');
    let mut count = 0;
    for slot in &mut all {
        let Some(part) = parts.next() else { break };
        let digits = !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        *slot = digits.then(|| part.parse().ok())??;
        count += 1;
    }
    (count >= 2 && parts.next().is_none()).then_some(all)
}
