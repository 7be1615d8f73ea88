//! What is remembered, and for how long.

use eclusa::FileNode;

use super::*;

fn file(content: &str) -> FileNode {
    FileNode::new(content.as_bytes(), 0o644)
}

#[test]
fn a_file_is_stale_only_for_those_who_knew_it_otherwise() {
    let seen = ReadTracker::default();
    let path = Path::new("a");
    assert!(!seen.is_stale("one", path, &file("x")), "never read");
    seen.read("one", path, KnownContent::Content(file("x").digest));
    assert!(!seen.is_stale("one", path, &file("x")));
    assert!(seen.is_stale("one", path, &file("y")));
    assert!(!seen.is_stale("two", path, &file("y")));
    assert!(!seen.is_stale("one", Path::new("b"), &file("y")));
}

#[test]
fn what_was_proposed_may_have_become_real_or_not() {
    let seen = ReadTracker::default();
    let path = Path::new("a");
    seen.proposed("one", path, Some(&file("x")), file("y").digest);
    assert!(!seen.is_stale("one", path, &file("x")), "discarded");
    assert!(!seen.is_stale("one", path, &file("y")), "committed");
    assert!(seen.is_stale("one", path, &file("z")), "somebody else");
    // It was committed; what was there before is somebody's undo now.
    seen.proposed("one", path, Some(&file("y")), file("z").digest);
    assert!(seen.is_stale("one", path, &file("x")));
}

#[test]
fn a_stamp_knows_a_file_by_its_time_and_not_by_its_name() {
    let stamp = Stamp { device: 1, inode: 2, size: 1, modified: 4, changed: 5 };
    let seen = ReadTracker::default();
    let path = Path::new("a");
    seen.read("one", path, KnownContent::State(stamp));
    let now = |stamp| FileNode { stamp: Some(stamp), ..file("x") };
    assert!(!seen.is_stale("one", path, &now(Stamp { changed: 9, ..stamp })));
    assert!(seen.is_stale("one", path, &now(Stamp { modified: 9, ..stamp })));
    assert!(seen.is_stale("one", path, &now(Stamp { inode: 9, ..stamp })));
}

#[test]
fn no_more_is_remembered_than_there_is_room_for_and_the_oldest_goes() {
    let seen = ReadTracker::default();
    for at in 0..3 * REMEMBERED {
        let path = PathBuf::from(format!("{at}"));
        seen.read(&format!("{}", at % 7), &path, KnownContent::Content(file("x").digest));
        assert!(seen.memory().count <= REMEMBERED);
    }
    let last = 3 * REMEMBERED - 1;
    let (session, path) = (format!("{}", last % 7), PathBuf::from(format!("{last}")));
    assert!(seen.is_stale(&session, &path, &file("y")));
    assert!(!seen.is_stale("0", Path::new("0"), &file("y")), "forgotten");
    let all: usize = seen.memory().sessions.values().map(HashMap::len).sum();
    assert_eq!(seen.memory().count, all);
}
