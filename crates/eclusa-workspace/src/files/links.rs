//! How many names a file has.

use std::ffi::OsStr;

use super::{FileError, Files, RequestedPath, follow::Last};

impl Files {
    /// How many names the file at this path has: more than one where hard links lead to it.
    #[allow(clippy::unnecessary_cast, reason = "the field has other widths on other machines")]
    pub fn link_count(&self, asked: impl AsRef<OsStr>) -> Result<u64, FileError> {
        let place = self.resolve(&RequestedPath::new(asked.as_ref())?, Last::Followed)?;
        Ok(place.stat.map_or(0, |it| it.st_nlink as u64))
    }
}
