//! `apply_patch`, `delete` and `move`.

use serde_json::json;

use crate::world::{MAY_DELETE, NO_DELETE, World};

#[test]
fn a_patch_makes_changes_moves_and_deletes_files_all_at_once() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\n");
    world.write("old.txt", "same\n");
    world.write("gone.txt", "bye\n");
    world.set_mode("a.txt", 0o644);
    world.set_mode("old.txt", 0o600);
    let patch = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\ndiff --git a/old.txt b/dir/new.txt\nsimilarity index 100%\nrename from old.txt\nrename to dir/new.txt\ndiff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\ndiff --git a/made.txt b/made.txt\nnew file mode 100644\n--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+hello\n";
    let work = world.work(MAY_DELETE);
    let text = work.done("apply_patch", json!({"patch": patch}));
    let told = "applied the patch to 4 files\nchanged `a.txt`: +1 -1\nmoved `old.txt` to `dir/new.txt`\nmade `made.txt`: +1 -0\ndeleted `gone.txt`";
    assert_eq!(text, told);
    let tree = ["a.txt: one\n2\nthree\n", "dir/", "dir/new.txt: same\n", "made.txt: hello\n"];
    assert_eq!(world.tree(), tree);
    assert_eq!((world.mode("a.txt"), world.mode("dir/new.txt")), (0o755, 0o600));
}

#[test]
fn a_patch_lets_only_those_run_a_file_who_may_read_it() {
    for (before, after) in [(0o600, 0o700), (0o640, 0o750), (0o644, 0o755)] {
        let world = World::new();
        world.write("a.txt", "one\n");
        world.set_mode("a.txt", before);
        let patch = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n";
        world.work(MAY_DELETE).done("apply_patch", json!({"patch": patch}));
        assert_eq!(world.mode("a.txt"), after);
    }
}

/// Shows C25.
#[test]
fn a_patch_deletes_nothing_where_deleting_is_off_and_then_does_nothing_else_either() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let patch =
        "*** Begin Patch\n*** Add File: b.txt\n+new\n*** Delete File: a.txt\n*** End Patch\n";
    let reply = world.work(NO_DELETE).call("ApplyPatch", json!({"patch": patch}));
    assert!(reply.refused() && reply.content().contains("effects.delete"), "{}", reply.content());
    assert_eq!(world.tree(), ["a.txt: one\n"]);
    world.work(MAY_DELETE).done("apply_patch", json!({"patch": patch}));
    assert_eq!(world.tree(), ["b.txt: new\n"]);
}

#[test]
fn a_patch_that_does_not_fit_is_explained_hunk_by_hunk() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.write("b.txt", "one\ntwo\nthree\nfour\n");
    let work = world.work("");
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-zwei\n+2\n";
    let said = work.fails("apply_patch", json!({"patch": patch}));
    assert!(said.contains("does not fit 1 of 2 files"), "{said}");
    assert!(said.contains("hunk 1 of 1") && said.contains("`b.txt`"), "{said}");
    let fuzzy = "--- a/b.txt\n+++ b/b.txt\n@@ -2,2 +2,2 @@\n three\n-four\n+4\n";
    let said = work.done("apply_patch", json!({"patch": fuzzy}));
    assert!(said.contains("hunk 1 was applied at line 3"), "{said}");
    let said = work.fails("apply_patch", json!({"patch": "no patch at all"}));
    assert!(said.contains("line 1 of the patch") || said.contains("patch"), "{said}");
    let missing = "--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-x\n+y\n";
    assert!(work.fails("apply_patch", json!({"patch": missing})).contains("does not exist"));
    assert_eq!(world.tree(), ["a.txt: one\n", "b.txt: one\ntwo\nthree\n4\n"]);
}

#[test]
fn a_patch_cannot_reach_what_no_other_tool_can() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.write(".env", "K=1\n");
    std::fs::write(world.dir.path().join("outside.txt"), "one\n").unwrap();
    std::os::unix::fs::symlink("a.txt", world.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("../outside.txt", world.path("out.txt")).unwrap();
    let work = world.work(MAY_DELETE);
    let before = world.tree();
    for path in ["../outside.txt", ".env", "out.txt", ".git/hooks/pre-commit", ".husky/pre-commit"]
    {
        for patch in [
            format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+x\n*** End Patch\n"),
            format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"),
            format!(
                "*** Begin Patch\n*** Update File: a.txt\n*** Move to: {path}\n@@\n-one\n+x\n*** End Patch\n"
            ),
        ] {
            work.fails("apply_patch", json!({"patch": patch}));
            assert_eq!(world.tree(), before, "{patch}");
        }
    }
    // Two names of one file, and a link that is meant itself.
    let twice = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+x\n*** Update File: link.txt\n@@\n-one\n+y\n*** End Patch\n";
    assert!(work.fails("apply_patch", json!({"patch": twice})).contains("same file"));
    let link = "*** Begin Patch\n*** Delete File: link.txt\n*** End Patch\n";
    assert!(work.fails("apply_patch", json!({"patch": link})).contains("is a link"));
    assert_eq!(world.tree(), before);
}

/// Shows S4.8, C25.
#[test]
fn nothing_is_deleted_unless_deleting_is_on() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let work = world.work(NO_DELETE);
    for name in ["delete", "delete_file"] {
        let reply = work.call(name, json!({"path": "a.txt"}));
        assert!(reply.refused(), "{}", reply.content());
        assert!(reply.content().contains("effects.delete"), "{}", reply.content());
        // Checked before anything else: nothing was looked at, and what is not there is not told.
        let reply = work.call(name, json!({"path": "missing.txt"}));
        assert_eq!(reply.code(), "denied_by_policy", "{}", reply.content());
        assert!(!reply.content().contains("no such file"), "{}", reply.content());
    }
    let args = json!({"from": "a.txt", "to": "b.txt", "overwrite": true});
    world.write("b.txt", "two\n");
    assert!(work.call("move", args.clone()).refused());
    assert_eq!(world.tree(), ["a.txt: one\n", "b.txt: two\n"]);
    let work = world.work(MAY_DELETE);
    work.done("move", args);
    assert_eq!(work.done("delete", json!({"path": "b.txt"})), "deleted the file `b.txt`");
    assert!(world.tree().is_empty());
    assert!(work.fails("delete", json!({"path": "b.txt"})).contains("no such file"));
}

#[test]
fn directories_are_deleted_as_a_whole_and_links_are_not_followed() {
    let world = World::new();
    world.write("dir/sub/a.txt", "one\n");
    world.write("dir/~b", "two\n");
    world.write("keep.txt", "kept\n");
    std::fs::create_dir(world.path("empty")).unwrap();
    std::os::unix::fs::symlink("../keep.txt", world.path("dir/link")).unwrap();
    std::os::unix::fs::symlink("dir", world.path("alias")).unwrap();
    let work = world.work(MAY_DELETE);
    let said = work.fails("delete", json!({"path": "dir"}));
    assert!(said.contains("set `recursive`"), "{said}");
    work.done("delete", json!({"path": "empty"}));
    assert_eq!(work.done("delete", json!({"path": "alias"})), "deleted the link `alias`");
    let said = work.done("delete", json!({"path": "dir", "recursive": true}));
    assert_eq!(said, "deleted the directory `dir` and 4 things in it");
    assert_eq!(world.tree(), ["keep.txt: kept\n"]);
    for path in [".", "", "..", "./"] {
        work.fails("delete", json!({"path": path, "recursive": true}));
    }
    world.write("dir/.env", "K=1\n");
    let said = work.fails("delete", json!({"path": "dir", "recursive": true}));
    assert!(said.contains("1 blocked file"), "{said}");
    assert_eq!(world.tree(), ["dir/", "dir/.env: K=1\n", "keep.txt: kept\n"]);
}

#[test]
fn things_are_moved_and_nothing_is_overwritten_unawares() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.write("dir/sub/b.txt", "two\n");
    world.set_mode("a.txt", 0o640);
    std::os::unix::fs::symlink("b.txt", world.path("dir/sub/link")).unwrap();
    let work = world.work("");
    let text = work.done("move", json!({"from": "a.txt", "to": "x/y/c.txt"}));
    assert_eq!(text, "moved the file `a.txt` to `x/y/c.txt`");
    assert_eq!((world.text("x/y/c.txt").as_str(), world.mode("x/y/c.txt")), ("one\n", 0o640));
    let text = work.done("rename", json!({"from": "dir", "to": "elsewhere"}));
    assert_eq!(text, "moved the directory `dir` and 3 things in it to `elsewhere`");
    let tree = [
        "elsewhere/",
        "elsewhere/sub/",
        "elsewhere/sub/b.txt: two\n",
        "elsewhere/sub/link -> b.txt",
        "x/",
        "x/y/",
        "x/y/c.txt: one\n",
    ];
    assert_eq!(world.tree(), tree);
    for (from, to, part) in [
        ("elsewhere", "elsewhere/sub/in", "into itself"),
        ("x/y/c.txt", "elsewhere", "whole new path, such as `elsewhere/c.txt`"),
        ("x/y/c.txt", "elsewhere/sub/b.txt", "set `overwrite`"),
        ("x/y/c.txt", "x/y/../y/c.txt", "exists already"),
        ("nope", "z", "no such file"),
        ("x/y/c.txt", ".env", "secrets"),
        ("x/y/c.txt", "../z", "workspace"),
        ("elsewhere", ".git", "git"),
    ] {
        let said = work.fails("move_file", json!({"from": from, "to": to}));
        assert!(said.contains(part), "{from} {to}: {said}");
        assert_eq!(world.tree(), tree);
    }
}

#[test]
fn what_may_not_be_read_is_not_moved_to_where_it_may() {
    let world = World::new();
    world.write("dir/private/a.txt", "secret\n");
    let rule = "[[rules]]\nid = 'p'\ndecision = 'deny'\naccess = 'read'\npath = '**/private/**'\n";
    let work = world.work(rule);
    for (from, to) in [("dir/private/a.txt", "a.txt"), ("dir", "public")] {
        work.fails("move", json!({"from": from, "to": to}));
    }
    assert_eq!(world.tree(), ["dir/", "dir/private/", "dir/private/a.txt: secret\n"]);
}

#[test]
fn images_are_read_as_images() {
    let world = World::new();
    let png = [b"\x89PNG\r\n\x1A\n".as_slice(), &[7; 100_000]].concat();
    world.write("a.png", &png);
    world.write("large.jpg", [b"\xFF\xD8\xFF".as_slice(), &vec![7; 5 << 20]].concat());
    let work = world.work("");
    let reply = work.call("read", json!({"path": "a.png"}));
    assert_eq!(reply.text(), "`a.png` is an image (image/png, 100008 bytes)");
    let [eclusa::Attachment::Image(image)] = reply.attachments() else {
        panic!("{:?}", reply.attachments())
    };
    assert_eq!(image.media_type, "image/png");
    assert_eq!(*image.bytes, *png);
    let reply = work.call("read", json!({"path": "large.jpg"}));
    assert!(
        reply.attachments().is_empty() && reply.text().contains("is not shown"),
        "{}",
        reply.text()
    );
}
