//! What encoded words of a shell text say, so that a command cannot hide in base64 or hexadecimal.

use base64::{Engine as _, engine::general_purpose};

/// A shorter word decodes to too little to hide anything in.
const MIN_WORD: usize = 8;

/// More of such words than this are not looked at.
const MAX_WORDS: usize = 20;

/// The words of a shell text that programs in it would decode to text, with that text.
pub(super) fn decoded(text: &str) -> Vec<(String, String)> {
    let has = |names: &[&str]| names.iter().any(|it| text.contains(it));
    let base64 = has(&["base64", "b64decode", "openssl", "atob"]);
    let hex = has(&["xxd", "unhex", "fromhex"]);
    if !base64 && !hex {
        return Vec::new();
    }
    let is_part = |it: char| it.is_ascii_alphanumeric() || "+/=_-".contains(it);
    let words = text.split(|it| !is_part(it)).filter(|it| it.len() >= MIN_WORD);
    let decode = |word: &str| {
        let bytes = hex.then(|| from_hex(word)).flatten();
        let bytes = bytes.or_else(|| base64.then(|| from_base64(word)).flatten())?;
        let text = String::from_utf8(bytes).ok()?;
        // Words of everyday commands can be decoded too, to nonsense.
        let readable = text.chars().filter(|it| !it.is_control() || "\n\t\r".contains(*it));
        (readable.count() == text.chars().count() && text.is_ascii()).then_some(text)
    };
    words.filter_map(|it| Some((it.to_owned(), decode(it)?))).take(MAX_WORDS).collect()
}

fn from_base64(word: &str) -> Option<Vec<u8>> {
    let bare = word.trim_end_matches('=');
    let standard = general_purpose::STANDARD_NO_PAD.decode(bare);
    standard.or_else(|_| general_purpose::URL_SAFE_NO_PAD.decode(bare)).ok()
}

fn from_hex(word: &str) -> Option<Vec<u8>> {
    if !word.len().is_multiple_of(2) {
        return None;
    }
    let digits: Option<Vec<u32>> = word.chars().map(|it| it.to_digit(16)).collect();
    let bytes = digits?;
    bytes
        .chunks(2)
        .map(|it| u8::try_from(it.iter().fold(0, |sum, it| sum * 16 + it)).ok())
        .collect()
}
