//! What is in files and directories, as the `before` of a change.

use std::os::unix::ffi::OsStringExt;

use super::*;
use crate::{Content, ContentDigest};

fn file(found: PathState) -> crate::FileNode {
    match found.node {
        Some(Node::File(file)) => file,
        other => panic!("no file: {other:?}"),
    }
}

#[test]
fn a_small_file_is_held_and_a_large_one_is_hashed() {
    for world in World::both("chmod 751 ws/a.txt; head -c 300001 /dev/zero > ws/large") {
        let small = file(world.files.node("a.txt", 6).unwrap());
        assert_eq!(small.bytes(), Some(b"INSIDE".as_slice()));
        assert_eq!((small.size, small.mode), (6, 0o751));
        assert_eq!(small.digest, ContentDigest::of(b"INSIDE"));
        assert_eq!(small.stamp, Some(world.files.file("a.txt").unwrap().stamp));
        let same = file(world.files.node("a.txt", 5).unwrap());
        assert_eq!((same.content, same.digest), (Content::InPlace, small.digest));
        let large = file(world.files.node("large", 1000).unwrap());
        assert_eq!(large.content, Content::InPlace);
        assert_eq!((large.size, large.digest), (300_001, ContentDigest::of(&[0; 300_001])));
    }
}

#[test]
fn nothing_a_directory_and_a_link_are_told_apart() {
    for world in World::both("chmod 750 ws/src; ln -s a.txt ws/l; ln -s nothing ws/dangling") {
        let node = |asked: &str| world.files.node(asked, HOLD).unwrap();
        assert_eq!(node("src").node, Some(Node::Directory { mode: 0o750 }));
        assert_eq!(node("new/deep/x"), PathState { path: "new/deep/x".into(), node: None });
        assert_eq!(node("l").path, Path::new("a.txt"));
        assert_eq!(node("dangling"), PathState { path: "nothing".into(), node: None });
        let entry = world.files.entry("l", HOLD).unwrap();
        assert_eq!(entry.node, Some(Node::Link { target: "a.txt".into() }));
        // A name that ends in a slash is no file's; a directory can be made there.
        assert!(matches!(world.files.node("new/", 0), Err(FileError::NotFound { .. })));
        assert_eq!(world.files.entry("new/", 0).unwrap().path, Path::new("new"));
        assert!(matches!(world.files.node("a.txt/x", 0), Err(FileError::NotADirectory { .. })));
    }
}

/// A file that is written to all the time has the size that it is said to have, or is refused.
#[test]
fn a_file_that_grows_while_it_is_read_is_whole_or_refused() {
    let world = World::new("head -c 200000 /dev/zero > ws/busy", Beneath::Kernel);
    let busy = File::options().append(true).open(world.tmp.path().join("ws/busy")).unwrap();
    let mut written = 0;
    let write = || {
        (&busy).write_all(&[0; 4096]).unwrap();
        written += 1;
        if written % 64 == 0 {
            busy.set_len(200_000).unwrap();
        }
    };
    while_another(write, 200, || match world.files.node("busy", HOLD) {
        Ok(found) => {
            let file = file(found);
            assert_eq!(file.stamp.unwrap().size, file.size);
            assert_eq!(file.bytes().unwrap().len() as u64, file.size);
        }
        Err(error) => assert!(matches!(error, FileError::Changing { .. }), "{error}"),
    });
}

/// What is read of a file that was written to since it was opened belongs together with nothing.
#[test]
fn a_file_that_was_written_to_since_it_was_opened_is_no_node() {
    for (hold, change) in [(HOLD, "printf MORE >> ws/a.txt"), (0, "printf OTHER! > ws/a.txt")] {
        for world in World::both("touch -d 2001-01-01 ws/a.txt") {
            let opened = || world.files.file("a.txt").unwrap();
            assert!(opened().node(hold).unwrap().is_some());
            let before = opened();
            assert!(world.sh(change));
            assert!(before.node(hold).unwrap().is_none());
        }
    }
}

#[test]
fn a_directory_tells_kinds_sizes_and_names_of_any_bytes() {
    for world in World::both("ln -s ../outside ws/out; mkfifo ws/pipe") {
        let odd = OsString::from_vec(b"odd\xff.txt".to_vec());
        File::create_new(world.tmp.path().join("ws").join(&odd)).unwrap();
        let listed: Vec<_> = world.files.directory(".").unwrap().map(Result::unwrap).collect();
        let kind = |name: &str| listed.iter().find(|it| it.name == name).unwrap().kind;
        assert_eq!(kind("a.txt"), Kind::File);
        assert_eq!(kind("src"), Kind::Directory);
        assert_eq!(kind("out"), Kind::Link);
        assert_eq!(kind("pipe"), Kind::Pipe);
        assert_eq!(listed.iter().find(|it| it.name == "a.txt").unwrap().size, 6);
        assert!(listed.iter().any(|it| it.name == odd));
        // What a walker finds, it can open, UTF-8 or not.
        assert_eq!(world.files.reach(Path::new(&odd)).unwrap().path, Path::new(&odd));
    }
}

/// A second name of an outside file is a file of the workspace; replacing it leaves the other.
#[test]
fn a_hard_link_is_read_and_replaced_alone() {
    for world in World::both("ln outside/secret.txt ws/h.txt") {
        assert_eq!(world.read("h.txt").unwrap(), "SECRET");
        put(&world.files, Path::new("h.txt"), || ()).unwrap();
        assert_eq!(world.read("h.txt").unwrap(), "WRITTEN");
        assert!(world.sh("grep -q SECRET outside/secret.txt"));
    }
}

/// Where the disk takes either case, the name reached is the one that the disk has.
#[test]
fn the_stored_name_is_found_by_what_it_names() {
    let world =
        World::new("mkdir ws/Dir; printf X > ws/Read.me; ln ws/Read.me ws/read.ME", BOTH[0]);
    assert!(!world.files.any_case());
    let handle = world.files.handle();
    let stored = |name: &str| follow::stored(handle, OsStr::new(name));
    assert_eq!(stored("Dir").unwrap(), "Dir");
    assert_eq!(stored("read.ME").unwrap(), "read.ME");
    assert_eq!(stored("missing"), None);
}
