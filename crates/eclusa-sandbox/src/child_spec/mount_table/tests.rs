//! Tests of reading the kernel's table of mounts.

use super::*;

const TABLE: &[u8] = b"\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 27 0:21 / /proc rw,relatime shared:5 master:1 - proc proc rw
30 27 0:30 / /mnt/a\\040b/c\\134d rw - tmpfs x rw
31 30 0:31 / /mnt/a\\040b/c\\134d/in rw - vfat x rw
32 27 0:32 / /home rw - ext4 x rw
33 27 0:33 / /home rw - btrfs x rw
";

#[test]
fn places_kinds_and_what_lies_inside() {
    let table = MountTable::parse(TABLE);
    let kind = |path: &str| table.kind(Path::new(path)).to_owned();
    assert_eq!((kind("/etc").as_str(), kind("/proc/1").as_str()), ("ext4", "proc"));
    assert_eq!(kind("/mnt/a b/c\\d/in/x"), "vfat");
    assert_eq!(kind("/home/x"), "btrfs", "the one on top");
    assert_eq!(table.inside(Path::new("/mnt")), [PathBuf::from("/mnt/a b/c\\d")]);
    assert_eq!(table.inside(Path::new("/mnt/a b/c\\d")), [PathBuf::from("/mnt/a b/c\\d/in")]);
    assert!(table.inside(Path::new("/home")).is_empty());
    assert!(table.inside(Path::new("/hom")).is_empty());
}

#[test]
fn a_line_that_cannot_be_read_is_of_no_kind() {
    let table = MountTable::parse(b"27 1 254:0\n");
    assert_eq!(table.kind(Path::new("/sys")), "");
}
