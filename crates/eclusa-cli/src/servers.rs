//! The servers behind the gate, as this machine starts them and remembers what they said.

use std::{path::PathBuf, sync::Arc};

use eclusa::{Registry, ServerSettings};
use eclusa_mcp::{Gateway, World};

use crate::{failure::Failure, place::Place, shell, workplace::Workplace};

mod held;
mod launch;
mod last_words;
mod loose;
mod pins;
mod program;

pub(crate) use pins::PinFiles;

use launch::Launch;

/// Puts servers behind the gate whose tools are in this registry.
pub(crate) fn open(
    here: &Workplace,
    servers: Vec<ServerSettings>,
    registry: Arc<Registry>,
    plain: bool,
) -> Result<Option<Arc<Gateway>>, Failure> {
    if servers.is_empty() {
        return Ok(None);
    }
    let launcher = Arc::new(Launch::new(here, shell::cells(here, &[])?));
    let pins = Arc::new(PinFiles(here.place.pins()));
    Ok(Some(Gateway::open(servers, World { registry, launcher, pins, plain })))
}

impl Place {
    /// Where everything is kept, of every workspace.
    pub(crate) fn state(&self) -> Option<&std::path::Path> {
        self.store.parent()?.parent()
    }

    /// Where it is kept what servers said about their tools: for this person, in every workspace.
    pub(crate) fn pins(&self) -> PathBuf {
        self.state().map_or_else(|| self.store.with_file_name("servers"), |it| it.join("servers"))
    }

    /// What a server may write: a directory of its own, and its home. It is beside what we keep
    /// and not in it, so that all of ours can be hidden from it.
    pub(crate) fn home_of(&self, server: &str) -> PathBuf {
        let state = self.state().unwrap_or(&self.store);
        let mut name = state.file_name().unwrap_or_default().to_owned();
        name.push("-servers");
        state.with_file_name(name).join(server)
    }
}
