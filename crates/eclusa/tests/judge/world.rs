//! A gate with a shell tool that stages, and the verdict on a command.

use std::{path::Path, sync::Arc};

use eclusa::*;
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// A shell that runs nothing.
struct Shell;

impl Tool for Shell {
    fn name(&self) -> &str {
        "bash"
    }
    fn description(&self, _: &Scene) -> String {
        "runs nothing".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"command": {"type": "string"}}})
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::Shell), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Run(args["command"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::default()) })
    }
}

/// A gate with these rules, over a workspace at `/workspace`.
pub(crate) struct World {
    gate: Gate,
    _dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn with(rules: Vec<Rule>) -> World {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new();
        registry.add(Shell).unwrap();
        let rules = Rules::new(rules, Path::new("/workspace"));
        let log = Arc::new(MemoryLog::default());
        let mut house = House::new(Arc::new(registry), rules, log);
        let root = dir.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        house.workspace = Some(Workspace::open(root, dir.path().join("state")).unwrap().0);
        World { gate: Gate::new(house), _dir: dir }
    }

    /// With the rules that are shipped.
    pub(crate) fn shipped() -> World {
        World::with(Config::load(&[]).unwrap().rules)
    }

    pub(crate) fn judge(&self, command: &str) -> Verdict {
        let call = ToolCall::new("c1", "bash", json!({"command": command}));
        self.gate.check(call).unwrap().1
    }
}
