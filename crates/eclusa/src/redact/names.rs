//! Names of fields that say that a secret is inside.

/// How such names end, in lower case and without separators.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "masterkey",
    "sharedkey",
    "sshkey",
    "authkey",
    "authorization",
    "credential",
    "credentials",
    "connectionstring",
    "cookie",
    "setcookie",
    "bearer",
    "jwt",
    "accesskeyid",
    "clientsecret",
    "passwords",
    "apikeys",
    "accesstokens",
    "sessionid",
    "otp",
    "totp",
];

/// Names that end so and hold no secret: where to go on in a list, what kind, how many.
const HARMLESS: &[&str] = &[
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "synctoken",
    "paginationtoken",
    "cursortoken",
    "starttoken",
    "endtoken",
    "stoptoken",
    "eostoken",
    "bostoken",
    "padtoken",
    "unktoken",
    "masktoken",
    "septoken",
    "clstoken",
    "pertoken",
    "invalidationtoken",
    "cancellationtoken",
    "idempotencytoken",
    "hastoken",
    "usetoken",
    "haspassword",
    "changepassword",
    "forgotpassword",
];

/// Longer names are read by their end.
const LENGTH: usize = 48;

/// Whether a field of this name holds a secret, whatever its case and separators. It reads the
/// name from its end and copies nothing to the heap, because every field of every value is asked.
pub(super) fn is_telling(name: &str) -> bool {
    let mut buffer = [0_u8; LENGTH];
    let mut start = LENGTH;
    let letters = name.bytes().rev().filter(|byte| !matches!(byte, b'_' | b'-' | b' ' | b'.'));
    for (place, byte) in buffer.iter_mut().rev().zip(letters) {
        *place = byte.to_ascii_lowercase();
        start -= 1;
    }
    let plain = buffer.get(start..).unwrap_or_default();
    // Most names end in a letter that none of these does.
    if !matches!(
        plain.last(),
        Some(b'd' | b'e' | b't' | b's' | b'n' | b'y' | b'l' | b'g' | b'r' | b'p')
    ) {
        return false;
    }
    let ends = |ending: &str| plain.ends_with(ending.as_bytes());
    ENDINGS.iter().any(|it| ends(it)) && !HARMLESS.iter().any(|it| ends(it))
}

/// Whether a field inside of one that holds a secret is the secret itself: `{"token": {"value": …}}`.
pub(super) fn is_content(name: &str) -> bool {
    const CONTENTS: &[&str] = &["value", "data", "plain", "plaintext", "raw", "content"];
    CONTENTS.iter().any(|it| name.eq_ignore_ascii_case(it))
}
