//! Zed: connected over MCP alone.

use serde_json::json;

use super::spec::{AgentSpec, Caveats, ServerSpec, SwitchSpec};
use crate::entries::{EntryFile, InstallFacts, SettingsEntry};

pub(super) static ZED: AgentSpec = AgentSpec {
    name: "zed",
    aliases: &[],
    title: "Zed",
    hooks: None,
    entries,
    servers: ServerSpec {
        lists: &[&["context_servers"]],
        files: &[
            EntryFile::Settings("XDG_CONFIG_HOME", ".config", "zed/settings.json"),
            EntryFile::Project(".zed/settings.json"),
        ],
    },
    switches: SwitchSpec::NONE,
    caveats: Caveats::NO_HOOKS,
    denials: None,
    launch: None,
    import_rules: None,
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let entry = json!({"command": facts.program, "args": ["mcp"]});
    let mut all: Vec<SettingsEntry> = ZED.eclusa_server(facts, entry).into_iter().collect();
    all.extend(ZED.other_servers(facts));
    all
}
