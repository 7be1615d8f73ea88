//! The tools of a server: read, held against what they said before, and put into the registry.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{Arc, MutexGuard, PoisonError},
};

use eclusa::{
    FnReviewer, Registration, Review, registry::ExtraArgs, review::ReviewConfig, workspace::digest,
};
use rmcp::{
    RoleClient,
    model::{Icon, MetaObject, PaginatedRequestParams, Tool, ToolAnnotations},
    service::{Peer, ServiceError},
};
use serde::Serialize;
use serde_json::Value;

use super::{
    definition::{DefinitionFlag, ToolDefinition},
    names::not_this_servers,
    pins::{self, DefinitionChange, PinnedDefinitions},
    proxy_tool::ProxyTool,
    resource_tool, tool_name,
    upstream::Upstream,
};

/// The most that a list of one server may have.
const MAX_ENTRIES: usize = 1000;

/// The most pages that a list may have, and the most bytes.
const MAX_PAGES: usize = 100;
const MAX_LIST_BYTES: usize = 16 << 20;

/// What a server has told about its tools.
#[derive(Default)]
pub(super) struct ToolCatalogue {
    pub(super) tools: Vec<ListedTool>,
    /// What is in the registry, by the names it has there.
    registered: BTreeMap<String, ToolDisplay>,
}

/// How clients see a tool of a server, besides what the registry has of it.
#[derive(Clone)]
pub(crate) struct ToolDisplay {
    /// The name that the server gave it, where clients know it by that.
    pub(crate) name: Option<String>,
    /// The server's title for it.
    pub(crate) title: Option<String>,
    /// What the server hints at. Clients go by it; the gate does so only where the server is trusted.
    pub(crate) annotations: Option<ToolAnnotations>,
    /// The server's pictures for it.
    pub(crate) icons: Option<Vec<Icon>>,
    /// The server's remarks for programs, if it is trusted.
    pub(crate) meta: Option<MetaObject>,
    /// Its schema, as the server has it.
    pub(crate) input: Option<Value>,
    /// What was registered: the same is not registered again, so that nobody is told of a change
    /// that is none.
    revision: String,
}

/// All pages of a list of bounded length.
pub(super) async fn pages<T: Serialize, F>(
    mut page: impl FnMut(PaginatedRequestParams) -> F,
) -> Result<Vec<T>, String>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut all = Vec::new();
    let (mut at, mut bytes) = (PaginatedRequestParams::default(), 0);
    for _ in 0..MAX_PAGES {
        let (page, next) = page(at).await.map_err(|err| err.to_string())?;
        bytes += page.iter().map(json_size).sum::<usize>();
        if bytes > MAX_LIST_BYTES {
            return Err(format!(
                "the list has more than {MAX_LIST_BYTES} bytes, and no more are taken"
            ));
        }
        all.extend(page);
        if all.len() > MAX_ENTRIES {
            return Err(format!("it has more than {MAX_ENTRIES}, and no more are taken"));
        }
        match next {
            Some(next) => at = PaginatedRequestParams::default().with_cursor(Some(next)),
            None => return Ok(all),
        }
    }
    Err(format!("the list has more than {MAX_PAGES} pages"))
}

/// How many bytes something has as JSON.
fn json_size(it: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written is too much.
    serde_json::to_writer(&mut count, it).map_or(MAX_LIST_BYTES, |()| count.0)
}

async fn tools(
    peer: &Peer<RoleClient>,
    at: PaginatedRequestParams,
) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
    peer.list_tools(Some(at)).await.map(|it| (it.tools, it.next_cursor))
}

/// A tool of a server, for people.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// What it is called here.
    pub name: String,
    /// What it is called there.
    pub original: String,
    /// What a person should look at.
    pub flags: Vec<DefinitionFlag>,
    /// Set when it says something else than when it was first used: its calls are refused.
    pub changed: Option<DefinitionChange>,
    /// Why it cannot be had at all.
    pub refused: Option<String>,
}

impl Upstream {
    /// Has the server tell its tools, and puts them into the registry.
    pub(super) async fn list(self: &Arc<Upstream>, peer: &Peer<RoleClient>) -> Result<(), String> {
        // First, so that no tool of the server can be called like these.
        resource_tool::register(self);
        let has_tools = peer.peer_info().is_none_or(|it| it.capabilities.tools.is_some());
        let tools = match has_tools {
            true => pages(|at| tools(peer, at)).await.map_err(|err| format!("its tools: {err}"))?,
            false => Vec::new(),
        };
        let name = &self.settings.name;
        let mut seen = Vec::new();
        let mut definitions = Vec::new();
        let mut taken = BTreeSet::new();
        for tool in &tools {
            match self.admitted(tool, &mut taken) {
                Ok(definition) => definitions.push(definition),
                Err(why) => seen.push(ListedTool::refused(name, &tool.name, why)),
            }
        }
        let now: PinnedDefinitions =
            definitions.iter().map(|it| (it.original.clone(), it.pinned.clone())).collect();
        let checked = pins::check(&*self.world.pins, name, &now)
            .map_err(|err| format!("what its tools said before cannot be looked up: {err}"))?;
        let before = self.tool_catalogue().registered.clone();
        let (mut registered, mut new, mut registrations) =
            (BTreeMap::new(), Vec::new(), Vec::new());
        for definition in definitions {
            let tool = ListedTool {
                name: definition.name.clone(),
                original: definition.original.clone(),
                flags: definition.flags.clone(),
                changed: checked.changed.get(&definition.original).cloned(),
                refused: None,
            };
            let shown = self.tool_display(&definition, tool.changed.is_some());
            match before.get(&tool.name).is_some_and(|it| it.revision == shown.revision) {
                true => drop(registered.insert(tool.name.clone(), shown)),
                false => {
                    registrations.push(self.registration(definition, tool.changed.as_ref()));
                    new.push((seen.len(), shown));
                }
            }
            seen.push(tool);
        }
        let added = self.world.registry.register_all(registrations);
        for ((at, shown), added) in new.into_iter().zip(added) {
            let Some(tool) = seen.get_mut(at) else { continue };
            match added {
                Ok(()) => drop(registered.insert(tool.name.clone(), shown)),
                Err(why) => tool.refused = Some(why.to_string()),
            }
        }
        self.show(seen, registered);
        self.refresh_resources(peer).await;
        Ok(())
    }

    /// What a tool says, if the server can have it. Of two by one name it has the first: there is
    /// one pin for both, and what is held against it must be what is had.
    fn admitted(
        &self,
        tool: &Tool,
        taken: &mut BTreeSet<String>,
    ) -> Result<ToolDefinition, String> {
        let server = &self.settings.name;
        let others = self.world.names.iter().filter(|it| !server.starts_with(it.as_str()));
        let others: Vec<String> = others.cloned().collect();
        let definition = ToolDefinition::read(&self.settings, tool, &others)?;
        let name = &definition.name;
        if let Some(other) = self.reads_like(name) {
            return Err(not_this_servers(name, server, other));
        }
        match taken.insert(name.clone()) {
            true => Ok(definition),
            false => Err(format!("another of its tools is called `{name}` already")),
        }
    }

    fn registration(
        self: &Arc<Upstream>,
        definition: ToolDefinition,
        changed: Option<&DefinitionChange>,
    ) -> Registration {
        let alias = self.plain_name(&definition);
        let revision = digest(&definition.pinned).to_string();
        let (name, server) = (definition.name.clone(), self.settings.name.clone());
        let alias = alias.filter(|it| *it != name);
        let withheld = changed.is_some();
        // Of a tool that is withheld the review is told, not its arguments.
        let extra = if withheld { ExtraArgs::Keep } else { ExtraArgs::Refuse };
        let tool = ProxyTool { upstream: self.clone(), definition, revision, alias, withheld };
        let mut registration = Registration::new(tool)
            .foreign(&server)
            .trusted(self.settings.trusted)
            .extra(extra)
            .replace();
        if let Some(difference) = changed {
            let review = self.command_for_people("review");
            let why = format!(
                "the server `{server}` says something else about this tool than when it was first \
                 used; a person must look at the difference first: {review}"
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
                let text = "a person has just accepted the new description of this tool; look it up \
                again, and repeat the call";
                Ok(Review::Deny(text.to_owned()))
            });
            registration =
                registration.review(ReviewConfig { input: Some(Arc::new(stop)), output: None });
        }
        match self.settings.deferred {
            _ if changed.is_some() => registration.deferred(),
            Some(true) => registration.deferred(),
            // Whoever wraps one server alone wants to see it whole, and has nothing to search with.
            None if !self.world.plain => registration.deferred_when_many(),
            Some(false) | None => registration,
        }
    }

    /// The name that the server gave it, where clients know it by that and can.
    fn plain_name(&self, definition: &ToolDefinition) -> Option<String> {
        let name = &definition.original;
        let fits = (1..=128).contains(&name.len())
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it));
        (self.world.plain && fits).then(|| name.clone())
    }

    fn tool_display(&self, definition: &ToolDefinition, changed: bool) -> ToolDisplay {
        ToolDisplay {
            name: self.plain_name(definition),
            // Nothing of what nobody has looked at yet.
            title: definition.title.clone().filter(|_| !changed),
            annotations: definition.annotations.clone().filter(|_| !changed),
            icons: definition.icons.clone().filter(|_| !changed),
            meta: definition.meta.clone().filter(|_| !changed),
            input: Some(definition.input.clone()).filter(|_| !changed),
            revision: format!("{} {changed}", digest(&definition.pinned)),
        }
    }

    /// How clients see a tool.
    pub(super) fn shown_as(&self, tool: &str) -> Option<ToolDisplay> {
        self.tool_catalogue().registered.get(tool).cloned()
    }

    /// Takes tools away that the server has no longer.
    fn show(&self, tools: Vec<ListedTool>, registered: BTreeMap<String, ToolDisplay>) {
        let mut told = self.tool_catalogue();
        for gone in told.registered.keys().filter(|it| !registered.contains_key(*it)) {
            // An error means that somebody took it away already.
            let _ = self.world.registry.remove(gone);
        }
        *told = ToolCatalogue { tools, registered };
    }

    pub(super) fn tool_catalogue(&self) -> MutexGuard<'_, ToolCatalogue> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedTool {
    fn refused(server: &str, tool: &str, why: String) -> ListedTool {
        ListedTool {
            name: tool_name(server, tool),
            original: tool.to_owned(),
            flags: Vec::new(),
            changed: None,
            refused: Some(why),
        }
    }
}
