//! Whether a value that is only known by what stands before it looks like a secret.

use serde::Deserialize;

/// How sure the name before a value makes us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Guess {
    /// Quite: only what is plainly a placeholder is left.
    Loose,
    /// Less: in source code most such values are names, so words and paths are left too.
    Strict,
}

impl Guess {
    pub(super) fn is_plausible(self, value: &str) -> bool {
        let placeholder = is_placeholder(value);
        match self {
            Guess::Loose => !placeholder,
            Guess::Strict => !placeholder && !is_word(value),
        }
    }
}

/// Stands for a secret, or for none: `$TOKEN`, `<password>`, `********`, `changeme`, `^1.2.3`.
fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "bool",
        "boolean",
        "bytes",
        "default",
        "disabled",
        "enabled",
        "env",
        "false",
        "hidden",
        "input",
        "int",
        "integer",
        "nil",
        "none",
        "null",
        "number",
        "object",
        "optional",
        "required",
        "self",
        "str",
        "string",
        "text",
        "this",
        "true",
        "undefined",
        "unset",
        "user",
    ];
    const PARTS: &[&str] =
        &["example", "placeholder", "changeme", "redacted", "your_", "your-", "yourp", "xxxx"];
    const TELLING: &[&str] = &["passw", "secret", "token", "apikey", "api_key", "credential"];
    // What services put before their keys: words like `secret` after that are part of a key.
    const PREFIXES: &[&str] =
        &["sk-", "sk_", "rk-", "rk_", "pk_", "ghp_", "gho_", "ghs_", "glpat-", "xoxb-", "whsec_"];
    let lower = value.to_ascii_lowercase();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let mut others = value.chars().filter(|c| !value.starts_with(*c));
    let second = others.next();
    others.all(|c| Some(c) == second)
        || value.starts_with(['$', '<', '{', '(', '*', '&', '#'])
        || value.starts_with("%(")
        || WORDS.contains(&lower.as_str())
        || (digits < 3 && PARTS.iter().any(|part| lower.contains(part)))
        || (digits < 3
            && !PREFIXES.iter().any(|it| lower.starts_with(it))
            && TELLING.iter().any(|part| lower.contains(part)))
        || (digits == 0 && value.contains(char::is_whitespace))
        || is_version(value)
}

/// `^9.0.0`, `>=1.2`, `1.0.0-beta.1`.
fn is_version(value: &str) -> bool {
    let bare = value.trim_start_matches(['^', '~', '>', '<', '=', 'v']);
    let mut parts = bare.splitn(3, '.');
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next().is_some_and(numeric)
        && parts.next().is_some_and(|part| numeric(part.split(['-', '+']).next().unwrap_or(part)))
}

/// A word, a name of the program or a path, not a made-up value.
fn is_word(value: &str) -> bool {
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    !letters || !digits || is_path(value) || is_name(value)
}

fn is_path(value: &str) -> bool {
    let scheme = |(scheme, _): (&str, &str)| scheme.bytes().all(|byte| byte.is_ascii_lowercase());
    ["/", "./", "../", "~/"].iter().any(|root| value.starts_with(root))
        || value.split_once("://").is_some_and(scheme)
}

/// `config.auth2.key`, `Self::KEY_32`, `u64_le`: parts that begin with a letter and have hardly a
/// digit.
fn is_name(value: &str) -> bool {
    let joined = value.contains(['.', '_']) || value.contains("::");
    let part = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.is_empty()
            || (digits <= 2
                && part.len() <= 16
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && (part.len() == digits || !part.starts_with(|c: char| c.is_ascii_digit())))
    };
    joined && value.split(['.', '_', ':']).all(part)
}

/// Shannon entropy, in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}
