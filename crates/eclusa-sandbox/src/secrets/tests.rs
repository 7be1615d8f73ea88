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
    // The machine has secrets of its own.
    found.retain(|path| path.starts_with(home.path()));
    assert_eq!(found, expected);
}

/// What [`secrets`] must find, asked for one by one.
fn each(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    SECRET_PLACES.iter().for_each(|place| expand(home, place, &mut found));
    found.sort();
    found.dedup();
    found
}

fn beneath(home: &Path) -> Vec<PathBuf> {
    let mut found = secrets(Some(home), &[]);
    found.retain(|path| path.starts_with(home));
    found
}

#[test]
fn a_listing_finds_what_asking_for_each_place_finds() {
    let home = tempfile::tempdir().unwrap();
    assert!(beneath(home.path()).is_empty());
    for place in SECRET_PLACES {
        let path = home.path().join(place.replace('*', "x"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // One may be a directory that holds another.
        let _ = std::fs::write(&path, "x");
        assert!(beneath(home.path()).iter().any(|it| path.starts_with(it)), "{place}");
    }
    assert_eq!(beneath(home.path()), each(home.path()));
    // A directory with very many names is not listed, and one that is no directory has none.
    for number in 0..=MAX_LISTED {
        std::fs::write(home.path().join(format!("file-{number}")), "").unwrap();
    }
    assert_eq!(beneath(home.path()), each(home.path()));
    let odd = tempfile::tempdir().unwrap();
    std::fs::write(odd.path().join(".config"), "").unwrap();
    std::fs::write(odd.path().join(".netrc"), "").unwrap();
    assert_eq!(beneath(odd.path()), [odd.path().join(".netrc")]);
}
