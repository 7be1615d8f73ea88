//! Where programs lie in the room, and where their starts are noted.

use std::path::{Path, PathBuf};

/// Where starts are noted, in the room.
pub(crate) const LOG: &str = "/hunt/started";

/// Where real shells lie, in the room.
const SHELLS: &str = "/hunt/real";

/// Where programs are looked for.
pub(crate) const DIRECTORIES: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The program of this name.
pub(crate) fn real(name: &str) -> Option<PathBuf> {
    let shell = Path::new(SHELLS).join(name);
    let found = DIRECTORIES.iter().map(|it| Path::new(it).join(name));
    std::iter::once(shell).chain(found).find(|it| it.is_file())
}
