//! The one place that registers the built-in tools.

use std::{sync::Arc, time::Duration};

use eclusa::{Files, Registration, Registry, Scene, Spool, Tool, registry::RegistryError};

use crate::{
    ApplyPatch, Bash, Delete, EditFile, FileToolContext, MakeDir, Move, MultiEdit, PagedOutput,
    Read, Sandboxes, Todo, ToolSearch, Write,
    diagnostics::Diagnostics,
    search::{Glob, Grep, List},
    web::{self, Fetcher, HostRules, WebFetch},
};

/// What the built-in tools work with.
pub struct BuiltInTools {
    /// The files of the workspace.
    pub files: Files,
    /// How large a file may be that is written or edited, in bytes.
    pub max_file_size: u64,
    /// How much one fetch from the web may cost. Which hosts, the rules say for each call.
    pub web: web::Limits,
    /// Where long outputs are kept, and paged through.
    pub spool: Arc<dyn Spool>,
    /// Where the tools are described for.
    pub scene: Scene,
    /// Where commands run. `None`: there is no `bash`.
    pub sandboxes: Option<Sandboxes>,
    /// How long a command may run, where the call does not say.
    pub command_time: Duration,
    /// The checks that a person has named. `None`: there is no `diagnostics`.
    pub diagnostics: Option<Diagnostics>,
}

/// Registers the built-in tools, each under its names.
///
/// The registry is held weakly by the tool that searches it.
pub fn register_all(registry: &Arc<Registry>, tools: BuiltInTools) -> Result<(), RegistryError> {
    let files = tools.files;
    add(registry, List::new(files.clone()))?;
    add(registry, Glob::new(files.clone()))?;
    add(registry, Grep::new(files.clone()))?;
    add(registry, WebFetch::new(Fetcher::new(HostRules::every_host(), tools.web)))?;
    if let Some(diagnostics) = tools.diagnostics {
        add(registry, diagnostics)?;
    }
    let context = FileToolContext::new(files.clone()).max_size(tools.max_file_size);
    register_file_tools(registry, &context)?;
    add(registry, PagedOutput::new(tools.spool))?;
    add(registry, ToolSearch::new(registry, tools.scene))?;
    add(registry, Todo::new())?;
    if let Some(sandboxes) = tools.sandboxes {
        let bash = Bash::new(sandboxes, files).time(tools.command_time);
        add(registry, bash.jobs())?;
        add(registry, bash)?;
    }
    Ok(())
}

/// Registers `read` and every tool that changes files.
pub fn register_file_tools(
    registry: &Registry,
    context: &FileToolContext,
) -> Result<(), RegistryError> {
    let read = Read::new(context.files.clone()).max_size(context.max_size);
    add(registry, read.read_tracker(context.read_tracker()))?;
    add(registry, Write::new(context.clone()))?;
    add(registry, EditFile::new(context.clone()))?;
    add(registry, MultiEdit::new(context.clone()))?;
    add(registry, ApplyPatch::new(context.clone()))?;
    add(registry, Delete::new(context.clone()))?;
    add(registry, Move::new(context.clone()))?;
    add(registry, MakeDir::new(context.clone()))
}

/// Adds one of our tools. A test has tried all their schemas.
fn add(registry: &Registry, tool: impl Tool) -> Result<(), RegistryError> {
    registry.register(Registration::new(tool).lazy())
}
