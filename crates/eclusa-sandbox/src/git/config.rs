//! What a git configuration file says, as git itself reads it.
//!
//! A file with nothing but plain sections and plain values is read by [`read_plain_config`]. For any
//! other, git is asked.

use std::io::Read as _;
use std::path::Path;

use eclusa_git::{ConfigName, read_config_list, read_plain_config};

use super::ask;

/// Bytes of a configuration file. One that is longer cannot be judged.
const MAX_BYTES: u64 = 4 << 20;

/// All names of a file with their values, in order; what it includes is not followed. `None`: nobody
/// can say what git would make of it.
pub(super) fn read(file: &Path) -> Option<Vec<(ConfigName, Vec<u8>)>> {
    // A pipe or device in the place of a file would make us wait; git waits for it too.
    match std::fs::metadata(file) {
        Ok(it) if it.is_file() && it.len() > MAX_BYTES => return None,
        Ok(it) if it.is_file() => {}
        Ok(it) => return it.is_dir().then(Vec::new),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
        // What we may not read the command may not read either.
        Err(_) => return Some(Vec::new()),
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok();
    let read = opened.map(|it| it.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match read {
        None => return Some(Vec::new()),
        Some(Err(_)) => return None,
        Some(Ok(length)) if length as u64 > MAX_BYTES => return None,
        Some(Ok(_)) => {}
    }
    read_plain_config(&bytes).or_else(|| asked(file))
}

/// What git says of a file. One that git cannot read stops every git that meets it.
fn asked(file: &Path) -> Option<Vec<(ConfigName, Vec<u8>)>> {
    let mut command = ask::git()?;
    command.args(["config", "--no-includes", "--list", "-z", "--file"]).arg(file);
    let output = ask::output(command)?;
    Some(read_config_list(&output))
}
