//! Small texts of the system and of the state directory.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Longer than any such file.
const MAX_TEXT: u64 = 4096;

/// What is in a file, as far as it is a small text.
pub(crate) fn small_text(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_TEXT).read_to_string(&mut text).ok()?;
    Some(text)
}
