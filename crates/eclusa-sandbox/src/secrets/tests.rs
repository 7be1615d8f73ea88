//! Tests of what is taken for a secret.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use super::*;

#[test]
fn names_of_secrets_and_names_that_only_look_like_one() {
    for name in
        [".env", ".env.local", "prod.env", "server.key", "id_ed25519", "x.tfvars", "id_ed25519_sk"]
    {
        assert!(is_secret_name(name), "{name}");
    }
    for name in [".env.example", "env", "key", "monkey", "id_rsa.pub", "environment", "keys.rs"] {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn what_exists_is_found_and_the_workspace_is_not_hidden() {
    let home = tempfile::tempdir().unwrap();
    let make = |path: &str| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x").unwrap();
        path
    };
    let expected = [make(".aider.chat.history"), make("ws/.env"), make("ws/a/b/c/server.pem")];
    make(".ssh/id_rsa");
    make("ws/a/b/c/d/too-deep.pem");
    make("ws/node_modules/p/.env");
    make(".codex/ws2/file");
    let mut expected = expected.to_vec();
    expected.insert(1, home.path().join(".ssh"));
    let workspaces = [home.path().join("ws"), home.path().join(".codex/ws2")];
    let mut found = secrets(Some(home.path()), &workspaces);
    found.retain(|path| !path.starts_with("/etc") && !path.starts_with("/var/lib"));
    assert_eq!(found, expected);
}
