//! The tools of this program: the built-in ones, and those from configuration.

use std::sync::Arc;

use eclusa::{Files, Registration, Registry, Scene, Spool, registry::RegistryError};
use eclusa_config::Config;
use eclusa_tools::{BuiltInTools, Sandboxes, diagnostics::Diagnostics, register_all, web};

use crate::{checks::Checks, command_tool::CommandTool, examples, failure::Failure, paths::Paths};

/// Where the tools are described for.
pub fn scene(paths: &Paths) -> Scene {
    let name = paths.workspace.file_name().unwrap_or_default();
    Scene { workspace: name.to_string_lossy().into_owned(), ..Scene::default() }
}

/// What the tools of this program are made of.
pub struct ProgramTools<'a> {
    /// The files of the workspace.
    pub files: Files,
    /// Where things are.
    pub paths: &'a Paths,
    /// What is configured.
    pub config: &'a Config,
    /// Where commands run.
    pub sandboxes: Sandboxes,
    /// Where long outputs are paged through.
    pub spool: Arc<dyn Spool>,
    /// Whether the small tools of the demo are there.
    pub examples: bool,
}

impl ProgramTools<'_> {
    /// The tools.
    pub fn registry(self) -> Result<Arc<Registry>, Failure> {
        let registry = Arc::new(Registry::default());
        let (paths, config) = (self.paths, self.config);
        let runner = Checks { workspace: paths.workspace.clone() };
        let diagnostics = (!config.checks.is_empty())
            .then(|| Diagnostics::new(config.checks.clone(), self.files.clone(), runner));
        let web = &config.web;
        let tools = BuiltInTools {
            files: self.files.clone(),
            max_file_size: config.max_file_size,
            web: web::Limits {
                time: web.time,
                bytes: web.bytes,
                most_bytes: web.most_bytes,
                redirects: web.redirects,
                keep: web.keep,
            },
            spool: self.spool,
            scene: scene(paths),
            sandboxes: Some(self.sandboxes.clone()),
            command_time: config.commands.time,
            diagnostics,
        };
        register_all(&registry, tools).map_err(Failure::usage)?;
        let approve = Registration::new(eclusa_mcp::Approve).deferred().lazy();
        registry.register(approve).map_err(Failure::usage)?;
        if self.examples {
            examples::add(&registry, self.files).map_err(Failure::usage)?;
        }
        configured(&registry, &self.sandboxes, config)?;
        Ok(registry)
    }
}

/// Adds the tools from configuration. A name that the person gave wins, also over another name of a
/// tool that is here.
fn configured(registry: &Registry, sandboxes: &Sandboxes, config: &Config) -> Result<(), Failure> {
    for settings in &config.tools {
        let tool = CommandTool::new(settings.clone(), sandboxes.clone());
        let misnamed = |err: RegistryError| Failure::usage(format!("{}: {err}", settings.origin));
        if let Some(other) = registry.get(&settings.name)
            && other.name() != settings.name
        {
            registry.remove(other.name()).map_err(misnamed)?;
        }
        registry.register(Registration::new(tool).replace()).map_err(misnamed)?;
    }
    Ok(())
}
