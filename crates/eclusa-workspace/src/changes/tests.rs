//! Changes and their faces: tables, a real `git apply`, and properties over random trees.

use std::path::Path;

use super::*;

mod faces;
mod git;
mod lines;
mod properties;
mod subset;
pub(crate) mod trees;

pub(crate) fn file(content: &str, mode: u32) -> Option<Node> {
    Some(Node::File(FileNode::new(content.as_bytes(), mode)))
}

pub(crate) fn bytes(content: &[u8]) -> Option<Node> {
    Some(Node::File(FileNode::new(content, 0o644)))
}

pub(crate) fn link(target: &str) -> Option<Node> {
    Some(Node::Link { target: target.into() })
}

pub(crate) fn directory() -> Option<Node> {
    Some(Node::Directory { mode: 0o755 })
}

pub(crate) fn change(path: impl AsRef<Path>, before: Option<Node>, after: Option<Node>) -> Change {
    Change { path: path.as_ref().to_owned(), from: None, before, after }
}

/// What moving a thing does, and perhaps altering it on the way.
pub(crate) fn moved(from: &str, to: &str, node: Option<Node>, after: Option<Node>) -> [Change; 2] {
    let to = Change { from: Some(from.into()), ..change(to, None, after) };
    [change(from, node, None), to]
}

fn unified(changes: &Changes) -> String {
    Diff::of(changes, &InlineContents, Bounds::default()).unified()
}

fn shown(changes: &Changes) -> String {
    Diff::of(changes, &InlineContents, Bounds::default()).shown()
}

fn summary(changes: &Changes) -> String {
    Diff::of(changes, &InlineContents, Bounds::default()).summary().to_string()
}

#[test]
fn later_changes_follow_on_earlier_ones() {
    let (a, b) = (file("a\n", 0o644), file("b\n", 0o644));
    let twice = Changes::of([
        change("x", a.clone(), b.clone()),
        change("x", b.clone(), None),
        change("y", None, b.clone()),
        change("y", b.clone(), None),
    ]);
    assert_eq!(twice, Changes::of([change("x", a.clone(), None)]));
    let back = Changes::of([change("x", a.clone(), b.clone()), change("x", b, a)]);
    assert!(back.is_empty());
}

#[test]
fn what_is_moved_twice_comes_from_where_it_was_first() {
    let node = file("a\n", 0o644);
    let steps =
        [moved("a", "b", node.clone(), node.clone()), moved("b", "c", node.clone(), node.clone())];
    let all = Changes::of(steps.concat());
    let once = Changes::of(moved("a", "c", node.clone(), node.clone()));
    assert_eq!(all, once);
    let home = [moved("a", "b", node.clone(), node.clone()), moved("b", "a", node.clone(), node)];
    assert!(Changes::of(home.concat()).is_empty());
}

#[test]
fn sorts_of_content() {
    let table: [(&[u8], ContentKind); 9] = [
        (b"", ContentKind::Text),
        (b"plain\n", ContentKind::Text),
        ("gr\u{fc}n \u{1F980}".as_bytes(), ContentKind::Text),
        (b"\xff\xfeh\0i\0", ContentKind::Utf16),
        (b"\xfe\xff\0h\0i", ContentKind::Utf16),
        (b"gr\xfcn\n", ContentKind::Latin1),
        (b"\x93quoted\x94\r\n", ContentKind::Latin1),
        (b"\x7fELF\0\0", ContentKind::Binary),
        (b"\x01\x02\xff\xfa", ContentKind::Binary),
    ];
    for (content, sort) in table {
        assert_eq!(ContentKind::of(content), sort, "{content:?}");
    }
    let late = [vec![b'a'; 100_000], vec![0]].concat();
    assert_eq!(ContentKind::of(&late), ContentKind::Binary);
    let late = [vec![b'a'; 100_000], vec![0xff]].concat();
    assert_eq!(ContentKind::of(&late), ContentKind::Latin1, "not text that can be shown");
}

#[test]
fn paths_are_quoted_as_git_quotes_them() {
    let table = [
        ("plain/name.rs", "a/plain/name.rs"),
        ("with space", "a/with space"),
        ("\u{fc}", "\"a/\\303\\274\""),
        ("q\"b\\s", "\"a/q\\\"b\\\\s\""),
        ("\t\n\r\u{7}\u{8}\u{b}\u{c}\u{1}\u{7f}", "\"a/\\t\\n\\r\\a\\b\\v\\f\\001\\177\""),
    ];
    for (path, quoted) in table {
        assert_eq!(names::quoted("a/", path.as_ref()), quoted);
    }
    assert_eq!(names::readable("gr\u{fc}n\u{202e}".as_ref()), "gr\u{fc}n\\u{202E}");
    assert_eq!(names::readable("a, mode 0644".as_ref()), "\"a, mode 0644\"");
    assert_eq!(names::readable("\"a\"".as_ref()), "\"\\\"a\\\"\"");
}
