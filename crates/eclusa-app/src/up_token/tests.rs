//! Tests of up token.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_token_is_made_once_and_a_file_of_others_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state/up-token");
    let token = read_or_make(&file).unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(read_or_make(&file).unwrap(), token);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(read_or_make(&file).unwrap_err().to_string().contains("chmod 600"));
}
