//! Where a person's excludes are found.
#![expect(clippy::disallowed_methods, reason = "the test makes a home directory")]

use super::*;

#[test]
fn the_persons_excludes_are_found_where_git_finds_them() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config");
    fs::create_dir_all(config.join("git")).unwrap();
    let found = || read(Some(home.path()), Some(&config));
    assert_eq!(found(), None);
    fs::write(config.join("git/ignore"), "*.swp\n").unwrap();
    assert_eq!(found().as_deref(), Some("*.swp\n"));
    fs::write(home.path().join("mine"), "*~\n").unwrap();
    let text = "[user]\n\texcludesFile = no\n[Core]\n\texcludesfile = ~/mine\n";
    fs::write(home.path().join(".gitconfig"), text).unwrap();
    assert_eq!(found().as_deref(), Some("*~\n"));
}
