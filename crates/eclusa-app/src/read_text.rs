//! Reading configuration files: plain files of a bounded size. A repository can hold a link to a
//! device or a pipe, and none of them may hang the program or fill its memory.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// The largest configuration file that is read, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// The text of a file. A device, a pipe, a socket or a file that is too large is an error, and is
/// not read. The null device is an empty file: people name it to have no configuration.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_of(path, MAX_BYTES)
}

/// The same, for files that others make and that may be this large.
pub fn read_text_of(path: &Path, max_bytes: u64) -> io::Result<String> {
    if path == Path::new("/dev/null") {
        return Ok(String::new());
    }
    // Opening a pipe waits for a writer, unless asked not to.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    // Room for all of it and a byte more: read at once, and its end seen at once.
    let room = usize::try_from(found.len().min(max_bytes)).unwrap_or_default() + 1;
    let mut text = String::with_capacity(room);
    file.take(max_bytes + 1).read_to_string(&mut text)?;
    match u64::try_from(text.len()).is_ok_and(|it| it > max_bytes) {
        true => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is larger than {} MiB", max_bytes >> 20),
        )),
        false => Ok(text),
    }
}
