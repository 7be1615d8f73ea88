//! A workspace and a gate around one tool, for tests.

use std::{
    fs::{self, File},
    io::Write as _,
    path::PathBuf,
    sync::Arc,
};

use eclusa::{Blocked, Files, Gate, Registry, Reply, Rules, Tool, ToolCall};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a workspace in it.
pub(crate) struct World {
    dir: TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(world.workspace()).unwrap();
        world
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    /// A path in the workspace; `..` leads out of it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(content.as_ref()).unwrap();
    }

    pub(crate) fn files(&self) -> Files {
        Files::open(&self.workspace(), Blocked::default()).unwrap()
    }

    /// Passes one call through a gate with this tool and no rules but those that always hold.
    pub(crate) async fn pass(&self, tool: impl Tool, name: &str, args: Value) -> Reply {
        let registry = Arc::new(Registry::new());
        registry.add(tool).unwrap();
        pass(&gate(registry, Rules::new(Vec::new(), &self.workspace())), name, args).await
    }
}

/// A gate that keeps its log in memory, where nobody can be asked.
pub(crate) fn gate(registry: Arc<Registry>, rules: Rules) -> Gate {
    Gate::builder().registry(registry).policy(rules).build().unwrap()
}

/// Passes one call.
pub(crate) async fn pass(gate: &Gate, name: &str, args: Value) -> Reply {
    gate.pass(ToolCall::new("c1", name, args)).await
}
