//! Zed: connected over MCP alone.

use serde_json::json;

use super::spec::{AgentSpec, Caveats, ServerSpec, SwitchSpec};
use crate::entries::EntryFile;

pub(super) static ZED: AgentSpec = AgentSpec {
    name: "zed",
    aliases: &[],
    title: "Zed",
    program: "zed",
    hooks: None,
    entries: |_| Vec::new(),
    servers: ServerSpec {
        lists: &[&["context_servers"]],
        files: &[
            EntryFile::Settings("XDG_CONFIG_HOME", ".config", "zed/settings.json"),
            EntryFile::Project(".zed/settings.json"),
        ],
        ours: |facts| Some(json!({"command": facts.program, "args": ["mcp"]})),
    },
    trust: None,
    switches: SwitchSpec::NONE,
    caveats: Caveats::NO_HOOKS,
    denials: None,
    launch: None,
    past: None,
    import_rules: None,
};
