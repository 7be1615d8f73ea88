//! Secrets that content tells, and places of secrets that lie in the workspace.

use super::*;

/// Digits as they follow the mark of a key.
const DIGITS: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";

fn key() -> String {
    format!("-----BEGIN {0} KEY-----\n{DIGITS}\n-----END {0} KEY-----\n", "PRIVATE")
}

/// Certificates, public keys, source code and installed packages are judged by what is in them.
#[test]
fn public_material_is_read_and_keys_are_not_whatever_they_are_called() {
    let names = [
        "cacert.pem",
        "certs/fullchain.pem",
        "id_ed25519.pub",
        "src/credentials.py",
        "src/credentials/mod.rs",
        ".venv/lib/python3/site-packages/certifi/cacert.pem",
        "node_modules/x/test/agent1-key.pem",
        "node_modules/x/.env",
    ];
    for world in World::both("") {
        for name in names {
            let path = world.tmp.path().join("ws").join(name);
            let blocked = world.files.blocked();
            assert!(blocked.by(Path::new(name)).is_none(), "{name}");
            assert!(blocked.by_content(Path::new(name)).is_some(), "{name}");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, "-----BEGIN CERTIFICATE-----\nMIID\n");
            assert!(world.read(name).is_ok(), "{name}");
            assert!(world.files.reach(Path::new(name)).is_ok(), "{name}");
            for secret in [key(), format!("token = '{}{}1'", "ghp_", "a".repeat(36))] {
                write(&path, &secret);
                let error = world.read(name).unwrap_err();
                assert!(error.contains("matches the secret pattern"), "{name}: {error}");
                assert!(world.files.reach(Path::new(name)).is_err(), "{name}");
                assert!(world.files.node(name, HOLD).is_err(), "{name}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// Other names are blocked whatever is in them, and what a person has blocked is so everywhere.
#[test]
fn names_that_say_enough_are_not_looked_into() {
    let blocked = Blocked::new(SECRET_NAMES.iter().chain(&["*.secret", "/ca.pem"])).unwrap();
    let names = [
        ".env",
        "server.pem",
        "a.key",
        "credentials",
        "credentials.json",
        "credentials/readme.md",
        "node_modules/x/a.secret",
        ".venv/a.secret",
        "ca.pem",
        "id_rsa.bak",
        "target/.env",
    ];
    for name in names {
        assert!(blocked.by(Path::new(name)).is_some(), "{name}");
    }
    assert!(blocked.by_directory(Path::new("src/credentials")).is_none());
    assert!(blocked.by_directory(Path::new("a/.ssh")).is_some());
}

/// Source code that only speaks of keys, and examples, are no secrets.
#[test]
fn what_only_speaks_of_secrets_is_none() {
    for text in
        ["if line == '-----BEGIN PRIVATE KEY-----':", "AKIAIOSFODNN7EXAMPLE", "npm_config_x"]
    {
        assert_eq!(secret_in(text.as_bytes()), None, "{text}");
    }
    assert_eq!(secret_in(key().as_bytes()), Some("a private key"));
    assert_eq!(secret_in(key().replace('\n', "\\n").as_bytes()), Some("a private key"));
}

/// Places of secrets are out of reach in a workspace that contains them, and no exception opens
/// them.
#[test]
fn places_in_the_workspace_are_out_of_reach_for_good() {
    let root = Path::new("/home/me");
    let blocked = Blocked::new(["!.claude.json", "!.ssh"]).unwrap();
    let blocked = blocked.with_places(root, secret_places(root));
    let names = [
        ".claude.json",
        ".claude/settings.json",
        ".codex/auth.json",
        ".SSH/config",
        ".bash_history",
        ".config/gh/hosts.yml",
        ".aider.chat.history.md",
        ".local/state/eclusa/x/trusted",
    ];
    for name in names {
        assert!(blocked.by(Path::new(name)).is_some(), "{name}");
        assert!(blocked.by_directory(Path::new(name)).is_some(), "{name}");
    }
    for name in [".config/other", "project/.claude/settings.json", ".sshx", ".bashrc"] {
        assert!(blocked.by(Path::new(name)).is_none(), "{name}");
    }
    // The workspace itself may lie in such a place.
    let inside = Path::new("/home/me/.codex/worktree");
    let blocked = Blocked::nothing().with_places(inside, secret_places(root));
    assert!(blocked.by(Path::new("a.rs")).is_none());
}
