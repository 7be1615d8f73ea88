//! Hunks that lie where the patch says, elsewhere, or almost.

use super::*;

#[test]
fn exact_hunks_apply_without_a_note() {
    let old = numbered(10);
    let patch = unified(
        "@@ -2,3 +2,3 @@\n line 2\n-line 3\n+three\n line 4\n@@ -9,2 +9,3 @@ line 8\n line 9\n+nine and a half\n line 10",
    );
    let new = old.replace("line 3\n", "three\n").replace("line 10\n", "nine and a half\nline 10\n");
    assert_eq!(exactly(&old, &patch), new);
}

#[test]
fn an_offset_is_found_and_reported() {
    let old = format!("{}{}", "new\n".repeat(30), numbered(10));
    let (text, notes) = patched(
        &old,
        &unified(
            "@@ -2,3 +2,3 @@\n line 2\n-line 3\n+three\n line 4\n@@ -9,2 +9,2 @@\n line 9\n-line 10\n+ten",
        ),
    );
    assert_eq!(text, old.replace("line 3\n", "three\n").replace("line 10\n", "ten\n"));
    assert_eq!(
        notes,
        [
            "hunk 1 was applied at line 32, 30 lines later than the patch says",
            "hunk 2 was applied at line 39, 30 lines later than the patch says",
        ]
    );
}

#[test]
fn what_is_overlooked_is_reported() {
    let table = [
        ("a  \nb\nc\n", " a\n-b\n+B\n c", "a  \nB\nc\n", "overlooking blanks at the end of lines"),
        ("\ta\n\tb\n", " a\n-b\n+\tB", "\ta\n\tB\n", "overlooking indentation"),
        (
            "it’s\nb\n",
            " it's\n-b\n+B",
            "it’s\nB\n",
            "overlooking indentation and the kind of quotes and dashes",
        ),
        (
            "x\nkeep\nold\nend\n",
            " y\n keep\n-old\n+new\n end",
            "x\nkeep\nnew\nend\n",
            "ignoring 1 line of context before it",
        ),
        (
            "keep\nold\nx\n",
            " keep\n-old\n+new\n end",
            "keep\nnew\nx\n",
            "ignoring 1 line of context after it",
        ),
    ];
    for (old, hunk, new, note) in table {
        for patch in [unified(&format!("@@\n{hunk}")), update(&format!("@@\n{hunk}"))] {
            let (text, notes) = patched(old, &patch);
            assert_eq!(text, new);
            let line = notes.concat();
            assert!(
                line.starts_with("hunk 1 was applied at line ") && line.ends_with(note),
                "{line}"
            );
        }
    }
}

#[test]
fn wrong_numbers_are_overlooked_and_reported() {
    let note =
        "hunk 1 was applied at line 1, although the numbers in its header do not fit its lines";
    for header in ["@@ -1,7 +1,9 @@", "@@ -1,1 +1,1 @@", "@@ -1,0 +1 @@"] {
        let hunk = format!("{header}\n a\n-b\n+B\n c\n");
        let (text, notes) = patched("a\nb\nc\n", &unified(&hunk));
        assert_eq!((text.as_str(), notes), ("a\nB\nc\n", vec![note.to_owned()]), "{header}");
    }
}

#[test]
fn lost_spaces_of_empty_lines_are_overlooked() {
    assert_eq!(exactly("a\n\nb\n", &unified("@@ -1,3 +1,3 @@\n a\n\n-b\n+c")), "a\n\nc\n");
    assert_eq!(exactly("a\n\nb\n", &update("@@\n a\n\n-b\n+c")), "a\n\nc\n");
}

#[test]
fn line_ends_are_those_of_the_file() {
    let table = [
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nB2\r\nc\r\n"),
        ("a\nb\nc\n", "a\nB\nB2\nc\n"),
        ("a\nb\r\nc\n", "a\nB\r\nB2\r\nc\n"),
        ("a\rb\rc", "a\rB\rB2\rc"),
        ("a\nb\nc", "a\nB\nB2\nc"),
    ];
    for (old, new) in table {
        let hunk = "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c";
        assert_eq!(exactly(old, &unified(hunk)), new, "{old:?}");
        assert_eq!(exactly(old, &unified(hunk).replace('\n', "\r\n")), new, "{old:?}");
        assert_eq!(exactly(old, &update(hunk)), new, "{old:?}");
    }
    let literal = "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b";
    assert_eq!(exactly("a\r\nb\r\n", &unified(literal)), "a\r\nb\n", "the patch is particular");
}

#[test]
fn a_last_line_without_end_gets_one_when_lines_follow() {
    assert_eq!(exactly("a\nb", &unified("@@ -2 +2,2 @@\n b\n+c")), "a\nb\nc\n");
    let marked =
        "@@ -2 +2,2 @@\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file";
    assert_eq!(exactly("a\nb", &unified(marked)), "a\nb\nc");
}

#[test]
fn hunks_may_come_in_any_order_and_share_context() {
    let old = numbered(6);
    let hunks =
        "@@\n line 4\n-line 5\n+five\n line 6\n@@\n line 1\n-line 2\n+two\n line 3\n line 4";
    let new = old.replace("line 5", "five").replace("line 2", "two");
    assert_eq!(exactly(&old, &unified(hunks)), new);
    assert_eq!(exactly(&old, &update(hunks)), new);
}

#[test]
fn all_files_or_none() {
    let patch =
        "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-1\n+I\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-2\n+II\n";
    let read = |two: &'static str| {
        move |path: &str| Ok(Some(if path == "one" { "1\n" } else { two }.into()))
    };
    let files = parse(patch).unwrap();
    assert_eq!(apply_all(&files, read("2\n")).unwrap().len(), 2);
    let err = apply_all(&files, read("3\n")).unwrap_err();
    let message = err.to_string();
    assert!(
        message.starts_with(
            "the patch does not fit 1 of 2 files, so nothing was changed\n`two`: hunk 1 of 1"
        ),
        "{message}"
    );
    let err = apply_all(&files, |_| Err("it is a directory".to_owned())).unwrap_err();
    assert_eq!(err.to_string(), "`one` cannot be read: it is a directory; nothing was changed");
}

#[test]
fn files_change_places_and_are_changed_twice() {
    let world =
        |path: &str| Ok(["a", "b"].contains(&path).then(|| format!("was {path}\n").into_bytes()));
    let contents = |patch: &str| {
        let outcomes = apply_all(&parse(patch).unwrap(), world).unwrap();
        let text = |it: Option<Vec<u8>>| it.map(|it| String::from_utf8(it).unwrap());
        outcomes.into_iter().map(|it| (it.path, text(it.content))).collect::<Vec<_>>()
    };
    let known = |path: &str, text: Option<&str>| (path.to_owned(), text.map(str::to_owned));
    let swap = "diff --git a/a b/b\nrename from a\nrename to b\ndiff --git a/b b/a\nrename from b\nrename to a\n";
    assert_eq!(contents(swap), [known("a", Some("was b\n")), known("b", Some("was a\n"))]);
    let twice = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-was a\n+is\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-is\n+will be\n";
    assert_eq!(contents(twice), [known("a", Some("will be\n"))]);
    let room =
        "*** Begin Patch\n*** Add File: a\n+new\n*** Update File: a\n*** Move to: c\n*** End Patch";
    assert_eq!(contents(room), [known("a", Some("new\n")), known("c", Some("was a\n"))]);
    let onto = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch";
    let err = apply_all(&parse(onto).unwrap(), world).unwrap_err().to_string();
    assert!(err.contains("`b` exists already"), "{err}");
}

#[test]
fn the_encoding_of_a_file_is_kept() {
    let patch = parse(&unified("@@ -1 +1 @@\n-é\n+è")).unwrap();
    let latin = apply_all(&patch, |_| Ok(Some(b"\xE9\n".to_vec()))).unwrap();
    assert_eq!(latin[0].content.as_deref(), Some(&b"\xE8\n"[..]));
    let wide = apply_all(&patch, |_| Ok(Some(b"\xFF\xFE\xE9\0\r\0\n\0".to_vec()))).unwrap();
    assert_eq!(wide[0].content.as_deref(), Some(&b"\xFF\xFE\xE8\0\r\0\n\0"[..]));
    let err = apply_all(&patch, |_| Ok(Some(b"\0".to_vec()))).unwrap_err().to_string();
    assert!(err.contains("the file is binary"), "{err}");
    let moved = parse("diff --git a/f b/g\nrename from f\nrename to g\n").unwrap();
    let binary = |path: &str| Ok((path == "f").then(|| b"\0".to_vec()));
    assert_eq!(apply_all(&moved, binary).unwrap()[1].content.as_deref(), Some(&b"\0"[..]));
}
