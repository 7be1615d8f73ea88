//! Whether a person trusts the workspace's own configuration: by its digest, kept beside the log,
//! so that a change takes the trust back.

use std::{fs, io};

use eclusa::Hash;

use crate::{paths::Paths, remember::replace};

/// Trusts this text; gives its digest.
pub fn give(paths: &Paths, text: &str) -> io::Result<Hash> {
    let digest = Hash::sha256(text.as_bytes());
    replace(&paths.trusted(), format!("{digest}\n"))?;
    Ok(digest)
}

/// Trusts nothing any longer.
pub fn take_back(paths: &Paths) -> io::Result<()> {
    replace(&paths.trusted(), "")
}

/// True when a person has trusted the file, and it is another now.
pub fn is_stale(paths: &Paths) -> bool {
    let kept = fs::read_to_string(paths.trusted()).unwrap_or_default();
    let now = crate::read_text::read_text(&paths.project());
    !kept.trim().is_empty() && now.is_ok_and(|it| !is_given(paths, &it))
}

/// What is told of such a file.
pub const STALE: &str = "the workspace's eclusa.toml has changed since it was trusted, so it may \
                                only add restrictions; `eclusa config trust` trusts it as it is now";

/// True when a person has trusted exactly this text. What cannot be read is not trusted.
pub fn is_given(paths: &Paths, text: &str) -> bool {
    let kept = fs::read_to_string(paths.trusted()).unwrap_or_default();
    kept.trim() == Hash::sha256(text.as_bytes()).to_string()
}
