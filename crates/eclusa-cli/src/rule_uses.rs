//! Counts the uses of rules that hold for so many calls, in a file beside the log, so that a count
//! outlives the program.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read, Seek, Write},
    path::PathBuf,
};

use eclusa::Tally;

/// A file of counts. Whoever changes it holds its lock.
pub(crate) struct RuleUses(pub(crate) PathBuf);

type Counts = BTreeMap<String, u64>;

impl RuleUses {
    /// The file, locked, and what is in it.
    fn open(&self) -> Result<(File, Counts), String> {
        let failed = |err: std::io::Error| format!("`{}`: {err}", self.0.display());
        if let Some(directory) = self.0.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.0).map_err(failed)?;
        file.lock().map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let counts = match text.trim() {
            "" => Ok(Counts::new()),
            text => serde_json::from_str(text),
        };
        let counts = counts.map_err(|err| format!("`{}`: {err}", self.0.display()))?;
        Ok((file, counts))
    }
}

impl Tally for RuleUses {
    fn used(&self, id: &str) -> Result<u64, String> {
        Ok(self.open()?.1.get(id).copied().unwrap_or_default())
    }

    fn take(&self, id: &str, times: u64) -> Result<bool, String> {
        let (mut file, mut counts) = self.open()?;
        let used = counts.entry(id.to_owned()).or_default();
        if *used >= times {
            return Ok(false);
        }
        *used += 1;
        let text = serde_json::to_string(&counts).map_err(|err| err.to_string())?;
        // Counts only grow, so the new text covers the old one.
        let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
        written.and_then(|()| file.sync_data()).map_err(|err| err.to_string())?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
