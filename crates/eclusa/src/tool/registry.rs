//! The tools there are. Readers never block readers, nor wait for a writer.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::{Stop, Tool};

pub use declare::WhichTools;
pub use registered::{ExtraArgs, Registered, Registration, check_tool_name};
pub use schema_check::{SchemaError, check_lazy_schema, check_schema};
pub use search::SearchHit;

use snapshot_builder::{SnapshotBuilder, aliases, place};

pub(crate) mod arguments;
mod declare;
mod plain_schema;
mod registered;
mod schema_check;
mod search;
mod snapshot_builder;

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
    hides: OnceLock<HidesTool>,
    missing: OnceLock<WhyMissing>,
}

/// Whether a tool is kept from models.
type HidesTool = Box<dyn Fn(&Registered) -> bool + Send + Sync>;

/// Why there is no tool of this name, where somebody knows.
type WhyMissing = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// All tools at one moment, and what was rendered of them.
#[derive(Default)]
struct Snapshot {
    /// Sorted by name. A change copies one pointer for each tool.
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
        self.register_all(vec![registration]).pop().unwrap_or(Ok(()))
    }

    /// Adds tools, all at the same moment. One that is refused leaves the others alone; the answers
    /// are in the order of the tools.
    pub fn register_all(&self, registrations: Vec<Registration>) -> Vec<Result<(), RegistryError>> {
        // Outside the lock: schemas are compiled here.
        let new: Vec<_> = registrations
            .into_iter()
            .map(|it| (it.over, Registered::new(it).map(Arc::new)))
            .collect();
        let _writing = self.writing();
        let now = self.now.load();
        let mut next = SnapshotBuilder::new(&now.tools);
        let added: Vec<_> = new
            .iter()
            .map(|(over, new)| match new {
                Ok(new) => next.add(new, *over),
                Err(why) => Err(why.clone()),
            })
            .collect();
        if added.iter().any(Result::is_ok) {
            self.show(Snapshot::new(next.tools));
        }
        added
    }

    /// Takes a tool away, and gives it back.
    pub fn remove(&self, name: &str) -> Result<Arc<Registered>, RegistryError> {
        let _writing = self.writing();
        let now = self.now.load();
        let at = place(&now.tools, name).map_err(|_| RegistryError::NotFound(name.to_owned()))?;
        let mut tools = now.tools.clone();
        let removed = tools.remove(at);
        self.show(Snapshot::new(tools));
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

    /// The tools that models see, by name: not those that wait for a search to find them, nor those that
    /// are kept from them.
    pub fn visible(&self) -> Vec<Arc<Registered>> {
        let mut tools = self.now.load().visible();
        tools.retain(|it| !self.is_hidden(it));
        tools
    }

    /// Keeps those tools from models of which this is true: they are neither declared nor found. A call of
    /// one is judged as ever. To be said once, before anything is declared.
    pub fn hide(&self, hides: impl Fn(&Registered) -> bool + Send + Sync + 'static) {
        let _ = self.hides.set(Box::new(hides));
    }

    /// Whether a tool is kept from models.
    pub fn is_hidden(&self, tool: &Registered) -> bool {
        self.hides.get().is_some_and(|hides| hides(tool))
    }

    /// Says why tools are not there that could be, like those of a server that is down. To be said once.
    pub fn explain_missing(&self, why: impl Fn(&str) -> Option<String> + Send + Sync + 'static) {
        let _ = self.missing.set(Box::new(why));
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
        self.show(Snapshot::new(now.tools.clone()));
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
        found.ok_or_else(|| match self.missing.get().and_then(|why| why(name)) {
            Some(why) => Stop::Unavailable { why },
            None => Stop::UnknownTool { name: name.to_owned(), nearest: self.nearest(name) },
        })
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
    fn new(tools: Vec<Arc<Registered>>) -> Snapshot {
        Snapshot { tools, rendered: declare::Cache::default() }
    }

    fn visible(&self) -> Vec<Arc<Registered>> {
        let at_first: Vec<_> = self.tools.iter().filter(|it| !it.deferred()).collect();
        let many = at_first.len() > MANY_TOOLS;
        let seen = at_first.into_iter().filter(|it| !(many && it.deferred_when_many()));
        seen.cloned().collect()
    }

    fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        match place(&self.tools, name) {
            Ok(at) => self.tools.get(at),
            Err(_) => self.tools.iter().find(|it| aliases(it).any(|it| it == name)),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let listed = self.tools.iter().filter(|it| !it.unlisted()).map(|it| it.name());
        listed.chain(self.tools.iter().flat_map(|it| aliases(it)))
    }
}
