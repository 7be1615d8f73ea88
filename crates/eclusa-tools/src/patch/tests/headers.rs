//! Headers of unified diffs: names, kinds, modes, and what cannot be read.

use super::*;

fn headers(patch: &str) -> Vec<(String, Option<String>, Kind, Option<u32>)> {
    let files = parse(patch).unwrap();
    files.into_iter().map(|it| (it.path, it.from, it.kind, it.new_mode)).collect()
}

fn one(patch: &str) -> (String, Option<String>, Kind, Option<u32>) {
    let mut all = headers(patch);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn names_lose_their_prefixes() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let table = [
        ("--- a/x\n+++ b/x\n", "x"),
        ("--- x\n+++ x\n", "x"),
        ("--- a/dir/x\t2020-01-01\n+++ b/dir/x\t2020-01-02\n", "dir/x"),
        ("--- i/x\n+++ w/x\n", "x"),
        ("--- a/x\n+++ x\n", "x"),
        ("--- x\n+++ b/x\n", "x"),
        ("--- x.orig\n+++ x\n", "x"),
        ("--- a/with space\n+++ b/with space\n", "with space"),
        ("--- \"a/\\303\\251\\t\\\"\"\n+++ \"b/\\303\\251\\t\\\"\"\n", "é\t\""),
        ("diff --git a/b/x a/b/x\n--- a/b/x\n+++ a/b/x\n", "a/b/x"),
        ("diff --git a/x b/x\nindex 123..456 100644\n--- a/x\n+++ b/x\n", "x"),
        ("Index: x\n=====\n--- x\t(revision 1)\n+++ x\t(working copy)\n", "x"),
        ("--- a/x\r\n+++ b/x\r\n", "x"),
    ];
    for (names, path) in table {
        let read = one(&format!("{names}{hunk}"));
        assert_eq!(read, (path.to_owned(), None, Kind::Update, None), "{names}");
    }
}

#[test]
fn kinds_and_modes_are_read() {
    let owned = |it: &str| Some(it.to_owned());
    assert_eq!(
        one("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"),
        ("x".into(), None, Kind::Add, None)
    );
    assert_eq!(
        one("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ("x".into(), None, Kind::Delete, None)
    );
    assert_eq!(
        one("diff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\n"),
        ("e".into(), None, Kind::Add, Some(0o755))
    );
    assert_eq!(
        one("diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n"),
        ("a b".into(), None, Kind::Update, Some(0o755))
    );
    assert_eq!(
        one("diff --git a/x b/y z\nsimilarity index 100%\nrename from x\nrename to y z\n"),
        ("y z".into(), owned("x"), Kind::Move, None)
    );
    assert_eq!(
        one("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to \"\\303\\251\"\n"),
        ("é".into(), owned("x"), Kind::Copy, None)
    );
}

#[test]
fn letters_and_fences_around_a_diff_are_skipped() {
    let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let letter = format!(
        "From 123 Mon Sep 17\nSubject: hello\n\nsome words\n---\n x | 2 +-\n\n{diff}-- \n2.47.3\n\n"
    );
    assert_eq!(exactly("a\n", &letter), "b\n");
    assert_eq!(parse(&format!("{letter}{letter}")).unwrap().len(), 2);
    assert_eq!(exactly("a\n", &format!("Here it is:\n```diff\n{diff}```\n")), "b\n");
    assert_eq!(exactly("a\n", diff.trim_end()), "b\n");
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let names = "--- a/x\n+++ b/x\n";
    let table: [(String, &str); 17] = [
        (String::new(), "line 1 of the patch: there is no patch here"),
        ("hello\nworld\n".into(), "line 1 of the patch: there is no patch here"),
        (names.into(), "line 1 of the patch: the patch has no hunk for `x`"),
        (format!("{names}@@\n"), "line 3 of the patch: the hunk changes nothing"),
        (format!("{names}@@ @@\n a\n b\n"), "line 3 of the patch: the hunk changes nothing"),
        (
            format!("{names}@@ -1,2 +1,2 @@\n-a\nb\n+c\n"),
            "line 5 of the patch: `b` is neither a header",
        ),
        ("@@ -1 +1 @@\n-a\n+b\n".into(), "line 1 of the patch: the hunk belongs to no file"),
        (
            "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n".into(),
            "line 1 of the patch: the patch names two files, `x` and `y`",
        ),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\n".into(),
            "line 1 of the patch: the patch has no hunk",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\nGIT binary patch\nliteral 3\n".into(),
            "line 3 of the patch: the content of binary files",
        ),
        (
            "diff --git a/x b/x\nnew file mode 120000\n".into(),
            "line 2 of the patch: symbolic links",
        ),
        ("diff --git a/x b/x\nindex 1..2 160000\n".into(), "line 2 of the patch: submodules"),
        (
            "diff --git a/x b/x\nnew mode rwx\n".into(),
            "line 2 of the patch: `rwx` is not a file mode",
        ),
        ("diff --cc x\n@@@ -1 -1 +1 @@@\n".into(), "line 1 of the patch: a combined diff"),
        (
            "diff --git a/x b/y\nrename from x\n".into(),
            "line 1 of the patch: a rename or copy needs both",
        ),
        (
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n a\n+b\n".into(),
            "line 1 of the patch: a new file has no lines",
        ),
        (
            "--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".into(),
            "line 1 of the patch: the quoted name",
        ),
    ];
    for (patch, message) in table {
        let refusal = refused(&patch);
        assert!(refusal.starts_with(message), "{patch}\n{refusal}");
    }
}
