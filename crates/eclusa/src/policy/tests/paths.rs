//! Paths in words alone, and globs over them.

use super::*;
use crate::policy::paths::{Globs, PathLocation, Root};

/// S1.18, S4.11, S4.12, S4.14, S4.16, attacks B: where paths lead.
/// Shows S4.11.
#[test]
fn paths_stay_in_the_workspace() {
    let root = Root::new("/home/me/ws/".as_ref());
    for (path, inside) in [
        ("a", Some("a")),
        ("a/b.c", Some("a/b.c")),
        ("./a//b/", Some("a/b")),
        (".", Some(".")),
        ("a/..", Some(".")),
        ("a/../b", Some("b")),
        ("...", Some("...")),
        ("/home/me/ws", Some(".")),
        ("/home/me/ws/", Some(".")),
        ("/home/me/ws/a", Some("a")),
        ("/home/me/../me/ws/a", Some("a")),
        ("../ws/a", Some("a")),
        ("//home/me/ws/a", Some("a")),
        ("..", None),
        ("../a", None),
        ("a/../../b", None),
        ("../../../../../../etc/passwd", None),
        ("../ws2/a", None),
        ("/home/me/ws2", None),
        ("/home/me/ws.bak/a", None),
        ("/home/me/ws/../x", None),
        ("/home/me", None),
        ("/", None),
        ("/etc/passwd", None),
        ("~", None),
        ("~/a", None),
        ("~root/a", None),
        ("$HOME/a", None),
        ("${HOME}/a", None),
        ("$(touch pwned).txt", Some("$(touch pwned).txt")),
        ("$", Some("$")),
        ("", None),
        ("a\0b", None),
    ] {
        assert_eq!(root.inside(path).as_deref(), inside, "{path:?}");
        let read = Fake::new(PermissionClass::ReadOnly).touching([read(path)]);
        let want = if inside.is_some() { Allow } else { Deny };
        assert_eq!(decided(&[], &read, json!({})), want, "{path:?}");
        let allowed = [rule(Allow).tool(["*"]).unwrap()];
        let write = Fake::new(PermissionClass::File).touching([write(path)]);
        assert_eq!(decided(&allowed, &write, json!({})), want, "{path:?}");
    }
}

#[test]
fn a_workspace_at_an_unknown_place_holds_nothing_absolute() {
    let root = Root::new("ws".as_ref());
    assert_eq!(root.place("/ws/a"), PathLocation::Outside);
    assert_eq!(root.place("../.."), PathLocation::Outside);
    assert_eq!(root.inside("a").as_deref(), Some("a"));
    let whole = Root::new("/".as_ref());
    assert_eq!(whole.inside("/etc/passwd").as_deref(), Some("etc/passwd"));
    assert_eq!(whole.inside("/").as_deref(), Some("."));
}

/// The pairs are (glob, path, fits a rule that tightens, fits a rule that allows).
#[test]
fn globs_are_read_as_in_ignore_files() {
    for (glob, path, tight, loose) in [
        ("*", ".", true, true),
        ("*", "a/b/c", true, true),
        ("**", "a/b/c", true, true),
        (".env", ".env", true, true),
        (".env", "a/b/.env", true, true),
        (".env", "a/.ENV", true, false),
        (".env", ".env/a", true, false),
        (".env", "x.env", false, false),
        (".env", ".envx", false, false),
        ("*.pem", "a/b.pem", true, true),
        ("*.pem", "a.pem/b", true, false),
        ("src/*", "src/a", true, true),
        ("src/*", "src/a/b", true, false),
        ("src/*", "lib/src/a", false, false),
        ("src/**", "src/a/b", true, true),
        ("src/**", "src", true, false),
        ("**/.ssh/**", "a/.ssh", true, false),
        ("**/**", "a", true, true),
        ("src/", "src/a/b", true, true),
        ("src/", "lib/src/a", true, true),
        ("src", "src/a", true, false),
        ("src", "srcs/a", false, false),
        ("/src/", "src/a", true, true),
        ("/src/", "lib/src/a", false, false),
        ("./src/*.rs", "src/a.rs", true, true),
        ("**/.ssh/**", ".ssh/id", true, true),
        ("**/.ssh/**", "a/b/.ssh/c/d", true, true),
        ("a/{b,c}/?", "a/c/d", true, true),
        ("a/[bc]", "a/d", false, false),
        ("a*b", "a/b", false, false),
    ] {
        let fits = |tightens| Globs::new([glob], tightens).unwrap().fit(path);
        assert_eq!((fits(true), fits(false)), (tight, loose), "{glob} {path}");
    }
}

#[test]
fn exceptions_are_read_the_other_way() {
    let tight = Globs::new([".env.*", "!.env.example"], true).unwrap();
    assert!(tight.fit(".env.local") && !tight.fit("a/.env.example"));
    assert!(tight.fit(".ENV.EXAMPLE"));
    let loose = Globs::new(["src/**", "!secret"], false).unwrap();
    assert!(loose.fit("src/a") && !loose.fit("src/secret/a") && !loose.fit("src/Secret"));
}

/// An absolute path in the workspace means that path; what could be a path of the workspace as well
/// is one, so that no rule becomes wider by where the workspace lies.
#[test]
fn absolute_paths_in_the_workspace_are_read_from_there() {
    let fits = |root: &str, glob: &str, path: &str| {
        let globs = Globs::new([glob], false).unwrap();
        let globs = globs.within(&Root::new(root.as_ref())).unwrap_or(globs);
        globs.fit(path)
    };
    assert!(fits("/home/me/shop", "/home/me/shop/data/**", "data/a/b"));
    assert!(fits("/home/me/shop", "/home/me/shop/data", "data"));
    assert!(!fits("/home/me/shop", "/home/me/shop/data", "a/data"));
    assert!(!fits("/home/me/shop", "/home/me/other/**", "data"));
    assert!(!fits("/home/me/shop", "home/me/shop/**", "data"));
    for glob in ["src/**", "/src/**"] {
        assert!(!fits("/src", glob, "other") && fits("/src", glob, "src/a"), "{glob}");
    }
}
