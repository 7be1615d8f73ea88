//! Keeping "always": a rule for this workspace, or for every workspace in the person's own
//! configuration, comments untouched.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::read_text::read_text;
use eclusa::{
    Grant,
    approve::{Remember, RememberError},
};
use eclusa_config::with_rule;
use eclusa_term::terminal::Everywhere;

/// Keeps answers as rules in a file.
pub struct RuleWriter {
    workspace: PathBuf,
    person: PathBuf,
    everywhere: Everywhere,
    writing: Mutex<()>,
}

impl RuleWriter {
    /// Keeps rules in the file of the workspace, and in that of the person where they said so.
    /// Neither need be there yet.
    pub fn new(workspace: PathBuf, person: PathBuf, everywhere: Everywhere) -> RuleWriter {
        RuleWriter { workspace, person, everywhere, writing: Mutex::new(()) }
    }
}

impl Remember for RuleWriter {
    fn always(&self, grant: &Grant) -> Result<(), RememberError> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match self.everywhere.remove(grant) {
            true => &self.person,
            false => &self.workspace,
        };
        let failed = |what: String| format!("`{}` {what}", file.display());
        let text = match read_text(file) {
            Ok(text) => text,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(err) => return Err(failed(format!("cannot be read: {err}")).into()),
        };
        let text = with_rule(&text, grant).map_err(failed)?;
        Ok(replace(file, &text).map_err(|err| failed(format!("cannot be written: {err}")))?)
    }
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
pub fn replace(file: &Path, text: impl AsRef<[u8]>) -> std::io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let directory = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    new.write_all(text.as_ref())?;
    if let Ok(old) = file.metadata() {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(&file)?;
    Ok(())
}

#[cfg(test)]
mod tests;
