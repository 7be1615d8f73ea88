//! Files whose names are like those of secrets and that are none: certificates, public keys, sources,
//! what belongs to installed packages, what git tracks. Judged by what is in them.

use std::path::Path;

/// The largest file that is looked into.
pub(super) const MAX_READ: u64 = 4 << 20;

/// Directories of installed packages.
const PACKAGES: [&str; 5] = ["site-packages", "dist-packages", "node_modules", ".venv", "venv"];

/// Endings of sources and documents.
const SOURCES: [&str; 24] = [
    "py", "pyi", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rs", "go", "java", "kt", "rb", "php",
    "c", "h", "cc", "cpp", "cs", "swift", "md", "rst", "html", "css",
];

/// What private keys and tokens look like, in any file.
const SECRETS: [&[u8]; 10] = [
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

/// True when the name of this path is like that of a secret, and may be public all the same.
pub(super) fn may_be(path: &Path, tracked: bool) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    let is_suspect = matches!(ending, "pem" | "key" | "pub" | "crt" | "cer")
        || (name.contains("credentials") && !name.starts_with('.'));
    let hidden = [".ssh", ".gnupg", ".aws"];
    let hidden = path.components().any(|it| hidden.iter().any(|name| it.as_os_str() == *name));
    let in_package =
        path.components().any(|it| PACKAGES.iter().any(|name| it.as_os_str() == *name));
    is_suspect
        && !hidden
        && (tracked
            || in_package
            || SOURCES.contains(&ending)
            || matches!(ending, "pub" | "pem" | "crt" | "cer"))
}

/// True when there is a private key or a token in a content, or when it cannot be told: a key in
/// binary form looks like anything.
pub(super) fn holds_secret(content: &[u8]) -> bool {
    let has = |it: &&[u8]| memchr::memmem::find(content, it).is_some();
    SECRETS.iter().any(has) || std::str::from_utf8(content).is_err()
}
