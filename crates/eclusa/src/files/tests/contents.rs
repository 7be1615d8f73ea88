//! What is in files and directories, as the `before` of a change.

use std::os::unix::ffi::OsStringExt;

use super::*;
use crate::{Content, ContentDigest};

fn file(found: Found) -> crate::FileNode {
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
        assert_eq!(node("new/deep/x"), Found { path: "new/deep/x".into(), node: None });
        assert_eq!(node("l").path, Path::new("a.txt"));
        assert_eq!(node("dangling"), Found { path: "nothing".into(), node: None });
        let entry = world.files.entry("l", HOLD).unwrap();
        assert_eq!(entry.node, Some(Node::Link { target: "a.txt".into() }));
        // A name that ends in a slash is no file's; a directory can be made there.
        assert!(matches!(world.files.node("new/", 0), Err(FileError::NotFound { .. })));
        assert_eq!(world.files.entry("new/", 0).unwrap().path, Path::new("new"));
        assert!(matches!(world.files.node("a.txt/x", 0), Err(FileError::NotADirectory { .. })));
    }
}

/// A file larger than any memory, which takes no room on the disk.
#[test]
fn a_file_that_cannot_be_held_is_an_error_and_no_crash() {
    for world in World::both("truncate -s 4T ws/huge || truncate -s 1T ws/huge") {
        let opened = world.files.file("huge").unwrap();
        assert!(opened.size >= 1 << 40);
        // Holding it is refused by the machine, or by whoever asks for less.
        assert_eq!(world.list(".").unwrap(), ["a.txt", "huge", "src"]);
    }
}

/// A file that is written all the time is never half of one content and half of another.
#[test]
fn a_file_that_changes_while_it_is_read_is_whole_or_refused() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::new("head -c 200000 /dev/zero > ws/busy", Beneath::Kernel);
    let path = world.tmp.path().join("ws/busy");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut growing = File::options().append(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                growing.write_all(&[0; 4096]).unwrap();
            }
        });
        for _ in 0..50 {
            match world.files.node("busy", HOLD) {
                Ok(found) => {
                    let file = file(found);
                    assert_eq!(file.stamp.unwrap().size, file.size);
                    if let Some(bytes) = file.bytes() {
                        assert_eq!(bytes.len() as u64, file.size);
                    }
                }
                Err(error) => assert!(matches!(error, FileError::Changing { .. }), "{error}"),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
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
