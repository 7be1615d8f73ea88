//! The tools of a server: read, held against what they said before, and put into the registry.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, MutexGuard, PoisonError},
};

use eclusa::{ExtraArgs, FnReviewer, Registration, Review, ReviewConfig, digest};
use rmcp::{
    RoleClient,
    model::{PaginatedRequestParams, Tool, ToolAnnotations},
    service::{Peer, ServiceError},
};

use super::{
    definition::{Definition, Flag},
    foreign::Foreign,
    pins::{self, Difference, Pinned},
    tool_name, unlisted,
    upstream::Upstream,
};

/// The most that a list of one server may have.
const MOST: usize = 1000;

/// The most pages that a list may have.
const PAGES: usize = 100;

/// What a server has told about its tools.
#[derive(Default)]
pub(super) struct Told {
    pub(super) tools: Vec<ToolSeen>,
    /// What is in the registry, by the names it has there.
    registered: BTreeMap<String, Shown>,
}

/// How clients see a tool of a server, besides what the registry has of it.
#[derive(Clone)]
pub(crate) struct Shown {
    /// The name that the server gave it, where clients know it by that.
    pub(crate) name: Option<String>,
    /// The server's title for it.
    pub(crate) title: Option<String>,
    /// What the server says about it, if that is believed.
    pub(crate) annotations: Option<ToolAnnotations>,
    /// What was registered: the same is not registered again, so that nobody is told of a change
    /// that is none.
    revision: String,
}

/// All pages of a list of bounded length.
pub(super) async fn pages<T, F>(
    mut page: impl FnMut(PaginatedRequestParams) -> F,
) -> Result<Vec<T>, String>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut all = Vec::new();
    let mut at = PaginatedRequestParams::default();
    for _ in 0..PAGES {
        let (page, next) = page(at).await.map_err(|err| err.to_string())?;
        all.extend(page);
        if all.len() > MOST {
            return Err(format!("it has more than {MOST}, and no more are taken"));
        }
        match next {
            Some(next) => at = PaginatedRequestParams::default().with_cursor(Some(next)),
            None => return Ok(all),
        }
    }
    Err(format!("the list has more than {PAGES} pages"))
}

async fn tools(
    peer: &Peer<RoleClient>,
    at: PaginatedRequestParams,
) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
    peer.list_tools(Some(at)).await.map(|it| (it.tools, it.next_cursor))
}

/// A tool of a server, for people.
#[derive(Debug, Clone)]
pub struct ToolSeen {
    /// What it is called here.
    pub name: String,
    /// What it is called there.
    pub original: String,
    /// What a person should look at.
    pub flags: Vec<Flag>,
    /// Set when it says something else than when it was first used: its calls are refused.
    pub changed: Option<Difference>,
    /// Why it cannot be had at all.
    pub refused: Option<String>,
}

impl Upstream {
    /// Has the server tell its tools, and puts them into the registry.
    pub(super) async fn list(self: &Arc<Upstream>, peer: &Peer<RoleClient>) -> Result<(), String> {
        // First, so that no tool of the server can be called like these.
        unlisted::register(self);
        let has_tools = peer.peer_info().is_none_or(|it| it.capabilities.tools.is_some());
        let tools = match has_tools {
            true => pages(|at| tools(peer, at)).await.map_err(|err| format!("its tools: {err}"))?,
            false => Vec::new(),
        };
        let name = &self.settings.name;
        let mut seen = Vec::new();
        let mut definitions = Vec::new();
        for tool in &tools {
            match Definition::read(name, tool, &[]) {
                Ok(definition) => definitions.push(definition),
                Err(why) => seen.push(ToolSeen::refused(name, &tool.name, why)),
            }
        }
        let now: Pinned =
            definitions.iter().map(|it| (it.original.clone(), it.pinned.clone())).collect();
        let checked = pins::check(&*self.world.pins, name, &now)
            .map_err(|err| format!("what its tools said before cannot be looked up: {err}"))?;
        let before = self.told().registered.clone();
        let mut registered = BTreeMap::new();
        for definition in definitions {
            let changed = checked.changed.get(&definition.original).cloned();
            let mut tool = ToolSeen {
                name: definition.name.clone(),
                original: definition.original.clone(),
                flags: definition.flags.clone(),
                changed,
                refused: None,
            };
            let shown = self.shown(&definition, tool.changed.is_some());
            let same = before.get(&tool.name).is_some_and(|it| it.revision == shown.revision);
            match registered.entry(tool.name.clone()) {
                Entry::Occupied(_) => {
                    let why = format!("another of its tools is called `{}` already", tool.name);
                    tool.refused = Some(why);
                }
                Entry::Vacant(place) => {
                    let changed = tool.changed.as_ref();
                    let done = if same { Ok(()) } else { self.register(definition, changed) };
                    match done {
                        Ok(()) => drop(place.insert(shown)),
                        Err(why) => tool.refused = Some(why),
                    }
                }
            }
            seen.push(tool);
        }
        self.show(seen, registered);
        self.stock(peer).await;
        Ok(())
    }

    fn register(
        self: &Arc<Upstream>,
        definition: Definition,
        changed: Option<&Difference>,
    ) -> Result<(), String> {
        let alias = self.world.plain.then(|| definition.original.clone());
        let revision = digest(&definition.pinned).to_string();
        let (name, server) = (definition.name.clone(), self.settings.name.clone());
        let alias = alias.filter(|it| *it != name);
        let withheld = changed.is_some();
        let tool = Foreign { upstream: self.clone(), definition, revision, alias, withheld };
        let mut registration = Registration::of(tool)
            .foreign(&server)
            .trusted(self.settings.trusted)
            .extra(ExtraArgs::Keep)
            .replace();
        if let Some(difference) = changed {
            let with = if self.world.plain { " -- COMMAND" } else { "" };
            let why = format!(
                "the server `{server}` says something else about this tool than when it was first \
                 used; a person must look at the difference first: `eclusa servers review \
                 {server}{with}`"
            );
            let (pins, is, upstream) =
                (self.world.pins.clone(), difference.clone(), Arc::downgrade(self));
            let stop = FnReviewer::input("pins", move |_| {
                // Somebody may have looked meanwhile.
                if !is.is_pinned(&*pins, &server) {
                    return Ok(Review::Deny(why.clone()));
                }
                if let Some(upstream) = upstream.upgrade() {
                    upstream.list_again();
                }
                let text = "a person has just accepted what this tool says now; look it up again, \
                            and make the call again";
                Ok(Review::Deny(text.to_owned()))
            });
            registration =
                registration.review(ReviewConfig { input: Some(Arc::new(stop)), output: None });
        }
        registration = match self.settings.deferred {
            _ if changed.is_some() => registration.deferred(),
            Some(true) => registration.deferred(),
            // Whoever wraps one server alone wants to see it whole, and has nothing to search with.
            None if !self.world.plain => registration.deferred_when_many(),
            Some(false) | None => registration,
        };
        self.world.registry.register(registration).map_err(|err| err.to_string())
    }

    fn shown(&self, definition: &Definition, changed: bool) -> Shown {
        Shown {
            name: self.world.plain.then(|| definition.original.clone()),
            // Nothing of what nobody has looked at yet.
            title: definition.title.clone().filter(|_| !changed),
            annotations: definition
                .annotations
                .clone()
                .filter(|_| self.settings.trusted && !changed),
            revision: format!("{} {changed}", digest(&definition.pinned)),
        }
    }

    /// How clients see a tool.
    pub(super) fn shown_as(&self, tool: &str) -> Option<Shown> {
        self.told().registered.get(tool).cloned()
    }

    /// Takes tools away that the server has no longer.
    fn show(&self, tools: Vec<ToolSeen>, registered: BTreeMap<String, Shown>) {
        let mut told = self.told();
        for gone in told.registered.keys().filter(|it| !registered.contains_key(*it)) {
            // An error means that somebody took it away already.
            let _ = self.world.registry.remove(gone);
        }
        *told = Told { tools, registered };
    }

    pub(super) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSeen {
    fn refused(server: &str, tool: &str, why: String) -> ToolSeen {
        ToolSeen {
            name: tool_name(server, tool),
            original: tool.to_owned(),
            flags: Vec::new(),
            changed: None,
            refused: Some(why),
        }
    }
}
