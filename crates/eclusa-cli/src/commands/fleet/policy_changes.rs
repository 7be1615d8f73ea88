//! What a new version of a policy newly permits or forbids, entry by entry, as facts beside the version.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use eclusa_config::{Config, Layer, ProjectEntries};
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use crate::screen::Style;

/// An entry of a file: its key, and its value as TOML.
type Entry = (String, String);

/// Which way an entry changes what machines do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeDirection {
    Loosens,
    Changes,
    Tightens,
}

impl ChangeDirection {
    fn as_str(self) -> &'static str {
        match self {
            ChangeDirection::Loosens => "loosens",
            ChangeDirection::Changes => "changes",
            ChangeDirection::Tightens => "tightens",
        }
    }
}

/// An entry that one version has and the other has not.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PolicyChange {
    direction: ChangeDirection,
    file: String,
    key: String,
    before: Option<String>,
    after: Option<String>,
}

impl fmt::Display for PolicyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyChange { direction, file, key, before, after } = self;
        write!(f, "{}: {file}: ", direction.as_str())?;
        match (before, after) {
            (Some(before), Some(after)) => write!(f, "{key} = {after}, was {before}"),
            (None, Some(after)) => write!(f, "{key} = {after}"),
            (before, None) => {
                write!(f, "no longer {key} = {}", before.as_deref().unwrap_or_default())
            }
        }
    }
}

impl PolicyChange {
    pub(super) fn style(&self) -> Style {
        if self.direction == ChangeDirection::Tightens { Style::Plain } else { Style::Warn }
    }

    pub(super) fn as_json(&self) -> Value {
        let PolicyChange { direction, file, key, before, after } = self;
        let direction = direction.as_str();
        json!({"direction": direction, "file": file, "key": key, "before": before, "after": after})
    }
}

/// What differs between the files of two versions: what loosens comes first.
pub(super) fn compare(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<PolicyChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let text =
        |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned().unwrap_or_default();
    let mut changes: Vec<PolicyChange> = names
        .into_iter()
        .flat_map(|name| in_file(name, &text(before, name), &text(after, name)))
        .collect();
    changes.sort();
    changes
}

/// What differs between two texts of a file. What counts as looser is what a file that nobody vouches for may not say: each
/// text is read as such a file over the other one.
fn in_file(file: &str, before: &str, after: &str) -> Vec<PolicyChange> {
    let all = |it: &ProjectEntries| -> BTreeSet<Entry> {
        it.loosening().iter().chain(it.tightening()).cloned().collect()
    };
    let (new, old) = (over(before, after), over(after, before));
    let (all_new, all_old) = (all(&new), all(&old));
    let added: Vec<&Entry> = all_new.difference(&all_old).filter(|it| counts(after, it)).collect();
    let removed: Vec<&Entry> =
        all_old.difference(&all_new).filter(|it| counts(before, it)).collect();
    let other = |of: &[&Entry], key: &str| {
        let found = of.iter().find(|it| it.0 == key && !is_one_of_several(key));
        found.map(|it| (**it).clone())
    };
    let mut changes = Vec::new();
    for entry in &added {
        let (key, value) = (*entry).clone();
        let was = other(&removed, &key);
        let is_looser = new.loosening().contains(*entry);
        let was_looser = was.as_ref().is_some_and(|it| old.loosening().contains(it));
        let direction = match (is_looser, was_looser) {
            _ if key.starts_with("fleet") => ChangeDirection::Changes,
            (true, true) => ChangeDirection::Changes,
            (true, false) => ChangeDirection::Loosens,
            (false, _) => ChangeDirection::Tightens,
        };
        let (file, before) = (file.to_owned(), was.map(|it| it.1));
        changes.push(PolicyChange { direction, file, key, before, after: Some(value) });
    }
    for entry in removed.iter().filter(|it| other(&added, &it.0).is_none()) {
        let (key, value) = (*entry).clone();
        let direction = match old.loosening().contains(*entry) {
            _ if key.starts_with("fleet") => ChangeDirection::Changes,
            true => ChangeDirection::Tightens,
            false => ChangeDirection::Loosens,
        };
        let file = file.to_owned();
        changes.push(PolicyChange { direction, file, key, before: Some(value), after: None });
    }
    changes
}

/// True for keys of which a file has several, so that a new one does not replace an old one.
fn is_one_of_several(key: &str) -> bool {
    key == "rules"
}

/// The entries of a text over another one. The rules of the other are left out: names of rules must be unique, and how
/// strict a rule is depends on no other.
fn over(below: &str, text: &str) -> ProjectEntries {
    let without_rules = below.parse::<DocumentMut>().map(|mut it| {
        it.remove("rules");
        it.to_string()
    });
    let below = [Layer::of_person("below", without_rules.unwrap_or_default())];
    let found =
        Config::project_entries(&below, text).or_else(|_| Config::project_entries(&[], text));
    found.unwrap_or_default()
}

/// Whether an entry of a policy counts for anything on a machine with nothing else: what is looser than what the program
/// says by itself does not.
fn counts(text: &str, entry: &Entry) -> bool {
    let layer = Layer::of_administrator("policy", text);
    let settings = Config::load(&[layer]).map(|it| it.settings()).unwrap_or_default();
    settings
        .iter()
        .any(|it| it.origin.starts_with("policy:") && it.key == entry.0 && it.value == entry.1)
}
