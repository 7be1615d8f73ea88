//! The `*** Begin Patch` form.

use proptest::prelude::*;

use super::*;

#[test]
fn all_kinds_of_file_in_one_patch() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+three\n*** Delete File: old.txt\n*** Update File: from.py\n*** Move to: to.py\n@@ def f():\n-    return 1\n+    return 2\n*** Update File: log\n@@\n+last\n*** End of File\n*** End Patch\n";
    let files = parse(patch).unwrap();
    let kinds: Vec<_> = files.iter().map(|it| (it.kind, it.source(), it.path.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (Kind::Add, "new.txt", "new.txt"),
            (Kind::Delete, "old.txt", "old.txt"),
            (Kind::Move, "from.py", "to.py"),
            (Kind::Update, "log", "log"),
        ]
    );
    assert_eq!(files[0].apply(None).unwrap().text.unwrap(), "one\n\nthree\n");
    assert_eq!(files[1].apply(Some("anything")).unwrap().text, None);
    let python = "def e():\n    return 1\n\ndef f():\n    return 1\n";
    let moved = files[2].apply(Some(python)).unwrap();
    assert_eq!(moved.text.unwrap(), "def e():\n    return 1\n\ndef f():\n    return 2\n");
    assert_eq!(files[3].apply(Some("first\n")).unwrap().text.unwrap(), "first\nlast\n");
}

#[test]
fn anchors_and_ends_of_files_say_where() {
    let old =
        "class A:\n    def run(self):\n        pass\nclass B:\n    def run(self):\n        pass\n";
    let second =
        "class A:\n    def run(self):\n        pass\nclass B:\n    def run(self):\n        go()\n";
    let hunk = "@@ class B:\n@@     def run(self):\n-        pass\n+        go()";
    assert_eq!(exactly(old, &update(hunk)), second);
    assert_eq!(
        exactly(old, &update("@@ class B\n-        pass\n+        go()")),
        second,
        "its beginning is enough"
    );
    assert_eq!(exactly(old, &update("@@\n-        pass\n+        go()\n*** End of File")), second);
    assert_eq!(exactly(old, &update("@@ -6,1 +6,1 @@\n-        pass\n+        go()")), second);
    let repeated = "@@ class B:\n class B:\n     def run(self):\n-        pass\n+        go()";
    assert_eq!(exactly(old, &update(repeated)), second, "the line may be there again");
    let before = rejected("one\ntwo\n", &update("@@ two\n-one\n+1"));
    assert!(before.contains("not in the file after the line that `@@` names"), "{before}");
    assert_eq!(exactly("a\nb\n", &update("@@ a\n+between")), "a\nbetween\nb\n");
}

#[test]
fn what_models_put_around_it_is_skipped() {
    let patch = update("@@\n-a\n+b");
    for (before, after) in [
        ("```\n", "```\n"),
        ("```diff\n\n", "\n```"),
        ("apply_patch <<'EOF'\n", "EOF\n"),
        ("\n", "\n\n"),
    ] {
        assert_eq!(exactly("a\n", &format!("{before}{patch}{after}")), "b\n");
    }
    assert_eq!(exactly("a\n", &patch.replace('\n', "\r\n")), "b\n");
    assert_eq!(exactly("a\n", &update("-a\n+b\n\n")), "b\n", "no `@@` before the first hunk");
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let table = [
        (
            "*** Begin Patch\n*** Update File: f\n-a\n+b\n",
            "line 5 of the patch: `*** End Patch` is missing",
        ),
        (
            "*** Update File: f\n-a\n+b\n*** End Patch\n",
            "line 1 of the patch: the patch does not begin with",
        ),
        ("*** Begin Patch\n*** End Patch\n", "line 1 of the patch: the patch is empty"),
        (
            "*** Begin Patch\n*** Update File:\n-a\n*** End Patch\n",
            "line 2 of the patch: the path is missing",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n*** End Patch\n",
            "line 2 of the patch: the patch has no hunk for `f`",
        ),
        (
            "*** Begin Patch\n*** Rename File: f\n*** End Patch\n",
            "line 2 of the patch: `*** Rename File: f` is not a header",
        ),
        (
            "*** Begin Patch\n*** Add File: f\nhello\n*** End Patch\n",
            "line 3 of the patch: `hello` has no `+` in front",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch\n",
            "line 5 of the patch: `b` is neither",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n a\n*** End Patch\n",
            "line 3 of the patch: the hunk changes nothing",
        ),
        (
            "*** Begin Patch\n*** Delete File: f\n*** End Patch\nand more\n",
            "line 4 of the patch: `and more` is outside",
        ),
        (
            "*** Begin Patch\n*** Delete File: f\n*** End Patch\n*** Begin Patch\n*** End Patch\n",
            "line 4 of the patch: `*** Begin Patch` is outside",
        ),
    ];
    for (patch, message) in table {
        let refusal = refused(patch);
        assert!(refusal.starts_with(message), "{patch}\n{refusal}");
    }
}

/// Old and new text as one hunk.
fn rewrite(old: &str, new: &str) -> String {
    let marked =
        |mark: char, text: &str| text.lines().map(|it| format!("{mark}{it}\n")).collect::<String>();
    format!(
        "*** Begin Patch\n*** Update File: f\n@@\n{}{}*** End of File\n*** End Patch\n",
        marked('-', old),
        marked('+', new)
    )
}

proptest! {
    #[test]
    fn rewriting_a_text_makes_the_other(old in "([ab*@+ -]{0,4}\n){0,8}", new in "([ab*@+ -]{0,4}\n){0,8}") {
        prop_assume!(old != new);
        prop_assert_eq!(patched(&old, &rewrite(&old, &new)).0, new);
    }

    #[test]
    fn replacing_unique_lines_makes_what_was_meant(lines in 1_usize..30, at in 0_usize..30, new in "[a-z*@+ -]{0,9}") {
        let (old, at) = (numbered(lines), at % lines + 1);
        let patch = update(&format!("@@\n-line {at}\n+{new}"));
        let naive: String = (1..=lines).map(|it| if it == at { format!("{new}\n") } else { format!("line {it}\n") }).collect();
        prop_assert_eq!(exactly(&old, &patch), naive);
    }
}
