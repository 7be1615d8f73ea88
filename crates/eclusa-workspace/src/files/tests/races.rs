//! Links that are swapped while files are opened: zero escapes.

use rustix::fs::{RenameFlags, renameat_with};

use super::*;

const TRIES: usize = 20_000;

/// Runs `try_it` over and over while `ws/x` and `ws/y` change places all the time.
fn while_swapping(world: &World, tries: usize, try_it: impl FnMut()) {
    let ws = File::open(world.tmp.path().join("ws")).unwrap();
    let swap = || renameat_with(&ws, "x", &ws, "y", RenameFlags::EXCHANGE).unwrap();
    while_another(swap, tries, try_it);
}

/// S4.17: a file and a link to an outside file.
#[test]
fn a_file_that_becomes_a_link_is_never_read_through() {
    for world in World::both("printf INSIDE > ws/x; ln -s ../outside/secret.txt ws/y") {
        let (mut read, mut refused) = (0, 0);
        while_swapping(&world, TRIES, || match world.read("x") {
            Ok(text) => {
                assert_eq!(text, "INSIDE");
                read += 1;
            }
            Err(_) => refused += 1,
        });
        assert_eq!(read + refused, TRIES);
        assert!(read > 0, "the file was never read, so nothing was tested");
    }
}

/// S4.17: a directory and a link to an outside directory, in the middle of the path.
#[test]
fn a_directory_that_becomes_a_link_is_never_walked_through() {
    let setup = "mkdir -p ws/x/e; printf INSIDE > ws/x/e/f; ln -s ../outside ws/y
        mkdir outside/e; printf SECRET > outside/e/f";
    for world in World::both(setup) {
        let mut read = 0;
        while_swapping(&world, TRIES, || {
            if let Ok(text) = world.read("x/e/f") {
                assert_eq!(text, "INSIDE");
                read += 1;
            }
            if let Ok(names) = world.list("x") {
                assert_eq!(names, ["e"]);
            }
        });
        assert!(read > 0, "the file was never read, so nothing was tested");
    }
}

/// S4.17: nothing is written through a link that takes the place of a directory.
#[test]
fn a_directory_that_becomes_a_link_is_never_written_through() {
    for world in World::both("mkdir ws/x; ln -s ../outside ws/y") {
        let mut written = 0;
        while_swapping(&world, TRIES / 10, || {
            written += usize::from(put(&world.files, Path::new("x/new.txt"), || ()).is_ok());
        });
        assert!(world.sh("test ! -e outside/new.txt"));
        assert!(world.sh("test $(ls -A outside | wc -l) = 1"));
        assert!(written > 0, "nothing was ever written, so nothing was tested");
    }
}

/// Facts F: a link that leads now to a plain file, now to a blocked one.
#[test]
fn a_link_that_is_turned_to_a_blocked_file_is_never_read_through() {
    for world in World::both("printf S > ws/.env; ln -s a.txt ws/x; ln -s .env ws/y") {
        let mut read = 0;
        while_swapping(&world, TRIES, || {
            if let Ok(text) = world.read("x") {
                assert_eq!(text, "INSIDE");
                read += 1;
            }
        });
        assert!(read > 0, "the file was never read, so nothing was tested");
    }
}
