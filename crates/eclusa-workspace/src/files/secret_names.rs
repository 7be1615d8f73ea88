//! The names of files that hold secrets: one list for every tool, rule, search and sandbox.

use std::path::Path;

/// Patterns of files that hold secrets, in the form of [`Blocked`](super::Blocked).
pub const SECRET_NAMES: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".ssh/*",
    ".gnupg/*",
    ".aws/*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "id_*_sk",
    CREDENTIALS,
    "service-account*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "*.tfvars",
    "*.tfstate",
    "*.tfstate.backup",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".dockercfg",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.env.dist",
    "!.env.defaults",
];

/// Files of any kind are called so, and directories of source code.
pub(super) const CREDENTIALS: &str = "*credentials*";

/// Directories of installed packages, with certificates for everybody and keys of their tests,
/// and the one in which git keeps branches of any name.
const INSTALLED: [&str; 5] = ["node_modules", "site-packages", "dist-packages", ".venv", ".git"];
/// Certificates that are there for everybody.
const CERTIFICATES: [&str; 7] = [
    "cacert.pem",
    "ca-bundle.pem",
    "ca.pem",
    "cert.pem",
    "cert-chain.pem",
    "chain.pem",
    "fullchain.pem",
];
/// What source code ends in.
const SOURCE: [&str; 30] = [
    "c", "cc", "clj", "cpp", "cs", "cts", "cxx", "dart", "ex", "exs", "go", "h", "hpp", "hs",
    "java", "js", "jsx", "kt", "lua", "mjs", "mts", "php", "pyi", "py", "rb", "rs", "scala",
    "swift", "ts", "tsx",
];

/// Settings that teams keep in their repository: what git tracks of them is judged by its content.
pub(super) const TRACKED_SETTINGS: [&str; 1] = ["*.tfvars"];

/// True when a file whose name fits this shipped pattern may well be public, so that its content
/// decides.
pub(super) fn is_public(path: &Path, pattern: &str) -> bool {
    let above = path.parent().into_iter().flat_map(Path::iter);
    if above.into_iter().any(|it| INSTALLED.iter().any(|name| it == *name)) {
        return true;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match pattern {
        CREDENTIALS => {
            let page = name.ends_with(".md") && name.contains("credentials");
            page || is_source(path) || path.iter().any(|it| it == "target")
        }
        "*.pem" => CERTIFICATES.contains(&&*name) || name.ends_with(".pub.pem"),
        _ if TRACKED_SETTINGS.contains(&pattern) => true,
        _ => pattern.starts_with("id_") && name.ends_with(".pub"),
    }
}

/// True for a pattern about a directory of secrets: what lies there is secret whoever else has it.
pub(super) fn is_place(pattern: &str) -> bool {
    pattern.ends_with("/*")
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|it| SOURCE.iter().any(|source| it == *source))
}
