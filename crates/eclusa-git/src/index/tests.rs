//! Indices made by hand.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use super::*;

/// An index of version 2 with these paths, in this order.
fn index(paths: &[(&str, u16)]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
    for (path, stage) in paths {
        let from = bytes.len();
        bytes.extend([0; 8]);
        bytes.extend(1_u32.to_be_bytes());
        bytes.extend([0; 4 + 20 + 4 + 20]);
        bytes.extend((stage << 12).to_be_bytes());
        bytes.extend(path.as_bytes());
        let long = bytes.len() - from;
        bytes.resize(from + (long + 1).next_multiple_of(8), 0);
    }
    bytes.extend([0; 20]);
    bytes
}

#[test]
fn a_path_is_found_whatever_the_order() {
    let paths = ["a", "a-b", "a/b", "a.c", "src/lib.rs", "src/main.rs", "z"];
    let mut turned: Vec<(&str, u16)> = paths.iter().map(|it| (*it, 0)).collect();
    for _ in 0..paths.len() {
        turned.rotate_left(1);
        let index = GitIndex::parse(&index(&turned)).unwrap();
        for path in paths {
            assert!(index.get(Path::new(path)).is_some_and(|it| !it.unmerged), "{path}");
        }
        for path in ["", "a-", "a/", "src", "src/", "src/lib", "zz"] {
            assert!(index.get(Path::new(path)).is_none(), "{path}");
        }
        let beneath = |it: &str| index.tracks_beneath(Path::new(it));
        assert!(beneath("") && beneath("a") && beneath("src") && beneath("z"));
        assert!(!beneath("sr") && !beneath("src/l") && !beneath("b"));
    }
}

#[test]
fn a_path_with_several_versions_is_in_conflict() {
    let index = GitIndex::parse(&index(&[("f", 1), ("f", 2), ("f", 3), ("g", 0)])).unwrap();
    assert!(index.get(Path::new("f")).unwrap().unmerged);
    assert!(!index.get(Path::new("g")).unwrap().unmerged);
}

#[test]
fn an_index_that_changed_is_read_again() {
    let git = tempfile::tempdir().unwrap();
    assert_eq!(read_index(git.path()).unwrap(), Arc::default());
    let path = git.path().join("index");
    for name in ["one", "two", "six"] {
        std::fs::write(&path, index(&[(name, 0)])).unwrap();
        let read = read_index(git.path()).unwrap();
        assert!(read.get(Path::new(name)).is_some(), "{name}");
    }
    std::fs::write(&path, "no index").unwrap();
    assert_eq!(read_index(git.path()), None);
}
