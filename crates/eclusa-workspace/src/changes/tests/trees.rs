//! Random trees and what can be done to them, kept as simply as can be: the model of the tests.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use proptest::{collection::vec, prelude::*, sample::Index};

use crate::{Change, Changes, Node};

use super::{change, file, link};

/// Every path and what is there.
pub(crate) type Tree = BTreeMap<PathBuf, Node>;

/// Names that make trouble. No file is in the way of another.
pub(crate) const NAMES: [&[u8]; 14] = [
    b"a",
    b"b.rs",
    b"dir/c",
    b"dir/d d",
    b"dir/deep/e",
    "\u{fc}/\u{e9}.txt".as_bytes(),
    b"q\"uote",
    b"tab\tname",
    b"new\nline",
    b"back\\slash",
    b"-dash",
    b" lead",
    b"trail ",
    b"odd\xff\xfe",
];

fn path(name: &[u8]) -> PathBuf {
    OsString::from_vec(name.to_vec()).into()
}

fn paths() -> impl Strategy<Value = PathBuf> {
    prop::sample::select(NAMES.to_vec()).prop_map(path)
}

pub(crate) fn texts() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "",
        "fn main() {",
        "}",
        "\tx",
        "  y ",
        "\u{fc}\u{1F980}",
        "-- a/x",
        "++ b/x",
        "@@ -1 +1 @@",
        "\\ No newline at end of file",
        "diff --git a/x b/x",
    ]);
    let lines = vec((line, prop::bool::weighted(0.1)), 0..24);
    (lines, any::<bool>(), any::<bool>()).prop_map(|(lines, crlf, ends)| {
        let mut text = String::new();
        for (line, odd) in lines {
            text.push_str(line);
            text.push_str(if crlf != odd { "\r\n" } else { "\n" });
        }
        if !ends {
            text.pop();
        }
        text
    })
}

fn nodes() -> impl Strategy<Value = Node> {
    let modes = prop::sample::select(vec![0o644, 0o755]);
    let links = prop::sample::select(vec!["a", "../out", "/abs", "two\nlines\n", "\u{fc}", "b.rs"]);
    prop_oneof![
        4 => (texts(), modes).prop_map(|(text, mode)| file(&text, mode)),
        1 => links.prop_map(link),
    ]
    .prop_filter_map("a node", |it| it)
}

/// Something that is done to a tree.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Put(PathBuf, Node),
    Delete(Index),
    Chmod(Index),
    /// Alters a few lines.
    Edit(Index, Index, String),
    Move(Index, PathBuf),
}

pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    prop::collection::btree_map(paths(), nodes(), 0..8)
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = any::<Index>;
    vec(
        prop_oneof![
            (paths(), nodes()).prop_map(|(path, node)| Step::Put(path, node)),
            at().prop_map(Step::Delete),
            at().prop_map(Step::Chmod),
            (at(), at(), texts()).prop_map(|(file, line, text)| Step::Edit(file, line, text)),
            (at(), paths()).prop_map(|(file, to)| Step::Move(file, to)),
        ],
        0..8,
    )
}

/// Does the steps to the tree, and says what each changed.
pub(crate) fn walk(tree: &mut Tree, steps: &[Step]) -> Vec<Change> {
    steps.iter().flat_map(|step| walk_one(tree, step)).collect()
}

fn walk_one(tree: &mut Tree, step: &Step) -> Vec<Change> {
    if let Step::Put(path, node) = step {
        let before = tree.insert(path.clone(), node.clone());
        return vec![change(path, before, Some(node.clone()))];
    }
    if tree.is_empty() {
        return Vec::new();
    }
    let pick = |at: &Index| tree.keys().nth(at.index(tree.len())).unwrap().clone();
    match step {
        Step::Put(..) => Vec::new(),
        Step::Delete(at) => {
            let path = pick(at);
            vec![change(&path, tree.remove(&path), None)]
        }
        Step::Chmod(at) => alter(tree, &pick(at), |text, mode| (text.to_owned(), mode ^ 0o111)),
        Step::Edit(at, line, new) => alter(tree, &pick(at), |text, mode| {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let at = line.index(lines.len() + 1);
            lines.splice(at..(at + 1).min(lines.len()), [new.as_str()]);
            (lines.concat(), mode)
        }),
        Step::Move(at, to) => {
            let from = pick(at);
            if from == *to {
                return Vec::new();
            }
            let node = tree.remove(&from);
            let before = tree.insert(to.clone(), node.clone().unwrap());
            let arrived = Change { from: Some(from.clone()), ..change(to, before, node.clone()) };
            vec![change(&from, node, None), arrived]
        }
    }
}

fn alter(tree: &mut Tree, path: &Path, how: impl Fn(&str, u32) -> (String, u32)) -> Vec<Change> {
    let before = tree[path].clone();
    let Node::File(old) = &before else { return Vec::new() };
    let (text, mode) = how(std::str::from_utf8(old.bytes().unwrap()).unwrap(), old.mode);
    let after = file(&text, mode).unwrap();
    tree.insert(path.to_owned(), after.clone());
    vec![change(path, Some(before), Some(after))]
}

/// A tree and something that is done to it.
pub(crate) fn worlds() -> impl Strategy<Value = (Tree, Tree, Changes)> {
    (trees(), steps()).prop_map(|(before, steps)| {
        let mut after = before.clone();
        let changes = Changes::of(walk(&mut after, &steps));
        (before, after, changes)
    })
}
