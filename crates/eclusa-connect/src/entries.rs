//! What is written into an agent's settings, file by file.

use serde_json::Value;

/// What an installation needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallFacts {
    /// The program, as the agent starts it: a path, or a name for a file that others share.
    pub program: String,
    /// A name for a hook that nobody can guess: 16 hexadecimal digits.
    pub nonce: String,
    /// For the machine instead of a person: hooks of others are switched off where that is possible.
    pub managed: bool,
    /// For one project instead of a person.
    pub project: bool,
}

/// A file that belongs to an agent, by where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryFile {
    /// Below the home directory.
    Home(&'static str),
    /// Below the directory that the agent keeps its settings in: a variable names it, or it is the
    /// one below the home directory.
    Settings(&'static str, &'static str, &'static str),
    /// Below the project.
    Project(&'static str),
    /// On the machine.
    Machine(&'static str),
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsEntry {
    /// Where.
    pub file: EntryFile,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// True when this entry is what stops calls: the hook, and not what goes with it.
    pub is_gate: bool,
    /// What.
    pub(crate) change: EntryChange,
}

/// What is changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EntryChange {
    /// A hook in the list at this path of keys, known by a text in it.
    JsonHook { path: Vec<&'static str>, value: Value, mark: String },
    /// A value at this path of keys.
    JsonValue { path: Vec<&'static str>, value: Value },
    /// A text in the list at this path of keys.
    JsonListed { path: Vec<&'static str>, value: &'static str },
    /// A table of a TOML file, by its dotted name.
    TomlTable { path: Vec<&'static str>, fields: Vec<(&'static str, Value)> },
    /// The whole file.
    Whole { text: String },
    /// The other servers in these lists of a JSON file, put behind our program.
    JsonServers { lists: Vec<Vec<&'static str>>, program: String },
    /// The other servers in this table of a TOML file.
    TomlServers { path: Vec<&'static str>, program: String },
}

/// A word that every shell takes for nothing but itself.
pub fn shell_quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What a hook runs. Should our program be missing, killed or broken, the tail says no.
pub(crate) fn hook_line(agent: &str, facts: &InstallFacts) -> String {
    format!(
        "{} hook {agent} || {{ echo 'eclusa: the hook did not run, so the call is refused; if eclusa was removed, install \
         it again or take its hooks out of the settings of this agent' >&2; exit 2; }}",
        shell_quoted(&facts.program),
    )
}

/// What the second hook runs, for agents that run a call whose hook ran out of time.
pub(crate) fn second_hook_line(agent: &str, facts: &InstallFacts) -> String {
    let first = hook_mark(agent);
    hook_line(agent, facts).replace(&first, &second_hook_mark(agent))
}

/// What tells our second hooks from others.
pub(crate) fn second_hook_mark(agent: &str) -> String {
    format!(" hook {agent} --second ||")
}

/// What tells our hooks from others.
pub(crate) fn hook_mark(agent: &str) -> String {
    format!(" hook {agent} ||")
}

impl InstallFacts {
    /// The file of these for whom it is installed. An agent without one for the machine has none.
    pub(crate) fn file(
        &self,
        person: EntryFile,
        project: EntryFile,
        machine: Option<EntryFile>,
    ) -> EntryFile {
        match (self.managed, self.project) {
            (true, _) => machine.unwrap_or(person),
            (false, true) => project,
            (false, false) => person,
        }
    }
}

impl EntryFile {
    /// True when its settings are written in TOML.
    pub(crate) fn is_toml(self) -> bool {
        let (EntryFile::Home(name)
        | EntryFile::Settings(_, _, name)
        | EntryFile::Project(name)
        | EntryFile::Machine(name)) = self;
        name.ends_with(".toml")
    }

    /// True when it is of those for whom it is installed.
    pub(crate) fn is_for(self, facts: &InstallFacts) -> bool {
        match self {
            EntryFile::Machine(_) => facts.managed,
            EntryFile::Project(_) => facts.project && !facts.managed,
            EntryFile::Home(_) | EntryFile::Settings(..) => !facts.project && !facts.managed,
        }
    }
}

impl SettingsEntry {
    /// A value at a path of keys.
    pub(crate) fn value(
        file: EntryFile,
        purpose: &'static str,
        path: Vec<&'static str>,
        value: Value,
    ) -> SettingsEntry {
        let change = EntryChange::JsonValue { path, value };
        SettingsEntry { file, purpose, is_gate: false, change }
    }
}
