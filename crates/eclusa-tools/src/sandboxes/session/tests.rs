//! What is cleared away in a `/tmp` while a command of its session runs.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{clear_way, is_full};

#[test]
fn only_what_stands_in_the_way_goes() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/c"), "in the way").unwrap();
    fs::write(root.join("a/other"), "not in the way").unwrap();
    clear_way(&root, "a/b/c/d".as_ref());
    assert!(!root.join("a/b/c").exists() && root.join("a/other").exists());
    symlink(place.path(), root.join("a/b/link")).unwrap();
    clear_way(&root, "a/b/link/root".as_ref());
    assert!(root.exists() && !root.join("a/b/link").is_symlink());
}

/// A command swaps a directory for a link, again and again, while the way is cleared.
#[test]
fn nothing_outside_is_removed_whatever_a_command_swaps() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    fs::create_dir_all(root.join("d/x")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let mine = outside.join("eclusa.toml");
    fs::write(&mine, "mine").unwrap();
    let (directory, link) = (root.join("d/x"), root.join("d/y"));
    symlink(&outside, &link).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE);
            }
        });
        for _ in 0..20_000 {
            clear_way(&root, "d/x/eclusa.toml".as_ref());
            // The link itself may go: that is what it is for.
            if !directory.is_symlink() && !link.is_symlink() {
                let _ = symlink(&outside, &link);
                let _ = symlink(&outside, &directory);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}

#[test]
fn what_links_lead_to_does_not_count() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    fs::create_dir_all(root.join("inner")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("large"), vec![0; 1 << 17]).unwrap();
    symlink(&outside, root.join("inner/link")).unwrap();
    assert!(!is_full(&root, 1 << 16));
    fs::write(root.join("inner/large"), vec![0; 1 << 17]).unwrap();
    assert!(is_full(&root, 1 << 16));
}
