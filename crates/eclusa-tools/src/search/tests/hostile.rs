//! Workspaces that try to show more than they should, or never to end.

use std::{ffi::OsStr, os::unix::fs::symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Shows F, C5.
#[test]
fn blocked_files_are_never_listed_found_or_searched() {
    let place = Place::new();
    place
        .file(".env", "SECRET=1\n")
        .file("deep/er/.env.production", "SECRET=1\n")
        .file("server.pem", "SECRET\n")
        .file(".ssh/id_rsa", "SECRET\n")
        .file("environment.txt", "SECRET is not here\n");
    for ignored in [false, true] {
        let text = place.says("grep", json!({"pattern": "SECRET", "ignored": ignored}));
        assert_eq!(lines(&text), ["environment.txt:1:SECRET is not here"]);
        assert!(last(&text).contains("4 blocked"), "{text}");
        let args = json!({"pattern": "**/*", "ignored": ignored});
        assert_eq!(lines(&place.says("glob", args)), ["environment.txt"]);
        let args = json!({"recursive": true, "ignored": ignored});
        assert_eq!(lines(&place.says("list", args)), ["deep/", "deep/er/", "environment.txt"]);
    }
    let text = place.says("list", json!({}));
    assert!(!text.contains("env ") && text.contains("3 blocked"), "{text}");
    for path in [".env", "deep/er/.env.production", ".ssh", "deep/../.env"] {
        let why = place.fails("grep", json!({"pattern": "SECRET", "path": path}));
        assert!(why.contains("blocked") && !why.contains("SECRET"), "{why}");
    }
}

/// Shows F.
#[test]
fn links_are_shown_and_not_followed() {
    let place = Place::new();
    write(&place.outer.path().join("secret/out.txt"), b"SECRET\n");
    place.file("in.txt", "SECRET inside\n").file(".env", "SECRET\n");
    let root = place.root();
    symlink("../secret", root.join("away")).unwrap();
    symlink("../secret/out.txt", root.join("out.txt")).unwrap();
    symlink(".env", root.join("harmless.txt")).unwrap();
    symlink(".", root.join("loop")).unwrap();
    let text = place.says("grep", json!({"pattern": "SECRET"}));
    assert_eq!(lines(&text), ["in.txt:1:SECRET inside"]);
    let text = place.says("glob", json!({"pattern": "**"}));
    assert_eq!(lines(&text), ["in.txt"]);
    let text = place.says("list", json!({"recursive": true}));
    assert_eq!(lines(&text), ["away@", "harmless.txt@", "in.txt", "loop@", "out.txt@"]);
    for path in ["away", "out.txt", "harmless.txt", "away/out.txt"] {
        let why = place.fails("grep", json!({"pattern": "SECRET", "path": path}));
        assert!(!why.contains("SECRET"), "{why}");
    }
    assert!(!place.call("list", json!({"path": "away"})).text().contains("out.txt"));
}

/// Shows F.
#[test]
fn a_pipe_is_never_waited_for_even_as_a_gitignore() {
    let place = Place::new();
    place.file("a.txt", "x\n").file("sub/b.txt", "x\n");
    pipe(&place.root().join("pipe"));
    pipe(&place.root().join("sub/.gitignore"));
    pipe(&place.root().join(".ignore"));
    let text = place.says("grep", json!({"pattern": "x"}));
    assert_eq!(lines(&text), ["a.txt:1:x", "sub/b.txt:1:x"]);
    assert!(place.says("list", json!({})).contains("pipe  (a pipe)"));
    assert!(place.fails("grep", json!({"pattern": "x", "path": "pipe"})).contains("a pipe"));
}

#[test]
fn names_that_are_not_utf8_are_found_and_searched() {
    let place = Place::new();
    place.file(OsStr::from_bytes(b"caf\xe9.txt"), "x\n").file("new\nline.txt", "x\n");
    let text = place.says("grep", json!({"pattern": "x"}));
    assert_eq!(lines(&text).len(), 2, "{text}");
    assert!(text.contains("caf\u{fffd}.txt:1:x"), "{text}");
    assert_eq!(lines(&place.says("glob", json!({"pattern": "*.txt"}))).len(), 2);
    assert_eq!(lines(&place.says("list", json!({}))).len(), 2);
}

#[test]
fn gitignore_of_the_workspace_is_honoured_and_switchable() {
    let place = Place::new();
    place
        .file(".gitignore", "*.log\n/target/\nsub/only.txt\n")
        .file("a.log", "x\n")
        .file("target/out.txt", "x\n")
        .file("sub/.gitignore", "!keep.log\n")
        .file("sub/keep.log", "x\n")
        .file("sub/other.log", "x\n")
        .file("sub/only.txt", "x\n")
        .file("sub/target/in.txt", "x\n")
        .file(".git/info/exclude", "mine.txt\n")
        .file(".git/config", "x\n")
        .file("mine.txt", "x\n");
    let grep = |args: Value| {
        let text = place.says("grep", args);
        lines(&text).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(grep(json!({"pattern": "^x"})), ["sub/keep.log:1:x", "sub/target/in.txt:1:x"]);
    // From below, what is written above it in the workspace holds all the same.
    let below = json!({"pattern": "^x", "path": "sub"});
    assert_eq!(grep(below), ["sub/keep.log:1:x", "sub/target/in.txt:1:x"]);
    assert_eq!(grep(json!({"pattern": "^x", "ignored": true})).len(), 7);
    // Whoever names what is ignored, means it.
    assert_eq!(grep(json!({"pattern": "^x", "path": "target"})), ["target/out.txt:1:x"]);
    let text = place.says("list", json!({}));
    assert_eq!(lines(&text), [".git/", ".gitignore  28 bytes", "sub/"]);
    assert!(text.contains("3 hidden by .gitignore (`ignored: true` shows them)"), "{text}");
    assert!(place.says("list", json!({"ignored": true})).contains("target/"));
    assert_eq!(lines(&place.says("glob", json!({"pattern": "*.log"}))), ["sub/keep.log"]);
}

#[test]
fn nothing_above_the_workspace_hides_anything_in_it() {
    let place = Place::new();
    write(&place.outer.path().join(".gitignore"), b"*\n");
    write(&place.outer.path().join(".ignore"), b"*\n");
    write(&place.outer.path().join(".git/info/exclude"), b"*\n");
    place.file("a.txt", "x\n");
    assert_eq!(lines(&place.says("grep", json!({"pattern": "^x"}))), ["a.txt:1:x"]);
    assert_eq!(lines(&place.says("list", json!({}))), ["a.txt  2 bytes"]);
}

#[test]
fn binary_files_are_left_out_and_counted() {
    let place = Place::new();
    place.file("a.bin", b"x\n\0x\n").file("b.txt", "x\n");
    // Text in UTF-16 is no binary file, if it says so.
    let wide: Vec<u8> = "\u{feff}x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.file("wide.txt", wide);
    let text = place.says("grep", json!({"pattern": "x"}));
    assert_eq!(lines(&text), ["b.txt:1:x", "wide.txt:1:x"]);
    assert!(last(&text).contains("1 binary"), "{text}");
}

#[test]
fn a_vanished_workspace_is_an_answer() {
    let place = Place::new();
    #[expect(clippy::disallowed_methods, reason = "the test is about a workspace that is gone")]
    fs::remove_dir_all(place.root()).unwrap();
    for (tool, args) in
        [("list", json!({})), ("glob", json!({"pattern": "*"})), ("grep", json!({"pattern": "x"}))]
    {
        let why = place.fails(tool, args.clone());
        assert!(why.contains("is gone"), "{tool}: {why}");
        // Something else in its place is not the workspace.
        write(&place.root().join("x"), b"x");
        let why = place.fails(tool, args);
        assert!(why.contains("is gone"), "{tool}: {why}");
        #[expect(
            clippy::disallowed_methods,
            reason = "the test is about a workspace that is gone"
        )]
        fs::remove_dir_all(place.root()).unwrap();
    }
}

#[test]
fn what_vanishes_meanwhile_is_missing_and_nothing_else() {
    let place = Place::new();
    let root = place.root();
    for at in 0..50 {
        place.file(format!("stays/{at}.txt"), "x\n").file(format!("goes/{at}.txt"), "x\n");
    }
    let outside = place.outer.path().join("gone");
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                rustix::fs::rename(root.join("goes"), &outside).unwrap();
                std::thread::yield_now();
                rustix::fs::rename(&outside, root.join("goes")).unwrap();
            }
        });
        for _ in 0..20 {
            let text = place.says("grep", json!({"pattern": "x", "limit": 1000}));
            let found = lines(&text);
            assert_eq!(found.iter().filter(|it| it.starts_with("stays/")).count(), 50, "{text}");
            assert!(found.iter().all(|it| it.starts_with("stays/") || it.starts_with("goes/")));
            place.says("list", json!({"recursive": true}));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_loop_of_links_is_an_answer() {
    let place = Place::new();
    place.file("a.txt", "x\n");
    symlink("two", place.root().join("one")).unwrap();
    symlink("one", place.root().join("two")).unwrap();
    for (tool, args) in [
        ("list", json!({"path": "one"})),
        ("glob", json!({"pattern": "*", "path": "one"})),
        ("grep", json!({"pattern": "x", "path": "one/two"})),
    ] {
        assert!(!place.fails(tool, args).is_empty(), "{tool}");
    }
    assert_eq!(lines(&place.says("grep", json!({"pattern": "x"}))), ["a.txt:1:x"]);
}
