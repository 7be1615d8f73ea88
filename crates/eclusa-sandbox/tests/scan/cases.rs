//! One effect after the other.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use eclusa_sandbox::scan::{Bounds, Effects, Kind, Note, ScanError, ScannedNode, Special};

use eclusa_workspace::ContentDigest;

use crate::overlay::{Mounter, World, mounters, on, words};

/// Runs a script over a workspace, and compares what is told of it.
fn check(start: &str, script: &str, expected: &[&str]) {
    for &mounter in mounters() {
        let world = World::new(mounter, start);
        let effects = world.run(script).scan();
        assert_eq!(words(&effects), expected, "{mounter:?}: {script}");
        assert_eq!(words(&world.scan()), expected, "a second look sees the same");
        assert!(effects.root.is_none());
    }
}

const START: &str = "echo a > a; echo b > b; mkdir -p d/e; echo x > d/x; echo y > d/e/y; ln -s a l";

#[test]
fn a_command_that_only_reads_has_no_effects() {
    check(START, "cat a d/x; ls -lR > /dev/null", &[]);
}

#[test]
fn files_made_altered_and_deleted_are_told() {
    check(
        START,
        "echo n > n; echo more >> a; rm b; : > d/x",
        &["Altered a", "Deleted b", "Altered d/x", "Made n"],
    );
}

#[test]
fn a_directory_that_went_is_told_with_all_that_was_in_it() {
    check(START, "rm -r d", &["Deleted d", "Deleted d/e", "Deleted d/e/y", "Deleted d/x"]);
}

#[test]
fn an_opaque_directory_hides_what_is_below() {
    let expected = ["Deleted d/e", "Deleted d/e/y", "Altered d/x", "Made d/z"];
    check(START, "rm -r d; mkdir d; echo z > d/z; echo other > d/x", &expected);
}

#[test]
fn files_directories_and_links_replace_each_other() {
    check(START, "rm a; mkdir a; echo in > a/in", &["Replaced a", "Made a/in"]);
    let expected = ["Replaced d", "Deleted d/e", "Deleted d/e/y", "Deleted d/x"];
    check(START, "rm -r d; echo file > d", &expected);
    check(START, "rm a; ln -s b a", &["Replaced a"]);
    check(START, "ln -sfn elsewhere l", &["Altered l"]);
    check(START, "rm l; echo file > l", &["Replaced l"]);
}

#[test]
fn a_directory_that_became_a_link_takes_nothing_from_where_it_leads() {
    let expected = ["Replaced d", "Deleted d/e", "Deleted d/e/y", "Deleted d/x"];
    check(START, "rm -r d; ln -s /etc d", &expected);
}

#[test]
fn moves_are_found() {
    check(START, "mv a moved", &["Deleted a", "Moved moved from a"]);
    check(START, "mv l l2", &["Deleted l", "Moved l2 from l"]);
    check(START, "mv a b", &["Deleted a", "Moved b from a"]);
    check(START, "cp a c; rm a; touch -d 2001-01-01 c", &["Deleted a", "Moved c from a"]);
    let expected = [
        "Deleted d",
        "Deleted d/e",
        "Deleted d/e/y",
        "Deleted d/x",
        "Made f",
        "Made f/e",
        "Moved f/e/y from d/e/y",
        "Moved f/x from d/x",
    ];
    check(START, "mv d f", &expected);
}

/// More of them than are held open at once, some of them holes, and one that may not be read.
#[test]
fn large_files_that_went_are_read_to_the_end() {
    let start = "mkdir d; for i in $(seq 100 190); do head -c 200000 /dev/zero | tr '\\0' \"\\$((i % 60 + 101))\" > d/$i; \
                 echo $i >> d/$i; done; truncate -s 300000 d/hole; cp d/150 shut; chmod 0 shut";
    for &mounter in mounters() {
        let world = World::new(mounter, start);
        let digests: Vec<_> = (100..=190)
            .map(|it| fs::read(world.lower().join(format!("d/{it}"))).unwrap())
            .map(|it| ContentDigest::of(&it))
            .collect();
        let effects = world.run("cp d/150 copied; touch -d 2001-01-01 copied; rm -r d shut").scan();
        let before = |path: &str| match &on(&effects, path).before {
            Some(ScannedNode::File(file)) => file.digest,
            other => panic!("{path}: {other:?}"),
        };
        for (name, digest) in (100..=190).zip(digests) {
            assert_eq!(before(&format!("d/{name}")), Some(digest), "{mounter:?}: {name}");
        }
        assert_eq!(before("d/hole"), Some(ContentDigest::of(&[0; 300_000])));
        assert_eq!(on(&effects, "copied").from.as_deref(), Some(Path::new("d/150")));
        let unread = |it: &Note| matches!(it, Note::Unread(_));
        let told = on(&effects, "shut").notes.iter().any(unread);
        assert_eq!((before("shut").is_none(), told), (!is_root(), !is_root()));
    }
}

#[test]
fn of_two_that_could_have_moved_the_one_that_kept_its_name_has() {
    let start = "mkdir p q; echo same > p/one; echo same > q/two; touch -d 2001-01-01 p/one q/two";
    let script = "mkdir r; mv q/two r/two; mv p/one r/one";
    let expected = [
        "Deleted p/one",
        "Deleted q/two",
        "Made r",
        "Moved r/one from p/one",
        "Moved r/two from q/two",
    ];
    check(start, script, &expected);
}

#[test]
fn an_empty_file_is_not_taken_for_another() {
    check(
        ": > gone; echo x > keep; touch -d 2001-01-01 gone",
        "rm gone; : > new",
        &["Deleted gone", "Made new"],
    );
}

#[test]
fn touching_and_rewriting_the_same_is_no_effect() {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let effects = world
            .run("touch a; cat b > t; mv t b; chmod 600 d/x; chmod 644 d/x; ln -sfn a l; touch d")
            .scan();
        assert!(effects.is_empty(), "{effects:?}");
        assert_eq!(effects.unchanged, 4);
    }
}

#[test]
fn modes_of_files_and_directories_are_told() {
    check(START, "chmod 755 a; chmod 700 d", &["Metadata a", "Metadata d"]);
    let Some(world) = World::with_any("echo x > a; chmod 4755 a") else { return };
    let effects = world.run("chmod 755 a").scan();
    let modes = |node: &Option<ScannedNode>| node.as_ref().unwrap().file().unwrap().mode;
    let effect = on(&effects, "a");
    assert_eq!((modes(&effect.before), modes(&effect.after)), (0o4755, 0o755));
}

#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    check(
        "echo one > a; touch -d 2001-01-01 a",
        "echo two > a; touch -d 2001-01-01 a",
        &["Altered a"],
    );
}

#[test]
fn the_mode_of_the_workspace_itself_is_told_apart() {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let effects = world.run("chmod 700 .").scan();
        assert_eq!((effects.root, effects.entries.len()), (Some((0o755, 0o700)), 0));
        assert!(!effects.is_empty());
    }
}

#[test]
fn what_its_owner_may_not_read_is_read_back_and_stays_shut() {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let script = "mkdir -p s/t; echo 1 > s/t/f; chmod 0 s/t/f s/t s; echo 2 >> a; chmod 0 a";
        let effects = world.run(script).scan();
        assert_eq!(words(&effects), ["Altered a", "Made s", "Made s/t", "Made s/t/f"]);
        for path in ["a", "s/t/f"] {
            let file = on(&effects, path).after.as_ref().unwrap().file().unwrap();
            assert_eq!((file.mode, file.digest.is_some()), (0, true), "{path}");
        }
        let again = world.scan();
        assert_eq!(restamped(effects, &again), again);
    }
}

/// Reading what is shut changes when it was last changed, and nothing else.
fn restamped(mut effects: Effects, other: &Effects) -> Effects {
    for (mine, theirs) in effects.entries.iter_mut().zip(&other.entries) {
        let nodes = (&mut mine.after, &theirs.after);
        if let (Some(ScannedNode::File(mine)), Some(ScannedNode::File(theirs))) = nodes {
            mine.stamp.changed = theirs.stamp.changed;
        }
    }
    effects
}

#[test]
fn pipes_and_sockets_are_told_and_never_committed() {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let script = "mkfifo p; rm b; mkfifo b; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'";
        let effects = world.run(script).scan();
        assert_eq!(words(&effects), ["Replaced b", "Made p", "Made s"]);
        assert_eq!(on(&effects, "p").after, Some(ScannedNode::Other(Special::Pipe)));
        assert_eq!(on(&effects, "s").after, Some(ScannedNode::Other(Special::Socket)));
        assert!(on(&effects, "b").obstacle().unwrap().contains("a pipe"));
    }
}

#[test]
fn devices_are_told_and_not_taken_for_deletions() {
    if mounters().contains(&Mounter::Root) {
        let world = World::new(Mounter::Root, START);
        let effects = world.run("mknod zero c 1 5; mknod disk b 0 0; rm a; mknod a c 1 3").scan();
        assert_eq!(words(&effects), ["Replaced a", "Made disk", "Made zero"]);
        assert_eq!(on(&effects, "disk").after, Some(ScannedNode::Other(Special::Device)));
    }
}

#[test]
fn hard_links_are_flagged() {
    for &mounter in mounters() {
        let world = World::new(mounter, "echo x > a; ln a b; echo c > c");
        let effects = world.run("echo y >> a; ln c d; echo n > n; ln n m").scan();
        assert_eq!(words(&effects), ["Altered a", "Made d", "Made m", "Made n"]);
        assert!(on(&effects, "a").notes.contains(&Note::Linked { names: 2 }));
        assert!(on(&effects, "d").notes.contains(&Note::Shared { names: 2 }));
        assert!(on(&effects, "m").obstacle().is_none());
    }
}

#[test]
fn attributes_that_the_diff_would_not_show_are_told() {
    let start = "echo a > a; echo b > b; echo c > c";
    let set = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], b'v')";
    for &mounter in mounters() {
        let world = World::new(mounter, start);
        let script = format!(
            "python3 -c \"{set}\" a user.note; echo n > n; python3 -c \"{set}\" n user.note; echo >> b"
        );
        let effects = world.run(&script).scan();
        assert_eq!(words(&effects), ["Metadata a", "Altered b", "Made n"]);
        let told = [Note::Attributes(vec!["user.note".into()])];
        assert_eq!(on(&effects, "a").notes, told);
        assert_eq!(on(&effects, "n").notes, told);
        assert_eq!(on(&effects, "b").notes, []);
    }
}

#[test]
fn a_command_cannot_hide_a_file_behind_the_marks_of_the_overlay() {
    let set = "import os; os.setxattr('n', 'user.overlay.whiteout', b''); \
               os.setxattr('d', 'user.overlay.opaque', b'y'); os.setxattr('a', 'user.overlay.redirect', b'/b')";
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let effects = world.run(&format!(": > n; python3 -c \"{set}\"; echo >> a")).scan();
        assert_eq!(words(&effects), ["Altered a", "Metadata d", "Made n"], "{mounter:?}");
        assert!(matches!(on(&effects, "n").notes[..], [Note::Attributes(_)]));
    }
}

#[test]
fn a_new_owner_is_told() {
    if mounters().contains(&Mounter::Root) {
        let world = World::new(Mounter::Root, START);
        let effects = world.run("chown 12:34 a").scan();
        assert_eq!(words(&effects), ["Metadata a"]);
        assert_eq!(on(&effects, "a").notes, [Note::Owner { before: (0, 0), after: (12, 34) }]);
    }
}

#[test]
fn names_are_bytes() {
    for &mounter in mounters() {
        let world = World::new(mounter, "printf x > \"$(printf 'old\\377')\"");
        let effects = world.run("mv old* \"$(printf 'new\\n\\200')\"").scan();
        let paths: Vec<&[u8]> =
            effects.entries.iter().map(|it| it.path.as_os_str().as_bytes()).collect();
        assert_eq!(paths, [b"new\n\x80".as_slice(), b"old\xff"]);
        assert_eq!(effects.entries[0].kind(), Kind::Moved);
    }
}

#[test]
fn a_file_larger_than_memory_would_like_is_read_through_a_small_buffer() {
    let Some(world) = World::with_any("truncate -s 64M big") else { return };
    let effects = world.run("printf x >> big").scan();
    let file = on(&effects, "big").after.as_ref().unwrap().file().unwrap();
    assert_eq!(file.size, 64 * 1024 * 1024 + 1);
}

#[test]
fn more_than_the_bounds_is_an_error_and_nothing_is_left_out_silently() {
    let Some(world) = World::with_any(START) else { return };
    world.run("for i in 1 2 3 4 5; do echo > f$i; done");
    let bounded = |names| world.layer().bounded(Bounds { names, ..Bounds::default() }).scan();
    assert!(matches!(bounded(4), Err(ScanError::TooMany(4))));
    assert_eq!(bounded(5).unwrap().entries.len(), 5);
}

#[test]
fn a_file_of_zeros_without_end_is_an_error_and_not_read() {
    let Some(world) = World::with_any(START) else { return };
    world.run("truncate -s 1T huge");
    assert!(matches!(world.layer().scan(), Err(ScanError::TooLarge { .. })));
}

#[test]
fn what_only_an_overlay_can_read_is_an_error() {
    let Some(world) = World::with_any(START) else { return };
    world.run("echo n > n; mkdir m");
    for (path, mark) in [("n", "user.overlay.metacopy"), ("m", "user.overlay.redirect")] {
        let path = world.upper().join(path);
        rustix::fs::setxattr(&path, mark, b"", rustix::fs::XattrFlags::empty()).unwrap();
        assert!(matches!(world.layer().scan(), Err(ScanError::Foreign(_))));
        rustix::fs::removexattr(&path, mark).unwrap();
    }
    assert_eq!(words(&world.scan()), ["Made m", "Made n"]);
}

#[test]
fn files_are_released_without_the_marks_of_the_overlay() {
    for &mounter in mounters() {
        let world = World::new(
            mounter,
            "echo a > a; echo b > b; chmod 444 b; mkdir d s; echo c > d/c; echo g > s/g; chmod 555 s",
        );
        // The last of them is as shut afterwards as it was before.
        world.run(
            "echo x >> a; chmod 400 b; mv b c; echo >> d/c; chmod 0 d; mkdir e; echo f > e/f; chmod 0 e
             chmod 755 s; echo >> s/g; echo h > s/h; chmod 555 s",
        );
        let layer = world.layer();
        let mut effects = layer.scan().unwrap();
        assert!(marks(&layer.staged(Path::new("c"))) > 0);
        layer.release(&mut effects).unwrap();
        for path in ["a", "c", "d/c", "e/f"] {
            let staged = layer.staged(Path::new(path));
            assert_eq!(marks(&staged), 0, "{path}");
            let about = fs::symlink_metadata(&staged).unwrap();
            let file = on(&effects, path).after.as_ref().unwrap().file().unwrap();
            let changed = std::os::unix::fs::MetadataExt::ctime_nsec(&about);
            assert_eq!(file.stamp.changed.rem_euclid(1_000_000_000), i128::from(changed));
            assert_eq!(file.mode, std::os::unix::fs::MetadataExt::mode(&about) & 0o7777);
            fs::hard_link(&staged, world.stage().join("taken")).unwrap();
            crate::overlay::shell(&world.stage(), "rm -f taken");
        }
        for path in ["s/g", "s/h"] {
            rustix::fs::rename(layer.staged(Path::new(path)), world.stage().join("taken")).unwrap();
        }
    }
}

fn marks(path: &Path) -> usize {
    let mut list = vec![0_u8; 4096];
    let length = rustix::fs::llistxattr(path, &mut list).unwrap();
    list[..length].split(|it| *it == 0).filter(|it| it.starts_with(b"user.overlay.")).count()
}

#[test]
fn what_changed_in_the_layer_after_the_look_is_not_released() {
    let Some(world) = World::with_any(START) else { return };
    world.run("echo x >> a");
    let layer = world.layer();
    let mut effects = layer.scan().unwrap();
    crate::overlay::shell(&world.upper(), "echo swapped > t; mv t a");
    assert!(matches!(layer.release(&mut effects), Err(ScanError::Disturbed(_))));
}

/// What is not there need not be read, and counts as the zeros that it is.
/// Shows H14.
#[test]
fn holes_have_the_digest_of_the_zeros_that_they_are() {
    let script =
        "truncate -s 3000000 s; printf x | dd of=s bs=1 seek=1500000 conv=notrunc 2>/dev/null
        cat s > t; truncate -s 2000000 empty; head -c 2000000 /dev/zero > zeros";
    for &mounter in mounters() {
        let effects = World::new(mounter, START).run(script).scan();
        let digest = |name: &str| {
            let entry = effects.entries.iter().find(|it| it.path == Path::new(name)).unwrap();
            match &entry.after {
                Some(ScannedNode::File(file)) => file.digest.unwrap(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(digest("s"), digest("t"));
        assert_eq!(digest("empty"), digest("zeros"));
        assert_ne!(digest("s"), digest("zeros"));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
