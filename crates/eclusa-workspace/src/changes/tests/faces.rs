//! The faces of changes, looked at.

use std::io;

use insta::assert_snapshot;
use serde_json::json;

use super::*;

/// A little of everything.
fn all_sorts() -> Changes {
    let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    let script = file("#!/bin/sh\nexit 0", 0o644);
    let changes = [
        change("altered.txt", file(old, 0o644), file(&old.replace("two", "zwei"), 0o644)),
        change("bin", bytes(b"\x7fELF\0"), bytes(b"\x7fELF\0\0")),
        change("gone", file("bye\n", 0o644), None),
        change("lib", None, directory()),
        change("lib/new.rs", None, file("fn f() {}\n", 0o600)),
        change("old-link", link("a"), link("b c")),
        change("run.sh", file("x", 0o644), file("x", 0o4755)),
        change("wide.txt", file("a", 0o644), bytes(b"\xff\xfea\0")),
    ];
    Changes::of(changes.into_iter().chain(moved(
        "script",
        "bin dir/script.sh",
        script.clone(),
        file("#!/bin/sh\nexit 1", 0o755),
    )))
}

#[test]
fn a_patch_of_all_sorts() {
    assert_snapshot!(unified(&all_sorts()), @r"
    diff --git a/altered.txt b/altered.txt
    --- a/altered.txt
    +++ b/altered.txt
    @@ -1,5 +1,5 @@
     one
    -two
    +zwei
     three
     four
     five
    diff --git a/bin b/bin
    Binary files a/bin and b/bin differ
    # before: 5 bytes, binary, blake3 1ed4c81629c780d33ab9265dcab79af5bad7c42876a3a017e4631ba0cac5c2a3
    # after: 6 bytes, binary, blake3 eac27375b89583172a5958b8491beedb28efbff055d51f2ce466a62328ff41bb
    diff --git a/script b/bin dir/script.sh
    old mode 100644
    new mode 100755
    rename from script
    rename to bin dir/script.sh
    --- a/script
    +++ b/bin dir/script.sh	
    @@ -1,2 +1,2 @@
     #!/bin/sh
    -exit 0
    \ No newline at end of file
    +exit 1
    \ No newline at end of file
    diff --git a/gone b/gone
    deleted file mode 100644
    --- a/gone
    +++ /dev/null
    @@ -1 +0,0 @@
    -bye
    # directory made: lib (0755)
    # mode 0600: lib/new.rs
    diff --git a/lib/new.rs b/lib/new.rs
    new file mode 100644
    --- /dev/null
    +++ b/lib/new.rs
    @@ -0,0 +1 @@
    +fn f() {}
    diff --git a/old-link b/old-link
    --- a/old-link
    +++ b/old-link
    @@ -1 +1 @@
    -a
    \ No newline at end of file
    +b c
    \ No newline at end of file
    # mode 0644 -> 4755: run.sh
    diff --git a/run.sh b/run.sh
    old mode 100644
    new mode 100755
    diff --git a/wide.txt b/wide.txt
    Binary files a/wide.txt and b/wide.txt differ
    # before: 1 byte, text, blake3 17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f
    # after: 4 bytes, utf-16, blake3 f39266355de47d9a0c94957cb8b6d2ae477ae939955c395553769cbbcb32aec0
    ");
}

#[test]
fn what_a_person_sees_of_all_sorts() {
    assert_snapshot!(shown(&all_sorts()), @r"
    altered altered.txt, +1 -1
    @@ -1,5 +1,5 @@
      one
    - two
    + zwei
      three
      four
      five
    altered bin
    # before: 5 bytes, binary
    # after: 6 bytes, binary
    moved script -> bin dir/script.sh, mode 0644 -> 0755, +1 -1
    @@ -1,2 +1,2 @@
      #!/bin/sh
    - exit 0
    \ no newline at the end
    + exit 1
    \ no newline at the end
    deleted gone, +0 -1
    @@ -1 +0,0 @@
    - bye
    directory made lib, mode 0755
    made lib/new.rs, mode 0600, +1 -0
    @@ -0,0 +1 @@
    + fn f() {}
    link altered old-link, leads to b c, led to a
    altered run.sh, mode 0644 -> 4755
    altered wide.txt
    # before: 1 byte, text
    # after: 4 bytes, utf-16
    ");
}

#[test]
fn one_line_for_all_sorts() {
    assert_snapshot!(summary(&all_sorts()), @"8 files changed, +4 -4 (1 made, 1 deleted, 1 moved, 2 with another mode, 1 link, 2 binary, 1 directory)");
    assert_eq!(summary(&Changes::none()), "nothing changed");
    let one = Changes::of([change("a", file("", 0o644), file("x\n", 0o644))]);
    assert_eq!(summary(&one), "1 file changed, +1 -0");
}

#[test]
fn json_of_a_move_and_an_odd_name() {
    use std::os::unix::ffi::OsStringExt;
    let odd = std::ffi::OsString::from_vec(b"odd\xff".to_vec());
    let node = file("x\n", 0o644);
    let changes = Changes::of([change(&odd, None, file("y", 0o600))].into_iter().chain(moved(
        "a",
        "b",
        node.clone(),
        node,
    )));
    let written = Diff::of(&changes, &InlineContents, Bounds::default()).json();
    assert_eq!(written["v"], 1);
    assert_eq!(written["digest"], changes.digest().to_string());
    assert_eq!(written["summary"]["text"], "2 files changed, +1 -0 (1 made, 1 moved)");
    let file = json!({
        "kind": "file",
        "digest": ContentDigest::of(b"x\n").to_string(),
        "size": 2,
        "mode": "0644",
    });
    let odd = json!({
        "kind": "file",
        "digest": ContentDigest::of(b"y").to_string(),
        "size": 1,
        "mode": "0600",
        "content": "text",
    });
    assert_eq!(
        written["changes"],
        json!([
            { "path": "a", "change": "left", "before": file, "after": null, "added": 0, "removed": 0 },
            { "path": "b", "from": { "path": "a" }, "change": "moved", "before": null, "after": file,
              "added": 0, "removed": 0 },
            { "path": "odd\u{fffd}", "path_hex": "6f6464ff", "change": "made", "before": null,
              "after": odd, "added": 1, "removed": 0 },
        ])
    );
}

#[test]
fn acp_has_a_diff_for_each_text_and_words_for_the_rest() {
    let changes = Changes::of([
        change("a", file("x\n", 0o644), file("y\n", 0o644)),
        change("b", None, file("new\n", 0o644)),
        change("c", file("bye\n", 0o644), None),
        change("d", None, link("a")),
    ]);
    let diff = Diff::of(&changes, &InlineContents, Bounds::default());
    let words =
        |text: &str| json!({ "type": "content", "content": { "type": "text", "text": text } });
    assert_eq!(
        diff.acp("/ws".as_ref()),
        [
            json!({ "type": "diff", "path": "/ws/a", "oldText": "x\n", "newText": "y\n" }),
            json!({ "type": "diff", "path": "/ws/b", "oldText": null, "newText": "new\n" }),
            json!({ "type": "diff", "path": "/ws/c", "oldText": "bye\n", "newText": "" }),
            words("deleted c, +0 -1"),
            words("link made d, leads to a"),
        ]
    );
    let mcp = diff.mcp();
    let text = mcp[0]["text"].as_str().unwrap();
    assert_eq!(mcp.len(), 1);
    assert!(text.starts_with("4 files changed, +3 -2 (2 made, 1 deleted, 1 link)\n\ndiff --git"));
}

/// What is not at hand is read, once, and must be what the digest says.
#[test]
fn contents_are_read_where_they_are() {
    let mut one = change("x", file("old\n", 0o644), file("new\n", 0o644));
    for node in [&mut one.before, &mut one.after].into_iter().flatten() {
        let Node::File(file) = node else { panic!() };
        file.content = Content::InPlace;
    }
    let changes = Changes::of([one]);
    let right = |_: &Change, side: Side| -> io::Result<Vec<u8>> {
        Ok(if side == Side::Before { b"old\n".to_vec() } else { b"new\n".to_vec() })
    };
    let told = Diff::of(&changes, &right, Bounds::default());
    assert!(told.unified().ends_with("@@ -1 +1 @@\n-old\n+new\n"));
    assert_eq!(told.lines(), Some(2));

    let other = |_: &Change, _: Side| -> io::Result<Vec<u8>> { Ok(b"bad\n".to_vec()) };
    let gone = |_: &Change, _: Side| -> io::Result<Vec<u8>> { Err(io::Error::other("no disk")) };
    let wrong: [(&dyn Contents, &str); 3] = [
        (&other, "the content has changed since"),
        (&gone, "the content cannot be read: no disk"),
        (&InlineContents, "the content cannot be read: nobody here can read it"),
    ];
    for (contents, why) in wrong {
        let diff = Diff::of(&changes, contents, Bounds::default());
        assert!(diff.unified().contains(&format!("# the lines are left out: {why}\n")));
        assert!(diff.shown().contains(&format!("# the lines are left out: {why}\n")));
        assert_eq!(diff.lines(), None);
        assert_eq!(diff.json()["changes"][0]["unread"], why);
        assert_eq!(diff.json()["changes"][0].get("added"), None);
        assert_eq!(diff.summary().uncounted, 1);
    }
    let bounds = Bounds { read: 7, ..Bounds::default() };
    let diff = Diff::of(&changes, &right, bounds);
    assert!(diff.unified().contains("7 bytes of other files were read already"));
}

/// A person is never shown more than they can read, and always told that there is more.
#[test]
fn what_does_not_fit_is_counted() {
    let lines: String = (0..100).map(|it| format!("line {it}\n")).collect();
    let changes = Changes::of([
        change("a", None, file(&lines, 0o644)),
        change("b", file("x\n", 0o644), file("y\n", 0o644)),
    ]);
    let bounds = Bounds { shown: 40, ..Bounds::default() };
    assert_snapshot!(Diff::of(&changes, &InlineContents, bounds).shown(), @"
    made a, mode 0644, +100 -0
    @@ -0,0 +1,100 @@
    + line 0
    + line 1
    + line 2
    + line 3
    + line 4
    # … 95 more added lines
    altered b, +1 -1
    # … 1 more added line, 1 more removed line
    ");
}

/// What is usual in source code is readable: tabs are drawn, and how lines end is told once.
#[test]
fn tabs_and_line_ends_are_no_noise() {
    let go = "func main() {\n\tif x {\n\t\tfoo(1,\t2)\n\t}\n}\n";
    let changes = Changes::of([
        change("main.go", None, file(go, 0o644)),
        change("dos.txt", file("a\r\nb\r\n", 0o644), file("a\r\nc\r\n", 0o644)),
        change("turned.txt", file("a\n", 0o644), file("a\r\n", 0o644)),
        change("mixed.txt", file("a\n", 0o644), file("a\nb\r\n", 0o644)),
        change("drawn.txt", None, file("→   not\ta tab\n", 0o644)),
    ]);
    assert_snapshot!(shown(&changes), @r"
    altered dos.txt, +1 -1, CRLF
    @@ -1,2 +1,2 @@
      a
    - b
    + c
    made drawn.txt, mode 0644, +1 -0
    @@ -0,0 +1 @@
    + →   not\u{9}a tab
    made main.go, mode 0644, +5 -0
    @@ -0,0 +1,5 @@
    + func main() {
    + →   if x {
    + →   →   foo(1,→   2)
    + →   }
    + }
    altered mixed.txt, +1 -0
    @@ -1 +1,2 @@
      a
    + b\u{D}
    altered turned.txt, +1 -1, line ends LF -> CRLF
    @@ -1 +1 @@
    - a
    + a
    ");
}

/// Nothing in a line or a name can fool the reader: bidi marks, escapes, spaces, look-alikes.
#[test]
fn hidden_characters_are_seen() {
    let sly = "ok\u{202e}txt\n\u{1b}[2Kgone\n    indented\ntrailing  \ncurl \u{441}url\r\n";
    let changes = Changes::of([
        change("a\nmade b", None, file(sly, 0o644)),
        change("l\u{200b}", None, link("/etc\n+ x")),
    ]);
    assert_snapshot!(shown(&changes), @r"
    made a⏎made b, mode 0644, +5 -0
    @@ -0,0 +1,5 @@
    + ok\u{202E}txt
    + \u{1B}[2Kgone
    +     indented
    + trailing⟨␠×2⟩
    + curl с⟨U+0441⟩url\u{D}
    link made l\u{200B}, leads to /etc⏎+ x
    ");
}
