//! Keeping "always": a rule for this workspace, or for every workspace in the person's own
//! configuration, comments untouched.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::read_text::read_text;
use eclusa::{
    Grant,
    approve::{Remember, RememberError},
};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// The rules that a person wants in every workspace, until they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Everywhere(Arc<Mutex<BTreeSet<String>>>);

impl Everywhere {
    /// The person wants this one in every workspace.
    pub(crate) fn insert(&self, grant: &Grant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(rule(grant));
    }

    fn remove(&self, grant: &Grant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&rule(grant))
    }
}

/// Keeps answers as rules in a file.
pub(crate) struct RuleWriter {
    workspace: PathBuf,
    person: PathBuf,
    everywhere: Everywhere,
    writing: Mutex<()>,
}

impl RuleWriter {
    /// Keeps rules in the file of the workspace, and in that of the person where they said so.
    /// Neither need be there yet.
    pub(crate) fn new(workspace: PathBuf, person: PathBuf, everywhere: Everywhere) -> RuleWriter {
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

/// The rule that a grant would be kept as, to be shown before it is.
pub(crate) fn rule(grant: &Grant) -> String {
    let mut rules = ArrayOfTables::new();
    rules.push(table(grant));
    let mut document = DocumentMut::new();
    document.insert("rules", Item::ArrayOfTables(rules));
    document.to_string().trim().to_owned()
}

fn table(grant: &Grant) -> Table {
    let mut table = Table::new();
    table.insert("tool", value(grant.tool.as_str()));
    table.insert("decision", value("allow"));
    let scope = grant.scope.iter();
    for (key, all) in
        scope.flat_map(|it| [("command", &it.commands), ("path", &it.paths), ("domain", &it.hosts)])
    {
        match all.as_slice() {
            [] => {}
            [only] => {
                table.insert(key, value(only.as_str()));
            }
            all => {
                table.insert(key, value(all.iter().collect::<Array>()));
            }
        }
    }
    table.insert("reason", value("a person answered always"));
    table
}

/// The file with one more rule at the end of its rules.
fn with_rule(text: &str, grant: &Grant) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|err| format!("is not TOML: {err}"))?;
    let rules = document.entry("rules").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let rules = rules
        .as_array_of_tables_mut()
        .ok_or("writes its rules as a list in brackets, to which none can be added here")?;
    rules.push(table(grant));
    Ok(document.to_string())
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
pub(crate) fn replace(file: &Path, text: impl AsRef<[u8]>) -> std::io::Result<()> {
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
