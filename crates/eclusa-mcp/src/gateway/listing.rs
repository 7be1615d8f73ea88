//! The tools of a server: read, held against what they said before, and put into the registry.

use std::{
    collections::BTreeSet,
    sync::{Arc, MutexGuard, PoisonError},
};

use eclusa::{ExtraArgs, FnReviewer, Registration, Review, ReviewConfig, digest};
use rmcp::{RoleClient, service::Peer};

use super::{
    definition::{Definition, Flag},
    foreign::Foreign,
    pins::{self, Difference, Pinned},
    tool_name,
    upstream::Upstream,
};

/// The most tools that one server may have.
const TOOLS: usize = 1000;

/// What a server has told about its tools.
#[derive(Default)]
pub(super) struct Told {
    pub(super) tools: Vec<ToolSeen>,
    /// What is in the registry, by the names it has there.
    registered: BTreeSet<String>,
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
        let has_tools = peer.peer_info().is_none_or(|it| it.capabilities.tools.is_some());
        let tools = match has_tools {
            true => peer.list_all_tools().await.map_err(|err| format!("its tools: {err}"))?,
            false => Vec::new(),
        };
        if tools.len() > TOOLS {
            return Err(format!("it has {} tools, and {TOOLS} are taken at most", tools.len()));
        }
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
        let mut registered = BTreeSet::new();
        for definition in definitions {
            let changed = checked.changed.get(&definition.original).cloned();
            let mut tool = ToolSeen {
                name: definition.name.clone(),
                original: definition.original.clone(),
                flags: definition.flags.clone(),
                changed,
                refused: None,
            };
            match self.register(definition, tool.changed.as_ref(), &registered) {
                Ok(()) => drop(registered.insert(tool.name.clone())),
                Err(why) => tool.refused = Some(why),
            }
            seen.push(tool);
        }
        self.show(seen, registered);
        Ok(())
    }

    fn register(
        self: &Arc<Upstream>,
        definition: Definition,
        changed: Option<&Difference>,
        taken: &BTreeSet<String>,
    ) -> Result<(), String> {
        if taken.contains(&definition.name) {
            return Err(format!("another of its tools is called `{}` already", definition.name));
        }
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

    /// Takes tools away that the server has no longer.
    fn show(&self, tools: Vec<ToolSeen>, registered: BTreeSet<String>) {
        let mut told = self.told();
        for gone in told.registered.difference(&registered) {
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
