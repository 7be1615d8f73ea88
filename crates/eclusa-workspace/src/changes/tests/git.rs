//! What git makes of our patches: the real program, on real files.
#![expect(clippy::disallowed_methods, reason = "the test makes a tree for git to work on")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use proptest::prelude::*;

use super::{trees::*, *};

fn write(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match node {
            Node::File(file) => {
                fs::write(&path, file.bytes().unwrap()).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(file.mode)).unwrap();
            }
            Node::Link { target } => symlink(target, &path).unwrap(),
            Node::Directory { .. } => fs::create_dir_all(&path).unwrap(),
        }
    }
}

fn read(root: &Path, dir: &Path, into: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(root).unwrap().to_owned();
        if meta.is_dir() {
            read(root, &path, into);
        } else if meta.is_symlink() {
            into.insert(name, Node::Link { target: fs::read_link(&path).unwrap() });
        } else {
            let mode = if meta.permissions().mode() & 0o100 != 0 { 0o755 } else { 0o644 };
            into.insert(name, Node::File(FileNode::new(fs::read(&path).unwrap(), mode)));
        }
    }
}

/// Applies a patch with git.
fn apply(root: &Path, patch: &str) -> Output {
    let at = tempfile::NamedTempFile::new().unwrap();
    fs::write(at.path(), patch).unwrap();
    Command::new("git")
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap())
        .args(["apply", "--whitespace=nowarn"])
        .arg(at.path())
        .output()
        .unwrap()
}

fn check(before: &Tree, after: &Tree, changes: &Changes) -> Result<(), TestCaseError> {
    let patch = unified(changes);
    if patch.is_empty() {
        prop_assert_eq!(before, after);
        return Ok(());
    }
    let root = tempfile::tempdir().unwrap();
    write(root.path(), before);
    let told = apply(root.path(), &patch);
    let error = String::from_utf8_lossy(&told.stderr).into_owned();
    prop_assert!(told.status.success(), "{error}\n{patch}");
    let mut got = Tree::new();
    read(root.path(), root.path(), &mut got);
    prop_assert_eq!(&got, after, "{}", patch);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Git makes the after-tree of the before-tree: moves, modes, links, odd names, line ends.
    #[test]
    fn git_applies_what_we_say((before, after, changes) in worlds()) {
        check(&before, &after, &changes)?;
    }
}

#[test]
fn git_moves_onto_something_and_swaps() {
    let one = file("one\ntwo\n", 0o644);
    let two = file("three\n", 0o755);
    let tree = |entries: &[(&str, &Option<Node>)]| -> Tree {
        entries.iter().map(|(path, node)| (path.into(), (*node).clone().unwrap())).collect()
    };
    let before = tree(&[("a", &one), ("b", &two)]);
    let arrived = Change { from: Some("a".into()), ..change("b", two.clone(), one.clone()) };
    let over = Changes::of([change("a", one.clone(), None), arrived.clone()]);
    check(&before, &tree(&[("b", &one)]), &over).unwrap();
    let back = Change { from: Some("b".into()), ..change("a", one.clone(), two.clone()) };
    let swap = Changes::of([arrived, back]);
    check(&before, &tree(&[("a", &two), ("b", &one)]), &swap).unwrap();
}

#[test]
fn git_skips_what_it_has_no_words_for() {
    let old = Node::File(FileNode::new(*b"x\n", 0o644));
    let before = Tree::from([("a".into(), old.clone()), ("z".into(), old.clone())]);
    let changes = Changes::of([
        change("a", Some(old.clone()), file("y\n", 0o600)),
        change("b", None, directory()),
        change("b\n# c", None, file("new\n", 0o664)),
        change("d", directory(), None),
        change("z", Some(old), file("z", 0o644)),
    ]);
    let after: Tree = [("a", "y\n"), ("b\n# c", "new\n"), ("z", "z")]
        .map(|(path, text)| (path.into(), file(text, 0o644).unwrap()))
        .into();
    check(&before, &after, &changes).unwrap();
}

/// A content that is left out is never half applied.
#[test]
fn git_refuses_a_patch_that_leaves_something_out() {
    let root = tempfile::tempdir().unwrap();
    let old = Node::File(FileNode::new(*b"old\0", 0o644));
    write(root.path(), &Tree::from([("x".into(), old.clone())]));
    let binary = Changes::of([change("x", Some(old.clone()), bytes(b"new\0"))]);
    let text = unified(&binary);
    assert!(text.contains("Binary files a/x and b/x differ\n# before: 4 bytes, binary"), "{text}");
    assert!(!apply(root.path(), &text).status.success());

    let large = Changes::of([change("x", Some(old), file("new\n", 0o755))]);
    let bounds = Bounds { file: 3, ..Bounds::default() };
    let text = Diff::of(&large, &InlineContents, bounds).unified();
    assert!(text.contains("Files a/x and b/x differ"), "{text}");
    assert!(text.contains("# the lines are left out: 4 bytes are more than the 3 bytes"), "{text}");
    assert!(!apply(root.path(), &text).status.success());
    assert_eq!(fs::read(root.path().join("x")).unwrap(), b"old\0");
    assert_eq!(fs::metadata(root.path().join("x")).unwrap().permissions().mode() & 0o777, 0o644);
}
