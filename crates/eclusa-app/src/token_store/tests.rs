//! Tests of token store.

use super::*;

fn keys() -> (tempfile::TempDir, TokenStore) {
    let dir = tempfile::tempdir().unwrap();
    let (tokens, key) = (dir.path().join("tokens"), dir.path().join("config/key"));
    (dir, TokenStore { tokens, key })
}

#[test]
fn a_token_is_kept_and_read_and_forgotten() {
    let (_dir, keys) = keys();
    assert_eq!(keys.load("notes").unwrap(), None);
    keys.keep("notes", Some(b"secret")).unwrap();
    assert_eq!(keys.load("notes").unwrap().as_deref(), Some(&b"secret"[..]));
    keys.keep("notes", None).unwrap();
    assert_eq!(keys.load("notes").unwrap(), None);
}

#[test]
fn the_file_does_not_tell_the_token_and_is_nobody_elses() {
    let (_dir, keys) = keys();
    keys.keep("notes", Some(b"secret")).unwrap();
    let file = keys.token("notes");
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.windows(6).any(|it| it == b"secret"));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&keys.key).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_token_of_another_server_or_another_key_is_refused() {
    let (_dir, keys) = keys();
    keys.keep("notes", Some(b"secret")).unwrap();
    fs::copy(keys.token("notes"), keys.token("other")).unwrap();
    assert!(keys.load("other").unwrap_err().to_string().contains("log in again"));
    replace(&keys.key, [7; KEY]).unwrap();
    assert!(keys.load("notes").unwrap_err().to_string().contains("log in again"));
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let (_dir, keys) = keys();
    keys.keep("notes", Some(b"secret")).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(&keys.key, open).unwrap();
    assert!(keys.load("notes").unwrap_err().to_string().contains("chmod 600"));
}
