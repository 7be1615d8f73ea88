//! The tools there are. Readers never block readers, nor wait for a writer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::{Stop, Tool};

pub use declare::{Shape, WhichTools};
pub use registered::{ExtraArgs, Registered, Registration, check_tool_name};
pub use schema_check::{SchemaError, check_lazy_schema, check_schema};
pub use search::SearchHit;

pub(crate) mod arguments;
mod declare;
mod plain_schema;
mod registered;
mod schema_check;
mod search;

/// More tools than this are more than a model keeps in view.
pub const MANY_TOOLS: usize = 40;

/// The tools there are, by name and alias.
///
/// Every change makes a new snapshot; whoever is reading keeps the old one. A call that has
/// found its tool keeps it, whatever happens to the registry meanwhile.
#[derive(Default)]
pub struct Registry {
    now: ArcSwap<Snapshot>,
    writing: Mutex<()>,
    changed: watch::Sender<()>,
}

/// All tools at one moment, and what was rendered of them.
#[derive(Default)]
struct Snapshot {
    /// Sorted by name. A change copies one pointer for each tool and nothing else.
    tools: Vec<Arc<Registered>>,
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

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a tool that the embedding program vouches for.
    pub fn add(&self, tool: impl Tool) -> Result<(), RegistryError> {
        self.register(Registration::new(tool))
    }

    /// Adds a tool. A name or alias that is taken is refused, unless the registration says that
    /// it replaces the tool of the same name.
    pub fn register(&self, registration: Registration) -> Result<(), RegistryError> {
        let over = registration.over;
        let new = Arc::new(Registered::new(registration)?);
        let _writing = self.writing();
        let now = self.now.load();
        let mut tools = now.tools.clone();
        match now.place(new.name()) {
            Ok(at) => {
                let replaces = |old: &Arc<Registered>| {
                    over && (new.server().is_none() || new.server() == old.server())
                };
                match tools.get_mut(at) {
                    Some(old) if replaces(old) => {
                        if old.was_found() {
                            new.set_found();
                        }
                        *old = new.clone();
                    }
                    _ => return Err(RegistryError::Duplicate(new.name().to_owned())),
                }
            }
            Err(at) => tools.insert(at, new.clone()),
        }
        if let Some(name) = taken(&tools, &new) {
            return Err(RegistryError::Duplicate(name.to_owned()));
        }
        self.show(Snapshot::of(tools));
        Ok(())
    }

    /// Takes a tool away, and gives it back.
    pub fn remove(&self, name: &str) -> Result<Arc<Registered>, RegistryError> {
        let _writing = self.writing();
        let now = self.now.load();
        let at = now.place(name).map_err(|_| RegistryError::NotFound(name.to_owned()))?;
        let mut tools = now.tools.clone();
        let removed = tools.remove(at);
        self.show(Snapshot::of(tools));
        Ok(removed)
    }

    /// Takes all tools away.
    pub fn clear(&self) {
        let _writing = self.writing();
        self.show(Snapshot::default());
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
        self.now.load().tools.clone()
    }

    /// The tools that models see, by name: not those that wait for a search to find them.
    pub fn visible(&self) -> Vec<Arc<Registered>> {
        self.now.load().visible()
    }

    /// Shows models a tool that a search has found, from now on.
    pub fn mark_found(&self, tool: &Registered) {
        if !tool.deferred() && !tool.deferred_when_many() {
            return;
        }
        let _writing = self.writing();
        tool.set_found();
        let now = self.now.load();
        // The same tools, but what was rendered of them holds no longer.
        self.show(Snapshot::of(now.tools.clone()));
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

    /// Up to three names and aliases that look like this one, nearest first, one of each tool.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let now = self.now.load();
        let mut near = search::nearest(name, now.names());
        let mut tools: Vec<&str> = Vec::new();
        near.retain(|it| {
            let tool = now.get(it).map_or("", |it| it.name());
            let new = !tools.contains(&tool);
            tools.push(tool);
            new
        });
        near.truncate(3);
        near
    }

    /// Wakes up whenever tools came or went.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn show(&self, next: Snapshot) {
        self.now.store(Arc::new(next));
        self.changed.send_replace(());
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    fn of(tools: Vec<Arc<Registered>>) -> Snapshot {
        Snapshot { tools, rendered: declare::Cache::default() }
    }

    fn visible(&self) -> Vec<Arc<Registered>> {
        let at_first: Vec<_> = self.tools.iter().filter(|it| !it.deferred()).collect();
        let many = at_first.len() > MANY_TOOLS;
        let seen = at_first.into_iter().filter(|it| !(many && it.deferred_when_many()));
        seen.cloned().collect()
    }

    /// Where the tool of this name is, or would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.tools.binary_search_by(|it| it.name().cmp(name))
    }

    fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        match self.place(name) {
            Ok(at) => self.tools.get(at),
            Err(_) => self.tools.iter().find(|it| aliases(it).any(|it| it == name)),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let listed = self.tools.iter().filter(|it| !it.unlisted()).map(|it| it.name());
        listed.chain(self.tools.iter().flat_map(|it| aliases(it)))
    }
}

fn aliases(tool: &Registered) -> impl Iterator<Item = &str> {
    tool.facts().aliases.iter().map(String::as_str)
}

/// A name or alias that one of these tools, a new one, has in common with another, or has twice.
fn taken<'a>(tools: &'a [Arc<Registered>], new: &'a Arc<Registered>) -> Option<&'a str> {
    let others = || tools.iter().filter(|it| !Arc::ptr_eq(it, new));
    let of_another = |name: &str| others().any(|it| aliases(it).any(|it| it == name));
    let name_taken = of_another(new.name()).then(|| new.name());
    let alias_taken = aliases(new).enumerate().find(|(at, alias)| {
        aliases(new).take(*at).chain([new.name()]).any(|it| it == *alias)
            || others().any(|it| it.name() == *alias)
            || of_another(alias)
    });
    name_taken.or(alias_taken.map(|(_, alias)| alias))
}
