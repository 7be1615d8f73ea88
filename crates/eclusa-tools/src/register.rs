//! The one place that registers the built-in tools.

use std::{sync::Arc, time::Duration};

use eclusa::{Files, Registration, Registry, RegistryError, Scene, Spool};

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
    registry.add(List::new(files.clone()))?;
    registry.add(Glob::new(files.clone()))?;
    registry.add(Grep::new(files.clone()))?;
    registry.add(WebFetch::new(Fetcher::new(HostRules::every_host(), tools.web)))?;
    if let Some(diagnostics) = tools.diagnostics {
        registry.add(diagnostics)?;
    }
    let context = FileToolContext::new(files.clone()).max_size(tools.max_file_size);
    register_file_tools(registry, &context)?;
    registry.add(PagedOutput::new(tools.spool))?;
    registry.add(ToolSearch::new(registry, tools.scene))?;
    registry.add(Todo::new())?;
    if let Some(sandboxes) = tools.sandboxes {
        let bash = Bash::new(sandboxes, files).time(tools.command_time);
        registry.register(Registration::new(bash.jobs()))?;
        registry.register(Registration::new(bash))?;
    }
    Ok(())
}

/// Registers `read` and every tool that changes files.
pub fn register_file_tools(
    registry: &Registry,
    context: &FileToolContext,
) -> Result<(), RegistryError> {
    registry.add(Read::new(context.files.clone()).read_tracker(context.read_tracker()))?;
    registry.add(Write::new(context.clone()))?;
    registry.add(EditFile::new(context.clone()))?;
    registry.add(MultiEdit::new(context.clone()))?;
    registry.add(ApplyPatch::new(context.clone()))?;
    registry.add(Delete::new(context.clone()))?;
    registry.add(Move::new(context.clone()))?;
    registry.add(MakeDir::new(context.clone()))
}
