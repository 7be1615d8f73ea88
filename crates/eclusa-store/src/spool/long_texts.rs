//! Texts that are too long to be held: in files of their own beside the store, so that they are
//! written and read piece by piece.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    ops::Range,
    os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::{Spool, workspace::HashBuilder};

/// A file that was begun so long ago was never finished.
const MAX_UNFINISHED: Duration = Duration::from_secs(3600);

/// Where the long texts of a store are.
pub(super) fn place(store: &Path) -> PathBuf {
    store.with_extension("outputs")
}

/// A text that is being written. Dropped before its end, it is gone.
pub(super) struct LongText {
    place: PathBuf,
    part: PathBuf,
    file: File,
    bytes: u64,
    hash: HashBuilder,
    finished: bool,
}

impl LongText {
    /// Begins a text beside this store.
    pub(super) fn begin(store: &Path) -> io::Result<LongText> {
        let place = place(store);
        match fs::DirBuilder::new().mode(0o700).create(&place) {
            Err(err) if err.kind() != io::ErrorKind::AlreadyExists => return Err(err),
            _ => {}
        }
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let id = std::process::id();
        let names = (0_u32..10_000).map(|n| place.join(format!("{id}-{n}.part")));
        for part in names {
            match options.open(&part) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                opened => {
                    let (file, hash) = (opened?, HashBuilder::default());
                    return Ok(LongText { place, part, file, bytes: 0, hash, finished: false });
                }
            }
        }
        Err(io::Error::other("too many outputs are being saved"))
    }

    /// Adds a piece, and says how long the text is now.
    pub(super) fn add(&mut self, piece: &str) -> io::Result<u64> {
        self.file.write_all(piece.as_bytes())?;
        self.hash.add(piece.as_bytes());
        self.bytes += piece.len() as u64;
        Ok(self.bytes)
    }

    /// Gives it its name: what it is kept as, and how long it is.
    #[expect(clippy::disallowed_methods, reason = "the store's own files")]
    pub(super) fn finish(mut self) -> io::Result<(String, u64)> {
        self.file.sync_all()?;
        let reference = <dyn Spool>::reference_of(std::mem::take(&mut self.hash).finish());
        fs::rename(&self.part, self.place.join(&reference))?;
        self.finished = true;
        Ok((reference, self.bytes))
    }
}

impl Drop for LongText {
    #[expect(clippy::disallowed_methods, reason = "the store's own files")]
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// The part of a text in this range of bytes, cut to whole characters.
pub(super) fn read(
    store: &Path,
    reference: &str,
    bytes: u64,
    range: Range<usize>,
) -> io::Result<String> {
    let damaged = || super::damaged(reference);
    let file = File::open(place(store).join(reference)).map_err(|_| damaged())?;
    if file.metadata().map(|it| it.len()).ok() != Some(bytes) {
        return Err(damaged());
    }
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let (start, end) = (range.start.min(length), range.end.min(length));
    let mut content = vec![0; end.saturating_sub(start)];
    file.read_exact_at(&mut content, start as u64).map_err(|_| damaged())?;
    let begin = content.iter().take(3).take_while(|it| **it & 0xc0 == 0x80).count();
    let content = content.get(begin..).unwrap_or_default();
    match std::str::from_utf8(content) {
        Ok(text) => Ok(text.to_owned()),
        // The last character is not all there.
        Err(err) if err.error_len().is_none() => {
            let whole = content.get(..err.valid_up_to()).unwrap_or_default();
            Ok(String::from_utf8_lossy(whole).into_owned())
        }
        Err(_) => Err(damaged()),
    }
}

/// Removes the files of texts that are no longer kept, and what was never finished.
#[expect(clippy::disallowed_methods, reason = "the store's own files")]
pub(super) fn sweep(store: &Path, is_kept: impl Fn(&str) -> bool) {
    let entries = fs::read_dir(place(store)).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let modified = entry.metadata().and_then(|it| it.modified()).ok();
        let age = modified.and_then(|it| it.elapsed().ok()).unwrap_or_default();
        let unfinished = name.ends_with(".part");
        if (unfinished && age > MAX_UNFINISHED) || (!unfinished && !is_kept(&name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
