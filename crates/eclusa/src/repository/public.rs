//! Files whose names are like those of secrets and that are none: certificates, public keys, sources,
//! what belongs to installed packages, what git tracks. Judged by what is in them, by whoever knows
//! what secrets look like.

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

/// True when the name of this path is like that of a secret, and may be public all the same.
pub(super) fn may_be(path: &Path, tracked: bool) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    let is_suspect = matches!(ending, "pem" | "key" | "pub" | "crt" | "cer")
        || tracked
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
