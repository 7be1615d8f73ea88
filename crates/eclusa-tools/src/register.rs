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

/// The names of the built-in tools, as a model sees them.
pub const BUILT_IN_NAMES: [&str; 18] = [
    "apply_patch",
    "bash",
    "delete",
    "diagnostics",
    "edit",
    "glob",
    "grep",
    "jobs",
    "list",
    "make_dir",
    "move",
    "multi_edit",
    "output",
    "read",
    "todo",
    "tool_search",
    "web_fetch",
    "write",
];

/// Registers the built-in tools, each under its names.
///
/// The registry is held weakly by the tool that searches it.
pub fn register_all(registry: &Arc<Registry>, tools: BuiltInTools) -> Result<(), RegistryError> {
    let files = tools.files;
    let fetcher = Fetcher::new(HostRules::every_host(), tools.web);
    let context = FileToolContext::new(files.clone()).max_size(tools.max_file_size);
    let mut all = file_tools(&context);
    all.extend([
        built_in(List::new(files.clone())),
        built_in(Glob::new(files.clone())),
        built_in(Grep::new(files.clone())),
        built_in(WebFetch::new(fetcher)),
        built_in(PagedOutput::new(tools.spool)),
        built_in(ToolSearch::new(registry, tools.scene)),
        built_in(Todo::new()),
    ]);
    all.extend(tools.diagnostics.map(built_in));
    if let Some(sandboxes) = tools.sandboxes {
        let bash = Bash::new(sandboxes, files).time(tools.command_time);
        all.extend([built_in(bash.jobs()), built_in(bash)]);
    }
    registry.register_all(all).into_iter().collect()
}

/// Registers `read` and every tool that changes files.
pub fn register_file_tools(
    registry: &Registry,
    context: &FileToolContext,
) -> Result<(), RegistryError> {
    registry.register_all(file_tools(context)).into_iter().collect()
}

fn file_tools(context: &FileToolContext) -> Vec<Registration> {
    let read = Read::new(context.files.clone()).max_size(context.max_size);
    vec![
        built_in(read.read_tracker(context.read_tracker())),
        built_in(Write::new(context.clone())),
        built_in(EditFile::new(context.clone())),
        built_in(MultiEdit::new(context.clone())),
        built_in(ApplyPatch::new(context.clone())),
        built_in(Delete::new(context.clone())),
        built_in(Move::new(context.clone())),
        built_in(MakeDir::new(context.clone())),
    ]
}

/// One of our tools. A test has tried all their schemas.
fn built_in(tool: impl Tool) -> Registration {
    Registration::new(tool).lazy()
}
