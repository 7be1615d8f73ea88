//! Surveys of trees that change.
#![expect(clippy::disallowed_methods, reason = "files of the test's own")]

use std::{fs, path::Path};

use eclusa::{Blocked, policy::HiddenPaths, workspace::files::SECRET_NAMES};
use proptest::prelude::*;
use tempfile::TempDir;

use super::Survey;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path)
        .and_then(|mut it| std::io::Write::write_all(&mut it, text.as_bytes()))
        .unwrap();
}

/// What a survey finds, relative to the workspace.
fn hidden(survey: &Survey, root: &Path) -> Vec<String> {
    let found = survey.look().hidden.into_iter();
    let mut names: Vec<String> =
        found.map(|it| it.strip_prefix(root).unwrap().display().to_string()).collect();
    names.sort();
    names
}

fn fresh(root: &Path, own: &[&str]) -> Vec<String> {
    let blocked = Blocked::new(SECRET_NAMES.iter().chain(own));
    hidden(&Survey::new(root, blocked.unwrap(), HiddenPaths::nothing()), root)
}

#[test]
fn secrets_are_found_at_any_depth_and_own_patterns_everywhere() {
    let dir = TempDir::new().unwrap();
    let root = dir.path();
    for path in
        ["a/b/c/d/e/f/.env", "my.secret", "node_modules/x/ca.pem", "node_modules/x/my.secret"]
    {
        write(&root.join(path), "x");
    }
    write(&root.join("vault/deep/anything"), "x");
    assert_eq!(fresh(root, &[]), ["a/b/c/d/e/f/.env"]);
    let own = ["*.secret", "vault/**"];
    let all = ["a/b/c/d/e/f/.env", "my.secret", "node_modules/x/my.secret", "vault"];
    assert_eq!(fresh(root, &own), all);
}

#[test]
fn repositories_are_found_at_any_depth() {
    let dir = TempDir::new().unwrap();
    for path in ["one/.git/HEAD", "a/b/c/d/two/.git", "bare/HEAD", "bare/config", "none/HEAD"] {
        write(&dir.path().join(path), "x");
    }
    let mut trees =
        Survey::new(dir.path(), Blocked::nothing(), HiddenPaths::nothing()).look().trees;
    trees.sort();
    assert_eq!(trees, ["a/b/c/d/two", "bare", "one"].map(|it| dir.path().join(it)));
}

/// One thing done to a tree.
fn line() -> impl Strategy<Value = (u8, usize, usize)> {
    (0..6u8, 0..NAMES.len(), 0..NAMES.len())
}

const NAMES: [&str; 8] = ["a", "a/b", "a/b/c", "d", "d/.env", "a/my.secret", "a/b/x", "d/e"];

fn act(root: &Path, (what, one, other): (u8, usize, usize)) {
    let (one, other) = (root.join(NAMES[one]), root.join(NAMES[other]));
    // What cannot be done is left.
    let _ = match what {
        0 | 1 => {
            let _ = fs::create_dir_all(one.parent().unwrap());
            fs::File::create(&one).map(drop)
        }
        2 => fs::create_dir_all(&one),
        3 => fs::rename(&one, &other),
        4 if one.is_dir() => fs::remove_dir_all(&one),
        4 => fs::remove_file(&one),
        _ => std::os::unix::fs::symlink(&other, &one),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a survey remembers from before, it has right: it sees what one sees that looks for the
    /// first time.
    #[test]
    fn what_changed_is_seen(rounds in prop::collection::vec(prop::collection::vec(line(), 1..8), 1..5)) {
        let dir = TempDir::new().unwrap();
        let own = Blocked::new(SECRET_NAMES.iter().chain(&["*.secret"])).unwrap();
        let survey = Survey::new(dir.path(), own.clone(), HiddenPaths::nothing());
        for round in rounds {
            // Until what was found is old enough to be remembered.
            std::thread::sleep(super::COARSE * 2);
            survey.look();
            prop_assert!(survey.known.lock().unwrap().values().all(|it| it.settled));
            round.into_iter().for_each(|line| act(dir.path(), line));
            let fresh = hidden(&Survey::new(dir.path(), own.clone(), HiddenPaths::nothing()), dir.path());
            prop_assert_eq!(hidden(&survey, dir.path()), fresh);
        }
    }
}
