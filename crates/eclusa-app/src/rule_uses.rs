//! Counts the uses of rules that hold for so many calls, in a file beside the log, so that a count
//! outlives the program.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read, Seek, Write},
    path::PathBuf,
};

use eclusa::{
    approve::{RuleUse, Tally, TallyError},
    policy::CountedRule,
};
use serde::{Deserialize, Serialize};

/// A file of counts. Whoever changes it holds its lock.
pub struct RuleUses(pub PathBuf);

type Counts = BTreeMap<String, Count>;

/// The uses of one rule, as they are written: the first version had nothing but a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Count {
    Total(u64),
    Uses(RuleUse),
}

impl Count {
    fn uses(&self) -> RuleUse {
        match self {
            Count::Total(total) => RuleUse { total: *total, times: Vec::new() },
            Count::Uses(uses) => uses.clone(),
        }
    }
}

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
    fn used(&self, rule: &CountedRule, now: u64) -> Result<u64, TallyError> {
        Ok(self.open()?.1.get(&rule.id).map_or(0, |it| it.uses().count(rule, now)))
    }

    fn take(&self, rule: &CountedRule, now: u64) -> Result<bool, TallyError> {
        let (mut file, mut counts) = self.open()?;
        let mut uses = counts.get(&rule.id).map(Count::uses).unwrap_or_default();
        if !uses.take(rule, now) {
            return Ok(false);
        }
        counts.insert(rule.id.clone(), Count::Uses(uses));
        let text = serde_json::to_string(&counts).map_err(|err| err.to_string())?;
        // What is shorter than before is filled with blanks, so that no moment has half of it.
        let length = file.metadata().map_or(0, |it| usize::try_from(it.len()).unwrap_or(0));
        let written = file.rewind().and_then(|()| write!(file, "{text:<length$}"));
        written.and_then(|()| file.sync_data()).map_err(|err| err.to_string())?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
