//! The next snapshot, before anybody sees it.

use std::{collections::HashMap, sync::Arc};

use super::{Registered, RegistryError};

/// The tools that there will be, and whose every alias is. Names are looked up and not searched for:
/// a server may have thousands of tools.
pub(super) struct SnapshotBuilder<'a> {
    /// Sorted by name.
    pub(super) tools: Vec<Arc<Registered>>,
    /// The name of the tool, by alias.
    owners: HashMap<&'a str, &'a str>,
}

impl<'a> SnapshotBuilder<'a> {
    pub(super) fn new(now: &'a [Arc<Registered>]) -> SnapshotBuilder<'a> {
        let owners = now.iter().flat_map(|tool| aliases(tool).map(|alias| (alias, tool.name())));
        SnapshotBuilder { tools: now.to_vec(), owners: owners.collect() }
    }

    /// Adds a tool, or puts it in the place of the one of its name. What is refused changes nothing.
    pub(super) fn add(
        &mut self,
        new: &'a Arc<Registered>,
        over: bool,
    ) -> Result<(), RegistryError> {
        let taken = |name: &str| Err(RegistryError::Duplicate(name.to_owned()));
        let place = place(&self.tools, new.name());
        let old = place.ok().and_then(|at| self.tools.get(at)).cloned();
        let replaces = |old: &Arc<Registered>| {
            over && (new.server().is_none() || new.server() == old.server())
        };
        if old.as_ref().is_some_and(|old| !replaces(old)) {
            return taken(new.name());
        }
        if let Some(name) = self.taken(new) {
            return taken(name);
        }
        if let Some(old) = old {
            for alias in aliases(&old) {
                self.owners.remove(alias);
            }
            if old.was_found() {
                new.set_found();
            }
        }
        self.owners.extend(aliases(new).map(|alias| (alias, new.name())));
        match place {
            Ok(at) => self.tools.splice(at..=at, [new.clone()]).for_each(drop),
            Err(at) => self.tools.insert(at, new.clone()),
        }
        Ok(())
    }

    /// A name or alias of a new tool that another has, or that it has twice itself.
    fn taken(&self, new: &'a Registered) -> Option<&'a str> {
        let of_another =
            |alias: &str| self.owners.get(alias).is_some_and(|owner| *owner != new.name());
        let twice = |at: usize, alias: &str| {
            aliases(new).take(at).chain([new.name()]).any(|it| it == alias)
        };
        let alias_taken = aliases(new).enumerate().find(|(at, alias)| {
            twice(*at, alias) || place(&self.tools, alias).is_ok() || of_another(alias)
        });
        let name_taken = of_another(new.name()).then(|| new.name());
        name_taken.or(alias_taken.map(|(_, alias)| alias))
    }
}

/// Where the tool of this name is, or would be.
pub(super) fn place(tools: &[Arc<Registered>], name: &str) -> Result<usize, usize> {
    tools.binary_search_by(|it| it.name().cmp(name))
}

pub(super) fn aliases(tool: &Registered) -> impl Iterator<Item = &str> {
    tool.facts().aliases.iter().map(String::as_str)
}
