//! Nothing panics or hangs, whatever the patch and the file.

use proptest::prelude::*;

use super::*;

const GOOD: [&str; 4] = [
    "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ x\n a\n-b\n+c\n\\ No newline at end of file\n",
    "diff --git \"a/\\303\\251\" b/g\nsimilarity index 90%\nrename from \"\\303\\251\"\nrename to g\n--- \"a/\\303\\251\"\n+++ b/g\n@@ -1 +1,2 @@\n a\n+b\n",
    "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ a\n@@ -1,2 +2 @@\n b\n-c\n+d\n*** End of File\n*** Add File: h\n+x\n*** Delete File: i\n*** End Patch\n",
    "--- /dev/null\r\n+++ b/f\r\n@@ -0,0 +1,2 @@\r\n+a\r\n+b\r\n",
];

fn survives(patch: &str, file: Option<&str>) {
    let Ok(files) = parse(patch) else { return };
    for file_patch in &files {
        if let Err(err) = file_patch.apply(file) {
            assert!(!err.to_string().is_empty());
        }
    }
    let _ = apply_all(&files, |_| Ok(file.map(|it| it.as_bytes().to_vec())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn mutated_patches_are_survived(
        which in 0_usize..4,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..12, "[-+ @a\\\\*\n\r\"0-9é]{0,4}"), 0..6),
        file in proptest::option::of("([abc ]{0,2}\r?\n){0,6}[abc]?"),
    ) {
        let mut patch: Vec<char> = GOOD[which].chars().collect();
        for (at, length, with) in cuts {
            let at = at.index(patch.len() + 1);
            let end = (at + length).min(patch.len());
            patch.splice(at..end, with.chars());
        }
        survives(&patch.into_iter().collect::<String>(), file.as_deref());
    }

    #[test]
    fn any_lines_are_survived(lines in proptest::collection::vec("(--- |\\+\\+\\+ |@@|@@ -1 \\+1 @@|\\*\\*\\* |[-+ \\\\]|diff --git )?[a/b \"]{0,3}", 0..12)) {
        survives(&lines.join("\n"), Some("a\nb\n"));
        survives(&update(&lines.join("\n")), Some("a\nb\n"));
    }

    #[test]
    fn any_text_is_survived(patch in any::<String>(), file in any::<String>()) {
        survives(&patch, Some(&file));
        survives(&unified(&patch), Some(&file));
    }
}

#[test]
fn repetition_does_not_hang() {
    let file = "same\n".repeat(200_000);
    let hunk = format!("@@\n{}-other\n+new", " same\n".repeat(20_000));
    let message = rejected(&file, &unified(&hunk));
    assert!(
        message.contains("takes too long"),
        "{}",
        message.chars().take(300).collect::<String>()
    );
    let line = "x".repeat(20 << 20);
    let message = rejected(&line, &unified("@@ -1 +1 @@\n-y\n+z"));
    assert!(message.len() < 2000, "{}", message.len());
}
