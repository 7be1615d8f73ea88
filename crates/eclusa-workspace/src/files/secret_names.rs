//! The names of files that hold secrets: one list for every tool, rule and sandbox.

/// Patterns of files that hold secrets, in the form of [`Blocked`](super::Blocked).
pub const SECRET_NAMES: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    ".ssh/*",
    ".gnupg/*",
    ".aws/*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*credentials*",
    ".netrc",
    ".pgpass",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
];
