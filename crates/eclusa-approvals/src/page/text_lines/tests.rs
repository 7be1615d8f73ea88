//! Lines of files have their numbers, and very many files are folded behind their names.

use eclusa::approve::{Line, Role};

use super::text_lines;

fn line(role: Role, text: &str) -> Line {
    Line { role, label: "  ".to_owned(), text: Some(text.to_owned()) }
}

#[test]
fn lines_of_files_have_their_numbers() {
    let diff = ["altered a.rs, +1 -1", "@@ -9,2 +9,2 @@", "  a", "- b", "+ c"];
    let mut lines: Vec<Line> = diff.iter().map(|it| line(Role::Change, it)).collect();
    lines.push(line(Role::Argument, "+ no line of a file"));
    let page = text_lines(&lines).into_string();
    for numbers in ["data-lines=\" 9  9\"", "data-lines=\"10   \"", "data-lines=\"   10\""] {
        assert!(page.contains(numbers), "{numbers}: {page}");
    }
    assert_eq!(page.matches("data-lines").count(), diff.len());
    assert_eq!(page.matches(" add\">").count(), 1);
    assert!(!page.contains("<details>"), "{page}");
}

#[test]
fn very_many_files_are_folded_behind_their_names() {
    let files = |count: usize| -> String {
        let diff = (0..count).flat_map(|it| [format!("made f{it}, +1 -0"), "+ x".to_owned()]);
        let mut lines: Vec<Line> = diff.map(|it| line(Role::Change, &it)).collect();
        lines.push(line(Role::Argument, "seq 60"));
        text_lines(&lines).into_string()
    };
    assert!(!files(50).contains("<details>"));
    let page = files(51);
    assert_eq!(page.matches("<details><summary>").count(), 51);
    assert_eq!(page.matches("</details>").count(), 51);
    let (_, behind) = page.rsplit_once("</details>").unwrap();
    assert!(behind.contains("seq 60"), "{behind}");
}
