//! Patterns that could turn out to name a file with secrets.

use eclusa_shell::{Part, Word};
use globset::GlobBuilder;

/// Names that files with secrets have. What is hidden is decided by `files.blocked`; these are for
/// asking whether a pattern is after one of them.
const SECRETS: [&str; 18] = [
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "server.pem",
    "private.key",
    "keystore.p12",
    "credentials.json",
    "aws_credentials",
];

/// True when a part of a pattern fits such a name and says more than that anything will do. The
/// bare `*` of `wc -l *` passes: what is hidden stays hidden where the command runs.
pub(super) fn may_be_secret(word: &Word) -> bool {
    let text = |part: &Part| match part {
        Part::Text(text) | Part::Glob(text) => text.clone(),
        Part::Unknown { .. } => String::new(),
    };
    let pattern: String = word.parts.iter().map(text).collect();
    word.is_glob() && pattern.split('/').any(fits_a_secret)
}

fn fits_a_secret(part: &str) -> bool {
    let is_glob = part.contains(['*', '?', '[']);
    let says = part.starts_with('.') || part.contains(|c: char| c.is_alphanumeric());
    if !is_glob || !says {
        return false;
    }
    // Dots at the beginning are only met by a pattern that has one, and what says no more than
    // that a file is JSON is not after credentials.
    let sought = |it: &&&str| part != "*.json" || !it.ends_with(".json");
    let candidates = SECRETS.iter().filter(|it| it.starts_with('.') == part.starts_with('.'));
    let candidates = candidates.filter(sought);
    match GlobBuilder::new(part).case_insensitive(true).build() {
        Ok(glob) => {
            let matcher = glob.compile_matcher();
            candidates.into_iter().any(|it| matcher.is_match(it))
        }
        // A pattern that nobody can read may be after anything.
        Err(_) => true,
    }
}
