//! The token of `eclusa up`: made once, kept in a file that only its owner can read.

use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use eclusa::{Durability, random::random_name, workspace::private_file};

use crate::read_text::read_text;

/// How many random bytes a token has.
const BYTES: usize = 32;

/// The token in this file; where there is none, a new one. A file that others can read or write, or
/// that is somebody else's, is not used.
pub fn read_or_make(file: &Path) -> io::Result<String> {
    match fs::symlink_metadata(file) {
        Ok(found) => {
            let user = rustix::process::geteuid().as_raw();
            if !found.is_file() || found.uid() != user || found.mode() & 0o077 != 0 {
                return Err(io::Error::other(format!(
                    "`{}` must be a file that only you can read (chmod 600): remove it to have a \
                     new token made",
                    file.display()
                )));
            }
            let text = read_text(file)?;
            match text.trim() {
                token
                    if token.len() == 2 * BYTES
                        && token.bytes().all(|it| it.is_ascii_hexdigit()) =>
                {
                    Ok(token.to_owned())
                }
                _ => make(file),
            }
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => make(file),
        Err(err) => Err(err),
    }
}

/// A new token, kept in this file.
fn make(file: &Path) -> io::Result<String> {
    let failed = |err: io::Error| {
        let file = file.display();
        let text = format!(
            "no token can be kept in `{file}` ({err}): free some space or name another place with `--state`"
        );
        io::Error::new(err.kind(), text)
    };
    write_new(file).map_err(failed)
}

fn write_new(file: &Path) -> io::Result<String> {
    let token = random_name::<BYTES>()?;
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    private_file::write(file, format!("{token}\n"), Durability::PowerLoss)?;
    Ok(token)
}

#[cfg(test)]
mod tests;
