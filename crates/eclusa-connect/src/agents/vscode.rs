//! VS Code: connected over MCP alone.

use serde_json::json;

use super::spec::{AgentSpec, Caveats, ServerSpec, SwitchSpec};
use crate::entries::{EntryFile, InstallFacts, SettingsEntry};

pub(super) static VSCODE: AgentSpec = AgentSpec {
    name: "vscode",
    aliases: &[],
    title: "VS Code",
    hooks: None,
    entries,
    servers: ServerSpec {
        lists: &[&["servers"]],
        files: &[
            EntryFile::Settings("XDG_CONFIG_HOME", ".config", "Code/User/mcp.json"),
            EntryFile::Project(".vscode/mcp.json"),
        ],
    },
    switches: SwitchSpec::NONE,
    caveats: Caveats::NO_HOOKS,
    denials: None,
    launch: None,
    import_rules: None,
};

fn entries(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let entry = json!({"type": "stdio", "command": facts.program, "args": ["mcp"]});
    let mut all: Vec<SettingsEntry> = VSCODE.eclusa_server(facts, entry).into_iter().collect();
    all.extend(VSCODE.other_servers(facts));
    all
}
