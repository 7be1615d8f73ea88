//! Content that is secret whatever the file is called: private keys and tokens.

use std::{fs::File, io, os::unix::fs::FileExt};

/// Longer files are not looked through: whoever needs them excepts them by name.
const MAX_LENGTH: u64 = 4 << 20;
/// What follows a mark of a key within so many bytes belongs to it.
const NEARBY: usize = 200;

/// Beginnings of tokens, and how many letters and digits follow at least.
const TOKENS: [(&str, usize); 14] = [
    ("ghp_", 36),
    ("gho_", 36),
    ("ghs_", 36),
    ("ghr_", 36),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("sk-ant-", 6),
    ("sk-proj-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("npm_", 36),
    ("pypi-AgEI", 20),
];

/// What private keys and tokens begin with or stand beside: enough to doubt that a file is public.
const MARKS: [&[u8]; 10] = [
    b"PRIVATE KEY-----",
    b"PuTTY-User-Key-File",
    b"aws_secret_access_key",
    b"AKIA",
    b"ghp_",
    b"github_pat_",
    b"glpat-",
    b"xoxb-",
    b"sk_live_",
    b"-----BEGIN PGP PRIVATE",
];

/// True when there may be a private key or a token in a content: it has a mark of one, or it cannot
/// be told, because a key in binary form looks like anything. Whatever [`secret_in`] finds is
/// doubted here too.
pub fn may_hold_secret(content: &[u8]) -> bool {
    let has = |it: &&[u8]| memchr::memmem::find(content, it).is_some();
    MARKS.iter().any(has) || std::str::from_utf8(content).is_err() || secret_in(content).is_some()
}

/// What is secret in a file, in words. `None`: nothing that is known.
pub fn secret_in_file(file: &File) -> io::Result<Option<&'static str>> {
    let size = file.metadata()?.len();
    if size > MAX_LENGTH {
        return Ok(Some("more than is looked through"));
    }
    let mut content = vec![0; usize::try_from(size).unwrap_or_default()];
    let mut read = 0;
    while let Some(rest) = content.get_mut(read..).filter(|it| !it.is_empty()) {
        match file.read_at(rest, read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(err),
        }
    }
    Ok(secret_in(content.get(..read).unwrap_or_default()))
}

/// What is secret in this content, in words.
pub fn secret_in(content: &[u8]) -> Option<&'static str> {
    let key = memchr::memmem::find_iter(content, b"PRIVATE KEY").any(|at| has_key(content, at));
    if key || memchr::memmem::find(content, b"PuTTY-User-Key-File").is_some() {
        return Some("a private key");
    }
    let token = TOKENS.iter().any(|(begin, length)| {
        let found = memchr::memmem::find_iter(content, begin.as_bytes());
        found.into_iter().any(|at| is_token(content, at, begin.len(), *length))
    });
    token.then_some("a token")
}

/// Source code may only speak of keys: one has its digits behind it.
fn has_key(content: &[u8], at: usize) -> bool {
    let rest = content.get(at + "PRIVATE KEY".len()..).unwrap_or_default();
    let near = rest.get(..rest.len().min(NEARBY)).unwrap_or_default();
    let digit = |it: &u8| it.is_ascii_alphanumeric() || *it == b'+' || *it == b'/' || *it == b'=';
    near.split(|it| !digit(it)).any(|run| run.len() >= 24)
}

fn is_token(content: &[u8], at: usize, begin: usize, length: usize) -> bool {
    let before = at.checked_sub(1).and_then(|it| content.get(it));
    let rest = content.get(at + begin..).unwrap_or_default();
    let part = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_' || **it == b'-';
    let token = rest.get(..rest.iter().take_while(part).count()).unwrap_or_default();
    let letters = token.iter().filter(|it| it.is_ascii_alphanumeric()).count();
    let digits = token.iter().any(u8::is_ascii_digit);
    !before.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_')
        && letters >= length
        && digits
        && memchr::memmem::find(token, b"EXAMPLE").is_none()
}
