//! What an answer "for these files" covers in a session.

use crate::{Change, Changes, EffectKind, EffectKinds, Hash};

/// The most files that an answer for a session names.
const MAX_FILES: usize = 200;

/// What becomes of each file, as keys that a session keeps: an edit of a file is not its deletion. Nothing
/// where an answer cannot be for files alone. What can be made again is nobody's question.
pub(super) fn edit_keys(changes: &Changes, kinds: &EffectKinds) -> Vec<Hash> {
    let of_files = |it: EffectKind| {
        matches!(it, EffectKind::Ephemeral | EffectKind::Edit | EffectKind::Delete { .. })
    };
    if changes.len() > MAX_FILES || !kinds.iter().all(of_files) {
        return Vec::new();
    }
    let changed = changes.iter().zip(kinds.iter()).filter(|it| it.1 != EffectKind::Ephemeral);
    let key = |(change, kind): (&Change, EffectKind)| {
        let path = change.path.as_os_str().as_encoded_bytes();
        Hash::sha256(&[kind.as_str().as_bytes(), b" ", path].concat())
    };
    changed.map(key).collect()
}
