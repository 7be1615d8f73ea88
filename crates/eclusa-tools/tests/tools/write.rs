//! `write`, `make_dir` and what they keep of a file that is there.

use eclusa::Answer;
use serde_json::json;

use crate::world::World;

/// Shows S4.7.
#[test]
fn a_file_is_made_with_the_directories_on_the_way() {
    let world = World::new();
    let work = world.work("");
    let text = work.done("write", json!({"path": "a/b/c.txt", "content": "one\n"}));
    assert_eq!(text, "made `a/b/c.txt` (4 bytes), and the directories `a`, `a/b`");
    assert_eq!(world.tree(), ["a/", "a/b/", "a/b/c.txt: one\n"]);
    assert_eq!((world.mode("a/b"), world.mode("a/b/c.txt")), (0o755, 0o644));
    let changes = work.last_changes();
    assert_eq!(changes["count"], 3, "{changes}");
    assert_eq!(changes["outcome"], "committed", "{changes}");
}

/// Shows S4.56.
#[test]
fn writing_overwrites_unless_told_otherwise() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    let work = world.work("");
    let text = work.done("write_file", json!({"path": "a.txt", "content": "one\n2\n"}));
    assert_eq!(text, "wrote `a.txt`: +1 -1 (6 bytes)");
    for args in [
        json!({"path": "a.txt", "content": "three\n", "append": true}),
        json!({"path": "a.txt", "content": "four\n", "mode": "append"}),
    ] {
        work.done("Write", args);
    }
    assert_eq!(world.text("a.txt"), "one\n2\nthree\nfour\n");
    let args = json!({"path": "a.txt", "content": "x", "append": true, "mode": "overwrite"});
    assert!(work.fails("write", args).contains("contradict"));
    let said = work.done("write", json!({"path": "a.txt", "content": "one\n2\nthree\nfour\n"}));
    assert_eq!(said, "`a.txt` has this content already; nothing was changed");
    assert!(work.last_changes().is_null());
}

#[test]
fn line_ends_encoding_and_mode_are_those_of_the_file() {
    let world = World::new();
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    world.write("crlf.txt", "one\r\ntwo\r\n");
    world.write("bom.txt", "\u{FEFF}one\n");
    world.write("wide.txt", wide("\u{FEFF}one\r\n"));
    world.write("latin.txt", b"caf\xE9 au lait\n");
    world.write("binary", b"a\0b");
    world.set_mode("crlf.txt", 0o750);
    world.set_mode("wide.txt", 0o4755);
    let work = world.work("");
    for name in ["crlf.txt", "bom.txt", "wide.txt", "latin.txt", "binary"] {
        work.done("write", json!({"path": name, "content": "é\nb\n"}));
    }
    assert_eq!(world.text("crlf.txt"), "é\r\nb\r\n");
    assert_eq!(world.mode("crlf.txt"), 0o750);
    assert_eq!(world.text("bom.txt"), "\u{FEFF}é\nb\n");
    assert_eq!(world.bytes("wide.txt"), wide("\u{FEFF}é\r\nb\r\n"));
    assert_eq!(world.mode("wide.txt"), 0o755, "as the kernel does when a file is written");
    assert_eq!(world.bytes("latin.txt"), b"\xE9\nb\n");
    assert_eq!(world.text("binary"), "é\nb\n");
    // What says its own line ends means them; what the encoding lacks makes it UTF-8.
    work.done("write", json!({"path": "latin.txt", "content": "a\r\nb\n"}));
    assert_eq!(world.bytes("latin.txt"), b"a\r\nb\n");
    world.write("latin2.txt", b"caf\xE9\n");
    let text = work.done("write", json!({"path": "latin2.txt", "content": "日本\n"}));
    assert!(text.ends_with("(the file was Latin-1 (Windows-1252) and is UTF-8 now)"), "{text}");
    assert_eq!(world.text("latin2.txt"), "日本\n");
    // Appending keeps them, too, and does not mix encodings.
    for name in ["crlf.txt", "wide.txt"] {
        work.done("write", json!({"path": name, "content": "c\n", "append": true}));
    }
    assert_eq!(world.text("crlf.txt"), "é\r\nb\r\nc\r\n");
    assert_eq!(world.bytes("wide.txt"), wide("\u{FEFF}é\r\nb\r\nc\r\n"));
    world.write("latin3.txt", b"caf\xE9\n");
    let args = json!({"path": "latin3.txt", "content": "日", "append": true});
    assert!(work.fails("write", args).contains("has no `日`"));
}

/// Shows S1.21.
#[test]
fn a_file_has_a_largest_size_which_can_be_set() {
    let world = World::new();
    world.write("a.txt", "12345678");
    world.write("large.txt", "x".repeat(101));
    let work = world.work("[files]\nmax_size = '100B'\n");
    let long = "x".repeat(101);
    for (tool, args) in [
        ("write", json!({"path": "b.txt", "content": long})),
        ("write", json!({"path": "a.txt", "content": "x".repeat(95), "append": true})),
        ("write", json!({"path": "large.txt", "content": "short"})),
        ("edit", json!({"path": "large.txt", "old_string": "x", "new_string": "y"})),
        ("edit", json!({"path": "a.txt", "old_string": "1", "new_string": long})),
    ] {
        let before = world.tree();
        let said = work.fails(tool, args);
        assert!(said.contains("files of up to 100 bytes"), "{said}");
        assert_eq!(world.tree(), before);
    }
    work.done("write", json!({"path": "b.txt", "content": "x".repeat(100)}));
    let said = work.fails("read", json!({"path": "large.txt"}));
    assert!(said.contains("files of up to 100 bytes") && said.contains("`offset`"), "{said}");
    work.done("read", json!({"path": "large.txt", "offset": 1, "limit": 1}));
    work.done("read", json!({"path": "b.txt"}));
    let default = world.work("");
    let said = default.fails("write", json!({"path": "c", "content": "x".repeat(10485761)}));
    assert!(said.contains("up to 10485760 bytes"), "{said}");
}

#[test]
fn what_is_no_file_is_not_written() {
    let world = World::new();
    world.write("src/a.rs", "x");
    world.write("file", "x");
    let work = world.work("");
    let said = |path: &str| work.fails("write", json!({"path": path, "content": "y"}));
    assert!(said("src").contains("is a directory"));
    assert!(said("file/x").contains("directory where there is none"));
    assert!(said("").contains("empty") || said("").contains("which file"));
    assert!(said("../x").contains("outside") || said("../x").contains("out of"));
    assert_eq!(world.tree(), ["file: x", "src/", "src/a.rs: x"]);
}

#[test]
fn a_link_in_the_workspace_is_followed_and_stays() {
    let world = World::new();
    world.write("real.txt", "old");
    std::os::unix::fs::symlink("real.txt", world.path("link.txt")).unwrap();
    let work = world.work("");
    let text = work.done("write", json!({"path": "link.txt", "content": "new"}));
    assert!(text.starts_with("wrote `real.txt`"), "{text}");
    assert_eq!(world.tree(), ["link.txt -> real.txt", "real.txt: new"]);
}

/// Shows S2.9.
#[test]
fn a_person_is_shown_what_changes_before_it_is_real() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let (work, person) = world.asked(vec![Answer::Once, Answer::No("not so".to_owned())]);
    let args = json!({"path": "a.txt", "content": "two\n"});
    work.done("write", args);
    assert_eq!(world.text("a.txt"), "two\n");
    let said = work.fails("write", json!({"path": "a.txt", "content": "three\n"}));
    assert!(said.contains("not so"), "{said}");
    assert_eq!(world.text("a.txt"), "two\n");
    assert_eq!(work.last_changes()["outcome"], "discarded");
    // A discarded change is none, and the next one is judged by what is there.
    let asked = person.asked.lock().unwrap().len();
    assert_eq!(asked, 2);
    let diff = person.asked.lock().unwrap()[0].preview().unwrap().diff.clone();
    assert!(diff.contains("- one") && diff.contains("+ two"), "{diff}");
    // What changes nothing asks nobody.
    work.done("write", json!({"path": "a.txt", "content": "two\n"}));
    assert_eq!(person.asked.lock().unwrap().len(), 2);
}

#[test]
fn directories_are_made_once() {
    let world = World::new();
    world.write("file", "x");
    let work = world.work("");
    assert_eq!(work.done("make_dir", json!({"path": "a/b/"})), "made the directory `a/b`");
    assert_eq!(world.tree(), ["a/", "a/b/", "file: x"]);
    for path in ["a/b", "a", ".", "a/b/..", "a/b/"] {
        let said = work.done("mkdir", json!({"path": path}));
        assert!(said.contains("exists already; nothing was changed"), "{path}: {said}");
    }
    assert!(work.fails("make_dir", json!({"path": "file"})).contains("is a file"));
    assert!(work.fails("make_dir", json!({"path": "file/x"})).contains("where there is none"));
    assert!(work.fails("make_dir", json!({"path": "../x"})).contains("workspace"));
    assert!(work.call("make_dir", json!({"path": ".git/hooks"})).refused());
    assert!(work.call("make_dir", json!({"path": ".vscode"})).refused());
}

/// Hole 11: attributes are kept, and other names of the file are told.
#[test]
fn attributes_are_kept_and_hard_links_are_told() {
    let world = World::new();
    world.write("a.txt", "one\n");
    std::fs::hard_link(world.path("a.txt"), world.path("b.txt")).unwrap();
    world.write("c.txt", "one\n");
    let none = rustix::fs::XattrFlags::empty();
    // Some file systems have no attributes.
    let kept = rustix::fs::setxattr(world.path("c.txt"), "user.note", b"mine", none).is_ok();
    let work = world.work("");
    let told = "`a.txt` had 1 other name (hard links)";
    let said = work.done("write", json!({"path": "a.txt", "content": "two\n"}));
    assert!(said.contains(told), "{said}");
    assert_eq!((world.text("a.txt"), world.text("b.txt")), ("two\n".into(), "one\n".into()));
    // It is a file of its own now.
    let said = work.done("write", json!({"path": "a.txt", "content": "three\n"}));
    assert!(!said.contains("hard links"), "{said}");
    let edit = json!({"path": "c.txt", "old_string": "one", "new_string": "two"});
    std::fs::hard_link(world.path("c.txt"), world.path("d.txt")).unwrap();
    let said = work.done("edit", edit);
    assert!(said.contains("`c.txt` had 1 other name"), "{said}");
    let said = work.done("write", json!({"path": "c.txt", "content": "three\n"}));
    assert!(!said.contains("hard links"), "{said}");
    if kept {
        let mut value = [0; 8];
        let size = rustix::fs::getxattr(world.path("c.txt"), "user.note", &mut value).unwrap();
        assert_eq!(&value[..size], b"mine");
    }
}
