//! Whether a person trusts the workspace's own configuration: the text that they have read is kept beside the
//! log with its digest. A change that only tightens keeps the trust, and any other takes it back.

use std::{fs, io};

use eclusa::Hash;
use eclusa_config::{Config, Layer};

use crate::{paths::Paths, remember::replace};

/// Trusts this text; gives its digest.
pub fn give(paths: &Paths, text: &str) -> io::Result<Hash> {
    let digest = Hash::sha256(text.as_bytes());
    replace(&paths.trusted(), format!("{digest}\n{text}"))?;
    Ok(digest)
}

/// Trusts nothing any longer.
pub fn take_back(paths: &Paths) -> io::Result<()> {
    replace(&paths.trusted(), "")
}

/// True when a person has trusted a text of this file once.
pub fn was_given(paths: &Paths) -> bool {
    kept(paths).is_some()
}

/// True when a person has trusted exactly this text, or one that it only tightens. What cannot be read is not
/// trusted. `below` are the files that lie below it.
pub fn holds(paths: &Paths, text: &str, below: &[Layer]) -> bool {
    let Some((digest, earlier)) = kept(paths) else { return false };
    if digest == Hash::sha256(text.as_bytes()).to_string() {
        return true;
    }
    if digest != Hash::sha256(earlier.as_bytes()).to_string() {
        // Earlier versions kept the digest alone.
        return false;
    }
    match (Config::project_entries(below, text), Config::project_entries(below, &earlier)) {
        (Ok(now), Ok(earlier)) => now.is_covered_by(&earlier),
        _ => false,
    }
}

/// The digest of the text that was trusted, and the text.
fn kept(paths: &Paths) -> Option<(String, String)> {
    let kept = fs::read_to_string(paths.trusted()).ok()?;
    let (digest, text) = kept.split_once('\n').unwrap_or((&kept, ""));
    (!digest.is_empty()).then(|| (digest.to_owned(), text.to_owned()))
}
