//! Which paths a program is shown.

use super::*;

#[test]
fn what_is_not_named_is_hidden_and_the_way_to_what_is_named_is_not() {
    let room = tempfile::tempdir().unwrap();
    let root = room.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::create_dir_all(root.join("docs")).unwrap();
    for path in ["a.txt", "src/b.txt", "src/deep/c.txt", "docs/d.txt"] {
        fs::File::create(root.join(path)).unwrap();
    }
    std::os::unix::fs::symlink("docs/d.txt", root.join("link")).unwrap();
    let shown = |names: &[&str]| {
        let named = names.iter().map(|it| beneath(&root, it)).collect();
        let hidden = all_but(&root, &with_real_places(&root, named)).unwrap();
        let mut hidden: Vec<String> = hidden
            .iter()
            .map(|it| it.strip_prefix(&root).unwrap().to_string_lossy().into_owned())
            .collect();
        hidden.sort();
        hidden.join(" ")
    };
    assert_eq!(shown(&[]), "a.txt docs src");
    assert_eq!(shown(&["src/deep/c.txt"]), "a.txt docs src/b.txt");
    assert_eq!(shown(&["./src"]), "a.txt docs");
    assert_eq!(shown(&["link"]), "a.txt src");
    assert_eq!(shown(&["nowhere/x"]), "a.txt docs src");
    assert_eq!(shown(&["."]), "");
    assert_eq!(shown(&[&root.join("docs/../a.txt").to_string_lossy()]), "docs src");
}
