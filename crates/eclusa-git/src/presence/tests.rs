//! Tests of looking for objects.

use std::{fs, io::Write as _, path::Path};

use super::has_object;

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

/// The index of a pack with objects of these first and last bytes.
fn index(names: &[(u8, u8)]) -> Vec<u8> {
    let mut bytes = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    for first in 0..=u8::MAX {
        let count = names.iter().filter(|it| it.0 <= first).count();
        bytes.extend(u32::try_from(count).unwrap().to_be_bytes());
    }
    for (first, last) in names {
        let mut name = [7; 20];
        (name[0], name[19]) = (*first, *last);
        bytes.extend(name);
    }
    bytes
}

fn name(first: u8, last: u8) -> String {
    format!("{first:02x}{}{last:02x}", "07".repeat(18))
}

#[test]
fn objects_are_found_by_themselves_in_packs_and_where_they_are_borrowed() {
    let dir = tempfile::tempdir().unwrap();
    let (git, other) = (dir.path().join("a"), dir.path().join("b/objects"));
    let all = [(0, 1), (0, 9), (5, 2), (5, 3), (5, 4), (255, 1)];
    write(&git.join("objects/pack/pack-1.idx"), &index(&all));
    let missing = [(0, 0), (0, 5), (5, 1), (5, 5), (6, 1), (255, 2)];
    for (first, last) in all {
        assert!(has_object(&git, &name(first, last)), "{first} {last}");
    }
    for (first, last) in missing {
        assert!(!has_object(&git, &name(first, last)), "{first} {last}");
    }
    let loose = name(6, 1);
    let (directory, rest) = loose.split_at(2);
    write(&git.join("objects").join(directory).join(rest), b"x");
    assert!(has_object(&git, &loose));
    write(&other.join("pack/pack-2.idx"), &index(&[(9, 9)]));
    assert!(!has_object(&git, &name(9, 9)));
    write(&git.join("objects/info/alternates"), b"# a comment\n../../b/objects\n");
    assert!(has_object(&git, &name(9, 9)) && !has_object(&git, &name(9, 8)));
}

/// Where nobody can tell, nothing is said to be gone.
#[test]
fn what_cannot_be_read_is_taken_to_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path();
    assert!(!has_object(git, &name(1, 1)));
    for id in ["", "ref: refs/heads/main", &"0".repeat(64), &"ü".repeat(20)] {
        assert!(has_object(git, id), "{id}");
    }
    write(&git.join("objects/info/alternates"), b".\n");
    assert!(has_object(git, &name(1, 1)), "it borrows from itself, without end");
    for bytes in [&b"\xfftOc\0\0\0\x03"[..], b"", &index(&[(1, 1)])[..1000]] {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("objects/pack/pack-1.idx"), bytes);
        assert!(has_object(dir.path(), &name(250, 1)));
    }
}
