//! Names that git itself gives.

use super::*;

fn hex(id: [u8; 20]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn contents_have_the_names_that_git_gives_them() {
    assert_eq!(hex(sha1(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_eq!(hex(blob_id(b"")), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    assert_eq!(hex(blob_id(b"hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
    let long = vec![b'a'; 1_000_000];
    assert_eq!(hex(sha1(&long)), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}
