//! A test is left out where the machine cannot carry it out, and nowhere else.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and it starts itself again"
)]

use std::process::Command;

use eclusa_sandbox::test_support;
use eclusa_testing::{Need, is_here, needs};

/// Whom the other tests start: it says whether it was reached.
#[test]
fn one_that_needs_namespaces() {
    if std::env::var_os("ECLUSA_TESTS_STARTED").is_none() {
        return;
    }
    needs!(Namespaces);
    println!("it was reached");
}

/// What became of it: whether it passed, what it said, and what it noted.
fn one(container: bool, expected: &'static str) -> (bool, String, String) {
    // What is taken from this thread is taken from what it starts.
    let started = std::thread::spawn(move || {
        let notes = tempfile::tempdir().unwrap();
        let file = notes.path().join("not-checked");
        if container {
            test_support::container().unwrap();
        }
        let ran = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_that_needs_namespaces", "--nocapture"])
            .env("ECLUSA_TESTS_STARTED", "1")
            .env("ECLUSA_TESTS_NOT_CHECKED", &file)
            .env("ECLUSA_TESTS_EXPECT_NAMESPACES", expected)
            .output()
            .unwrap();
        let mut said = String::from_utf8(ran.stdout).unwrap();
        said.push_str(&String::from_utf8(ran.stderr).unwrap());
        (ran.status.success(), said, std::fs::read_to_string(file).unwrap_or_default())
    });
    started.join().unwrap()
}

#[test]
fn in_a_container_it_says_that_it_is_not_checked() {
    let (passed, said, noted) = one(true, "0");
    assert!(passed && !said.contains("it was reached"), "{said}");
    assert!(said.contains("not checked: `one_that_needs_namespaces` needs namespaces"), "{said}");
    assert_eq!(noted, "needs one_that_needs_namespaces\n");
}

#[test]
fn where_namespaces_are_expected_it_fails_instead() {
    let (passed, said, noted) = one(true, "1");
    assert!(!passed && said.contains("which are expected here"), "{said}");
    assert_eq!(noted, "");
}

#[test]
fn where_namespaces_can_be_made_it_is_checked() {
    needs!(Namespaces);
    let (passed, said, noted) = one(false, "0");
    assert!(passed && said.contains("it was reached"), "{said}");
    assert_eq!(noted, "");
}

/// Tests take abilities from their own thread, and others of the same program go on.
#[test]
fn what_a_test_takes_from_its_thread_is_no_limit_of_the_machine() {
    needs!(Namespaces);
    let other = std::thread::spawn(|| {
        test_support::container().unwrap();
        assert!(test_support::make_namespaces().is_err());
        is_here(Need::Namespaces)
    });
    assert!(other.join().unwrap());
}
