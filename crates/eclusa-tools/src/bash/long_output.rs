//! All of a long output while a command runs: what memory does not keep goes to a file without a
//! name, up to a size.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{OutputSource, WholeOutput};

use crate::sandboxes::unnamed_file;

/// The most that is kept of one output; what is beyond, up to the end that memory keeps, is lost,
/// and the output says so. Less than the output store takes.
const MAX_BYTES: u64 = 192 << 20;

/// Collects what memory does not keep. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct LongOutput(Arc<Mutex<Collected>>);

#[derive(Debug)]
struct Collected {
    /// Where the file is made.
    directory: PathBuf,
    /// How many bytes at the beginning memory keeps anyway.
    skip: u64,
    seen: u64,
    file: Option<File>,
    written: u64,
    /// No file could be made or written: what memory keeps is all there is.
    failed: bool,
}

impl LongOutput {
    /// Collects what comes after the first `skip` bytes, in a file in this directory.
    pub(super) fn new(directory: &Path, skip: usize) -> LongOutput {
        LongOutput(Arc::new(Mutex::new(Collected {
            directory: directory.to_owned(),
            skip: skip as u64,
            seen: 0,
            file: None,
            written: 0,
            failed: false,
        })))
    }

    /// The next bytes of the output.
    pub(super) fn add(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(bytes);
    }

    /// All of it, if memory has lost something: `head` and `tail` are what it kept.
    pub(super) fn whole(&self, head: &[u8], tail: &[u8], total: u64) -> Option<WholeOutput> {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = collected.file.take().filter(|_| !collected.failed)?;
        let kept = (head.len() as u64) + collected.written;
        // What is in the file reaches into what memory kept of the end.
        let tail_begins = total.saturating_sub(tail.len() as u64);
        let lost = tail_begins.saturating_sub(kept);
        let again = usize::try_from(kept.saturating_sub(tail_begins)).unwrap_or(usize::MAX);
        let gap = match lost {
            0 => String::new(),
            lost => format!("\n[… {lost} bytes lost: more than is saved of one output …]\n"),
        };
        let tail = [gap.as_bytes(), tail.get(again..).unwrap_or_default()].concat();
        let source = InFile {
            head: head.into(),
            file: Arc::new(file),
            length: collected.written,
            tail: tail.into(),
        };
        Some(WholeOutput::new(source, lost))
    }
}

impl Collected {
    fn add(&mut self, bytes: &[u8]) {
        let skip = self.skip.saturating_sub(self.seen).min(bytes.len() as u64);
        self.seen += bytes.len() as u64;
        let room = MAX_BYTES.saturating_sub(self.skip + self.written);
        let bytes = bytes.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        let bytes = bytes.get(..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
        let bytes = bytes.unwrap_or_default();
        if bytes.is_empty() || self.failed {
            return;
        }
        if self.file.is_none() {
            self.file = unnamed_file(&self.directory)
                .inspect_err(|err| tracing::warn!("a long output is not kept whole: {err}"))
                .ok();
        }
        let written = self.file.as_ref().map(|it| it.write_all_at(bytes, self.written));
        match written {
            Some(Ok(())) => self.written += bytes.len() as u64,
            _ => self.failed = true,
        }
    }
}

/// An output in three parts.
struct InFile {
    head: Arc<[u8]>,
    file: Arc<File>,
    length: u64,
    tail: Arc<[u8]>,
}

impl OutputSource for InFile {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let middle = Middle { file: self.file.clone(), at: 0, length: self.length };
        let (head, tail) = (Cursor::new(self.head.clone()), Cursor::new(self.tail.clone()));
        Ok(Box::new(head.chain(middle).chain(tail)))
    }
}

/// Reads a file from its beginning, whoever else reads it.
struct Middle {
    file: Arc<File>,
    at: u64,
    length: u64,
}

impl Read for Middle {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.at).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        let Some(into) = into.get_mut(..most).filter(|it| !it.is_empty()) else { return Ok(0) };
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
