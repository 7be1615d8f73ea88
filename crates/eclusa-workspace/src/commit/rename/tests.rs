//! Where a filesystem has neither flag, in every state in which an exchange can be cut short.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::PathBuf,
};

use rustix::io::Errno;

use super::{in_three, looked, make_whole};

/// A slot with the new content, a file with the old one.
struct Place {
    root: tempfile::TempDir,
    slots: File,
    dir: File,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        for name in ["slots", "dir"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let open = |name: &str| File::open(root.path().join(name)).unwrap();
        let (slots, dir) = (open("slots"), open("dir"));
        let place = Place { root, slots, dir };
        fs::write(place.path("slots/3"), "new").unwrap();
        fs::write(place.path("dir/file"), "old").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What is in the file, the slot and everything else in the slots.
    fn state(&self) -> (Option<String>, Option<String>, usize) {
        let read = |name: &str| fs::read_to_string(self.path(name)).ok();
        let all = fs::read_dir(self.path("slots")).unwrap().count();
        let slot = read("slots/3");
        (read("dir/file"), slot.clone(), all - usize::from(slot.is_some()))
    }

    fn exchange(&self) -> rustix::io::Result<()> {
        in_three(&self.slots, "3", &self.dir, OsStr::new("file"))
    }

    fn make_whole(&self) {
        make_whole(&self.slots, "3", &self.dir, OsStr::new("file")).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }
}

fn some(file: &str, slot: &str) -> (Option<String>, Option<String>, usize) {
    (Some(file.to_owned()), Some(slot.to_owned()), 0)
}

#[test]
fn both_change_their_places() {
    let place = Place::new();
    place.exchange().unwrap();
    assert_eq!(place.state(), some("new", "old"));
    place.exchange().unwrap();
    assert_eq!(place.state(), some("old", "new"));
    place.make_whole();
    assert_eq!(place.state(), some("old", "new"), "nothing was cut short");
}

#[test]
fn what_is_there_is_not_overwritten() {
    let place = Place::new();
    let (slot, file) = (OsStr::new("3"), OsStr::new("file"));
    assert_eq!(looked(&place.slots, slot, &place.dir, file), Err(Errno::EXIST));
    std::os::unix::fs::symlink("nowhere", place.path("dir/link")).unwrap();
    let link = OsStr::new("link");
    assert_eq!(looked(&place.slots, slot, &place.dir, link), Err(Errno::EXIST));
    assert_eq!(place.state(), some("old", "new"));
}

#[test]
fn what_is_not_there_is_not_exchanged() {
    let place = Place::new();
    fs::remove_file(place.path("dir/file")).unwrap();
    assert_eq!(place.exchange(), Err(Errno::NOENT));
    assert_eq!(place.state(), (None, Some("new".to_owned()), 0));
    let place = Place::new();
    fs::remove_file(place.path("slots/3")).unwrap();
    assert_eq!(place.exchange(), Err(Errno::NOENT));
    assert_eq!(place.state(), (Some("old".to_owned()), None, 0), "it is where it was");
}

#[test]
fn an_exchange_that_was_cut_short_is_made_whole() {
    let place = Place::new();
    place.rename("dir/file", "slots/3.between");
    place.make_whole();
    assert_eq!(place.state(), some("old", "new"), "after the first of three: not taken");
    place.rename("dir/file", "slots/3.between");
    place.rename("slots/3", "dir/file");
    place.make_whole();
    assert_eq!(place.state(), some("new", "old"), "after the second: taken");
    place.make_whole();
    assert_eq!(place.state(), some("new", "old"));
}

#[test]
fn what_somebody_put_into_the_gap_stays() {
    let place = Place::new();
    place.rename("dir/file", "slots/3.between");
    fs::write(place.path("dir/file"), "theirs").unwrap();
    place.make_whole();
    let (file, slot, _) = place.state();
    assert_eq!((file.as_deref(), slot.as_deref()), (Some("theirs"), Some("old")));
}
