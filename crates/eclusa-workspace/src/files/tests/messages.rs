//! What is said when a file cannot be had: what is wrong, and what to try next.

use super::*;

#[track_caller]
fn check(setup: &str, asked: &str, expected: &str) {
    for world in World::both(setup) {
        assert_eq!(world.read(asked).unwrap_err(), expected);
    }
}

#[test]
fn a_path_that_is_not_there_comes_with_a_guess() {
    let setup =
        "printf X > ws/src/main.rs; mkdir ws/docs; printf X > ws/.env; printf X > ws/README";
    check(setup, "src/mian.rs", "no such file: `src/mian.rs`; did you mean `src/main.rs`?");
    check(setup, "scr/main.rs", "no such file: `scr/main.rs`; did you mean `src/main.rs`?");
    check(setup, "readme", "no such file: `readme`; did you mean `README`?");
    // What is blocked is never proposed.
    let plain = "list the directory to see its files";
    check(setup, "env", &format!("no such file: `env`; {plain}"));
    check(setup, "scr/nothing.rs", &format!("no such file: `scr/nothing.rs`; {plain}"));
    check(setup, "src/none/../x", &format!("no such file: `src/none/../x`; {plain}"));
}

#[test]
fn each_refusal_says_what_to_do() {
    check(
        "true",
        "../x",
        "`../x` leads out of the workspace; only files in it can be reached, by paths relative to it",
    );
    check(
        "true",
        "",
        "the path is empty; write it relative to the workspace, `.` is the workspace itself",
    );
    check("true", "src", "`src` is a directory, not a file; list it instead");
    check("mkfifo ws/p", "p", "`p` is a pipe, not a file; continue without it");
    check(
        "true",
        "a.txt/",
        "`a.txt/` needs a directory where there is none: `a.txt` is a file; leave out what follows it, the slash included",
    );
    check(
        "ln -s loop ws/loop",
        "loop",
        "`loop` goes through too many links, or round in a circle; use the file's own path",
    );
    check(
        "printf X > ws/.env; ln -s .env ws/copy",
        "copy",
        "`copy` is blocked: it leads to `.env`, which matches the secret pattern `.env`; continue \
        without it, or a person excepts it with files.blocked = [\"!.env\"]",
    );
    check("true", "a\0b", "`a\\u{0}b` has a NUL character, which no path can have; leave it out");
    let long = "y".repeat(300);
    let error = format!(
        "the path that begins with `{}` is too long; a name can have 255 bytes, a path 4095",
        &crate::one_line(&long).chars().take(60).collect::<String>(),
    );
    check("true", &long, &error);
}

#[test]
fn a_workspace_that_vanished_is_not_a_missing_file() {
    for (remove, world) in ["rm -r ws", "mv ws ws0"].into_iter().zip(World::both("true")) {
        assert!(world.sh(remove));
        for error in [
            world.files.file("new.txt").unwrap_err(),
            world.files.node("new.txt", 0).unwrap_err(),
            world.files.parent(Path::new("new/x")).unwrap_err(),
        ] {
            assert!(matches!(error, FileError::Vanished { .. }), "{remove}: {error}");
        }
    }
    let error = Files::open(Path::new("/nowhere/at/all"), Blocked::default()).unwrap_err();
    assert!(matches!(error, FileError::Vanished { .. }), "{error}");
}

#[test]
fn a_workspace_can_be_shared_by_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Files>();
}
