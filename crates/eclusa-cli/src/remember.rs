//! Keeping "always": a rule for this workspace, or for every workspace in the person's own
//! configuration, comments untouched.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::read_text::read_text;
use eclusa::{Grant, Remember};
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
    fn always(&self, grant: &Grant) -> Result<(), String> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match self.everywhere.remove(grant) {
            true => &self.person,
            false => &self.workspace,
        };
        let failed = |what: String| format!("`{}` {what}", file.display());
        let text = match read_text(file) {
            Ok(text) => text,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(err) => return Err(failed(format!("cannot be read: {err}"))),
        };
        let text = with_rule(&text, grant).map_err(failed)?;
        replace(file, &text).map_err(|err| failed(format!("cannot be written: {err}")))
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
mod tests {
    use eclusa::GrantScope;

    use super::*;

    fn grant() -> Grant {
        grant_for(GrantScope::default())
    }

    fn grant_for(scope: GrantScope) -> Grant {
        let (tool, revision) = ("note".to_owned(), "r".to_owned());
        Grant { tool, revision, args: None, scope: Some(scope) }
    }

    /// The narrowest rule that covers what was approved, and it can be read.
    #[test]
    fn a_rule_is_as_narrow_as_what_was_approved() {
        let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let commands = texts(&["git push origin main $", "curl https://a.example/x $"]);
        for (scope, line) in [
            (
                GrantScope { commands, ..GrantScope::default() },
                r#"command = ["git push origin main $", "curl https://a.example/x $"]"#,
            ),
            (GrantScope { paths: texts(&["/a.md"]), ..GrantScope::default() }, r#"path = "/a.md""#),
            (
                GrantScope { hosts: texts(&["a.example"]), ..GrantScope::default() },
                r#"domain = "a.example""#,
            ),
        ] {
            let rule = rule(&grant_for(scope));
            assert!(rule.lines().any(|it| it == line), "{rule}");
            eclusa_config::Config::load(&[eclusa_config::Layer::of_person("f", rule)]).unwrap();
        }
    }

    #[test]
    fn comments_and_rules_are_kept() {
        let before = "# mine\nmode = \"confirm-all\" # careful\n\n[[rules]]\ntool = \"echo\" # why\ndecision = \"deny\"\n";
        let after = with_rule(before, &grant()).unwrap();
        assert!(after.starts_with(before), "{after}");
        assert!(after.ends_with(&format!("{}\n", rule(&grant()))), "{after}");
    }

    #[test]
    fn what_is_shown_is_what_is_written_and_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/eclusa.toml");
        let person = dir.path().join("mine.toml");
        let everywhere = Everywhere::default();
        let writer = RuleWriter::new(file.clone(), person.clone(), everywhere.clone());
        writer.always(&grant()).unwrap();
        assert!(!person.exists(), "always is for this workspace");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim(), rule(&grant()));
        let config =
            eclusa_config::Config::load(&[eclusa_config::Layer::of_person("f", text)]).unwrap();
        assert!(config.rules.iter().any(|it| it.decision() == eclusa::Decision::Allow));
        // For every workspace only where the person said so, and once.
        everywhere.insert(&grant());
        writer.always(&grant()).unwrap();
        assert_eq!(std::fs::read_to_string(&person).unwrap().trim(), rule(&grant()));
        writer.always(&grant()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap().matches("[[rules]]").count(), 2);
    }

    #[test]
    fn a_file_that_is_not_toml_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("eclusa.toml");
        std::fs::File::create(&file).unwrap().write_all(b"not [ toml").unwrap();
        let person = dir.path().join("mine.toml");
        let writer = RuleWriter::new(file.clone(), person, Everywhere::default());
        let err = writer.always(&grant()).unwrap_err();
        assert!(err.contains("is not TOML"), "{err}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "not [ toml");
    }
}
