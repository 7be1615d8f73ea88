//! The tools there are. Readers never block readers, nor wait for a writer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use crate::{Facts, Hash, PermissionClass, ReviewConfig, Scene, Stop, Tool, digest::digest};

pub use declare::{Shape, Shown};
pub use search::Found;

pub(crate) mod arguments;
mod declare;
mod search;

use arguments::Arguments;

/// The tools there are, by name and alias.
///
/// Every change makes a new snapshot; whoever is reading keeps the old one. A call that has
/// found its tool keeps it, whatever happens to the registry meanwhile.
#[derive(Default)]
pub struct Registry {
    now: ArcSwap<Snapshot>,
    writing: Mutex<()>,
}

/// All tools at one moment, and what was rendered of them.
#[derive(Default)]
struct Snapshot {
    tools: BTreeMap<Arc<str>, Arc<Registered>>,
    aliases: BTreeMap<Arc<str>, Arc<str>>,
    rendered: declare::Cache,
}

/// Why a tool was not registered, or not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is empty, too long or has characters that no model API accepts.
    #[error("`{0}` is not a tool name: use 1 to 128 letters, digits, `_`, `-` or `.`")]
    BadName(String),
    /// The name or alias is taken.
    #[error("a tool is called `{0}` already")]
    Duplicate(String),
    /// The tool's schema is broken.
    #[error("the schema of tool `{tool}` cannot be used: {problem}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No tool has that name.
    #[error("no tool is called `{0}`")]
    NotFound(String),
}

/// A tool and what the embedding program says about it.
pub struct Registration {
    tool: Arc<dyn Tool>,
    review: ReviewConfig,
    server: Option<String>,
    over: bool,
    deferred: bool,
    extra: ExtraArgs,
    hidden: Vec<String>,
}

/// What happens to arguments that the schema does not name, where the schema itself says nothing
/// about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtraArgs {
    /// The call is refused, and the message names them.
    #[default]
    Refuse,
    /// They are left out.
    Strip,
    /// They are passed on, as JSON Schema has it.
    Keep,
}

impl Registration {
    /// A tool that the embedding program vouches for.
    pub fn of(tool: impl Tool) -> Registration {
        Registration::shared(Arc::new(tool))
    }

    /// The same for a tool that is shared already.
    pub fn shared(tool: Arc<dyn Tool>) -> Registration {
        Registration {
            tool,
            review: ReviewConfig::default(),
            server: None,
            over: false,
            deferred: false,
            extra: ExtraArgs::default(),
            hidden: Vec::new(),
        }
    }

    /// Its own reviewers.
    pub fn review(self, review: ReviewConfig) -> Registration {
        Registration { review, ..self }
    }

    /// It comes from somebody else. What it says about itself can raise what is demanded of it
    /// and never lower it: a class of `read-only` counts as `generic`, and it is sensitive.
    pub fn foreign(self, server: impl Into<String>) -> Registration {
        Registration { server: Some(server.into()), ..self }
    }

    /// It takes the place of a tool with the same name, if that one comes from the same place:
    /// nobody's tool can stand in for the program's own.
    pub fn replace(self) -> Registration {
        Registration { over: true, ..self }
    }

    /// It is not shown to models until a search has found it.
    pub fn deferred(self) -> Registration {
        Registration { deferred: true, ..self }
    }

    /// What happens to arguments that the schema does not name.
    pub fn extra(self, extra: ExtraArgs) -> Registration {
        Registration { extra, ..self }
    }

    /// Top-level arguments that models neither see nor set: what a model sends for them is
    /// left out; reviewers may fill them.
    pub fn hidden<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Registration {
        Registration { hidden: names.into_iter().map(Into::into).collect(), ..self }
    }
}

/// A tool as the registry keeps it: everything that is read of it once.
pub struct Registered {
    tool: Arc<dyn Tool>,
    name: Arc<str>,
    facts: Facts,
    class: PermissionClass,
    server: Option<String>,
    revision: String,
    operation: String,
    review: ReviewConfig,
    deferred: bool,
    arguments: Arguments,
}

impl Registered {
    fn new(it: Registration) -> Result<Registered, RegistryError> {
        let name = it.tool.name();
        let facts = it.tool.facts();
        for name in std::iter::once(name).chain(facts.aliases.iter().map(String::as_str)) {
            check_name(name)?;
        }
        let schema = it.tool.input_schema();
        let revision = revision(&*it.tool, &schema, &facts);
        let arguments = Arguments::new(schema, it.extra, &it.hidden)
            .map_err(|problem| RegistryError::BadSchema { tool: name.to_owned(), problem })?;
        let declared = facts.class.unwrap_or(PermissionClass::Generic);
        let foreign = it.server.is_some();
        Ok(Registered {
            name: name.into(),
            class: match declared {
                PermissionClass::ReadOnly if foreign => PermissionClass::Generic,
                class => class,
            },
            operation: operation(&facts, name),
            facts: Facts { sensitive: facts.sensitive || foreign, ..facts },
            server: it.server,
            revision,
            review: it.review,
            deferred: it.deferred,
            arguments,
            tool: it.tool,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What holds for every call of it, after what the registry knows better.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Which rules apply to it.
    pub fn class(&self) -> PermissionClass {
        self.class
    }

    /// The server it comes from, when it is not one of the program's own.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Changes whenever the tool may do something else: approvals are bound to it.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The word for what it does in the audit log.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Its own reviewers.
    pub fn review(&self) -> &ReviewConfig {
        &self.review
    }

    /// What it does, for the model.
    pub fn description(&self, scene: &Scene) -> String {
        self.tool.description(scene)
    }

    /// The schema of its arguments, as models see it.
    pub fn schema(&self) -> &Value {
        self.arguments.shown()
    }

    /// True when models see it only after a search has found it.
    pub fn deferred(&self) -> bool {
        self.deferred
    }

    pub(crate) fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a tool that the embedding program vouches for.
    pub fn add(&self, tool: impl Tool) -> Result<(), RegistryError> {
        self.register(Registration::of(tool))
    }

    /// Adds a tool. A name or alias that is taken is refused, unless the registration says that
    /// it replaces the tool of the same name.
    pub fn register(&self, registration: Registration) -> Result<(), RegistryError> {
        let over = registration.over;
        let tool = Arc::new(Registered::new(registration)?);
        let _writing = self.writing();
        let old = self.now.load();
        let mut tools = old.tools.clone();
        match tools.insert(tool.name.clone(), tool.clone()) {
            Some(old) if !over || tool.server.is_some() && tool.server != old.server => {
                return Err(RegistryError::Duplicate(tool.name.to_string()));
            }
            _ => {}
        }
        self.now.store(Arc::new(Snapshot::of(tools)?));
        Ok(())
    }

    /// Takes a tool away, and gives it back.
    pub fn remove(&self, name: &str) -> Result<Arc<Registered>, RegistryError> {
        let _writing = self.writing();
        let mut tools = self.now.load().tools.clone();
        let removed = tools.remove(name).ok_or_else(|| RegistryError::NotFound(name.to_owned()))?;
        self.now.store(Arc::new(Snapshot::of(tools)?));
        Ok(removed)
    }

    /// Takes all tools away.
    pub fn clear(&self) {
        let _writing = self.writing();
        self.now.store(Arc::default());
    }

    /// The tool of that name or alias.
    pub fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.now.load().get(name).cloned()
    }

    /// True when a tool has that name or alias.
    pub fn has(&self, name: &str) -> bool {
        self.now.load().get(name).is_some()
    }

    /// How many tools there are.
    pub fn count(&self) -> usize {
        self.now.load().tools.len()
    }

    /// All tools, by name.
    pub fn list(&self) -> Vec<Arc<Registered>> {
        self.now.load().tools.values().cloned().collect()
    }

    /// Exactly these tools, in the order of the names. No names, no tools.
    pub fn only<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<Arc<Registered>>, RegistryError> {
        let now = self.now.load();
        names
            .iter()
            .map(|name| {
                let name = name.as_ref();
                now.get(name).cloned().ok_or_else(|| RegistryError::NotFound(name.to_owned()))
            })
            .collect()
    }

    /// The tool a call asks for, or the answer that it is not there.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Registered>, Stop> {
        let found = self.now.load().get(name).cloned();
        found
            .ok_or_else(|| Stop::UnknownTool { name: name.to_owned(), nearest: self.nearest(name) })
    }

    /// Up to three names and aliases that look like this one, nearest first.
    pub(crate) fn nearest(&self, name: &str) -> Vec<String> {
        let now = self.now.load();
        search::nearest(name, now.tools.keys().chain(now.aliases.keys()))
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    fn of(tools: BTreeMap<Arc<str>, Arc<Registered>>) -> Result<Snapshot, RegistryError> {
        let mut aliases = BTreeMap::new();
        for (name, tool) in &tools {
            for alias in &tool.facts.aliases {
                let taken = tools.contains_key(alias.as_str())
                    || aliases.insert(alias.as_str().into(), name.clone()).is_some();
                if taken {
                    return Err(RegistryError::Duplicate(alias.clone()));
                }
            }
        }
        Ok(Snapshot { tools, aliases, rendered: declare::Cache::default() })
    }

    fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        self.tools
            .get(name)
            .or_else(|| self.aliases.get(name).and_then(|name| self.tools.get(name)))
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), RegistryError> {
    let fits = (1..=128).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it));
    if fits { Ok(()) } else { Err(RegistryError::BadName(name.to_owned())) }
}

/// A digest of everything that says what a call of the tool means.
fn revision(tool: &dyn Tool, schema: &Value, facts: &Facts) -> String {
    let hash: Hash = digest(&json!({
        "name": tool.name(),
        "revision": tool.revision(),
        "schema": schema,
        "class": facts.class.map(PermissionClass::as_str),
    }));
    let mut hex = hash.to_string();
    hex.truncate(16);
    hex
}

/// The tool's own word for what it does, or a guess from its name.
fn operation(facts: &Facts, name: &str) -> String {
    if !facts.audit_operation.is_empty() {
        return facts.audit_operation.clone();
    }
    let name = name.to_ascii_lowercase();
    let guesses = [
        ("delete", &["delete", "remove", "unlink"][..]),
        ("edit", &["edit", "patch", "replace"]),
        ("write", &["write", "create", "save", "put"]),
        ("execute", &["bash", "shell", "exec", "run"]),
        ("read", &["read", "get", "list", "search", "find", "grep", "glob", "fetch", "view"]),
    ];
    let guess = guesses.iter().find(|(_, words)| words.iter().any(|it| name.contains(it)));
    guess.map_or("invoke", |(operation, _)| operation).to_owned()
}
