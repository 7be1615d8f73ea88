//! Whether a file can be read without waiting for a disk, a network or another program. Then a
//! caller may read it where it stands, instead of handing it to a thread that may wait.

use std::path::Path;

use super::Files;
#[cfg(target_os = "linux")]
use super::Kind;

/// Filesystems of this machine's own disks and memory, by the number that the kernel has for them. A
/// network or a program may take as long as it likes to open a file, whatever is in memory.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 7] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x794c_7630, // overlay
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
];

impl Files {
    /// True when this file has at most so many bytes and all of it is in memory. False wherever
    /// that is not certain. Nothing is judged: whoever reads it goes through [`Files::file`].
    pub fn is_in_memory(&self, asked: &str, most: usize) -> bool {
        self.in_memory(Path::new(asked), most).is_some()
    }

    #[cfg(target_os = "linux")]
    fn in_memory(&self, asked: &Path, most: usize) -> Option<()> {
        use rustix::{fs::OFlags, io::ReadWriteFlags};
        use std::io::IoSliceMut;
        let kind = rustix::fs::fstatfs(self.handle()).ok()?.f_type;
        // Sign and width of the number differ from machine to machine.
        LOCAL.contains(&(kind as u32)).then_some(())?;
        let name = asked.strip_prefix(self.root()).unwrap_or(asked);
        let looked = self.beneath().in_memory(self.handle(), name, OFlags::PATH)?;
        let stat = rustix::fs::fstat(&looked).ok()?;
        let size = usize::try_from(stat.st_size).ok().filter(|it| *it <= most)?;
        (Kind::of(&stat) == Kind::File).then_some(())?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.beneath().in_memory(self.handle(), name, flags)?;
        let mut bytes = vec![0; size];
        let mut into = [IoSliceMut::new(&mut bytes)];
        let read = rustix::io::preadv2(&file, &mut into, 0, ReadWriteFlags::NOWAIT).ok()?;
        (read == size).then_some(())
    }

    #[cfg(not(target_os = "linux"))]
    fn in_memory(&self, _: &Path, _: usize) -> Option<()> {
        None
    }
}
