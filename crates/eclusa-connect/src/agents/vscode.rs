//! VS Code: connected over MCP alone.

use serde_json::json;

use super::spec::{AgentSpec, Caveats, ServerSpec, SwitchSpec};
use crate::entries::EntryFile;

pub(super) static VSCODE: AgentSpec = AgentSpec {
    name: "vscode",
    aliases: &[],
    title: "VS Code",
    hooks: None,
    entries: |_| Vec::new(),
    servers: ServerSpec {
        lists: &[&["servers"]],
        files: &[
            EntryFile::Settings("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json"),
            EntryFile::Project(".vscode/mcp.json"),
        ],
        ours: |facts| Some(json!({"type": "stdio", "command": facts.program, "args": ["mcp"]})),
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats::NO_HOOKS,
    denials: None,
    launch: None,
    import_rules: None,
};
