//! What is written into an agent's settings, file by file.

use serde_json::{Value, json};

use crate::Agent;

/// What an installation needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallFacts {
    /// The program, as the agent starts it: a path, or a name for a file that others share.
    pub program: String,
    /// A name for a hook that nobody can guess: 16 hexadecimal digits.
    pub nonce: String,
    /// For the machine instead of a person: hooks of others are switched off where that is possible.
    pub managed: bool,
    /// For one project instead of a person.
    pub project: bool,
}

/// A file that belongs to an agent, by where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryFile {
    /// Below the home directory.
    Home(&'static str),
    /// Below the directory that the agent keeps its settings in: a variable names it, or it is the
    /// one below the home directory.
    Settings(&'static str, &'static str, &'static str),
    /// Below the project.
    Project(&'static str),
    /// On the machine.
    Machine(&'static str),
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsEntry {
    /// Where.
    pub file: EntryFile,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// What.
    pub(crate) change: EntryChange,
}

/// What is changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EntryChange {
    /// A hook in the list at this path of keys, known by a text in it.
    JsonHook { path: Vec<&'static str>, value: Value, mark: String },
    /// A value at this path of keys.
    JsonValue { path: Vec<&'static str>, value: Value },
    /// A text in the list at this path of keys.
    JsonListed { path: Vec<&'static str>, value: &'static str },
    /// A table of a TOML file, by its dotted name.
    TomlTable { path: Vec<&'static str>, fields: Vec<(&'static str, Value)> },
    /// The whole file.
    Whole { text: String },
    /// The other servers in these lists of a JSON file, put behind our program.
    JsonServers { lists: Vec<Vec<&'static str>>, program: String },
    /// The other servers in this table of a TOML file.
    TomlServers { path: Vec<&'static str>, program: String },
}

/// A word that every shell takes for nothing but itself.
pub fn shell_quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What a hook runs. Should our program be missing, killed or broken, the tail says no.
fn line(agent: Agent, facts: &InstallFacts) -> String {
    format!(
        "{} hook {} || {{ echo 'eclusa: the hook did not run, so the call is refused' >&2; exit 2; }}",
        shell_quoted(&facts.program),
        agent.name()
    )
}

/// What tells our hooks from others.
pub(crate) fn mark(agent: Agent) -> String {
    format!(" hook {} ||", agent.name())
}

/// Everything that is written for an agent. An agent without a place for it gets nothing.
pub fn entries(agent: Agent, facts: &InstallFacts) -> Vec<SettingsEntry> {
    match agent {
        Agent::ClaudeCode => claude_code(facts),
        Agent::Codex => codex(facts),
        Agent::Gemini => gemini(facts),
        Agent::Opencode => opencode(facts),
        Agent::Cursor => cursor(facts),
        Agent::Copilot => copilot(facts),
        Agent::Windsurf => windsurf(facts),
        Agent::VsCode => {
            let names = ["Code/User/mcp.json", ".vscode/mcp.json"];
            let entry = json!({"type": "stdio", "command": facts.program, "args": ["mcp"]});
            servers(facts, editor_file(facts, names), vec!["servers"], entry)
        }
        Agent::Zed => {
            let names = ["zed/settings.json", ".zed/settings.json"];
            let entry = json!({"command": facts.program, "args": ["mcp"]});
            servers(facts, editor_file(facts, names), vec!["context_servers"], entry)
        }
    }
}

/// The person's file or the project's.
fn editor_file(facts: &InstallFacts, [own, project]: [&'static str; 2]) -> EntryFile {
    match facts.project {
        true => EntryFile::Project(project),
        false => EntryFile::Settings("XDG_CONFIG_HOME", ".config", own),
    }
}

fn hook(file: EntryFile, path: Vec<&'static str>, value: Value, agent: Agent) -> SettingsEntry {
    let change = EntryChange::JsonHook { path, value, mark: mark(agent) };
    SettingsEntry { file, purpose: "asks eclusa before its own tools run", change }
}

fn value(
    file: EntryFile,
    purpose: &'static str,
    path: Vec<&'static str>,
    value: Value,
) -> SettingsEntry {
    SettingsEntry { file, purpose, change: EntryChange::JsonValue { path, value } }
}

/// Our server in a list of servers, and the others of that list behind the gate.
fn servers(
    facts: &InstallFacts,
    file: EntryFile,
    list: Vec<&'static str>,
    entry: Value,
) -> Vec<SettingsEntry> {
    let path = list.iter().copied().chain(["eclusa"]).collect();
    let ours = value(file, "connects eclusa's tools", path, entry);
    vec![ours, others(facts, file, vec![list])]
}

/// The other servers of these lists, behind the gate.
fn others(facts: &InstallFacts, file: EntryFile, lists: Vec<Vec<&'static str>>) -> SettingsEntry {
    let change = EntryChange::JsonServers { lists, program: facts.program.clone() };
    SettingsEntry { file, purpose: "puts its other servers behind the gate", change }
}

fn claude_code(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::ClaudeCode;
    let settings = match (facts.managed, facts.project) {
        (true, _) => EntryFile::Machine("/etc/claude-code/managed-settings.d/50-eclusa.json"),
        (false, true) => EntryFile::Project(".claude/settings.json"),
        (false, false) => EntryFile::Settings("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    };
    let command = json!({
        "type": "command", "command": line(agent, facts), "timeout": 900, "onFailure": "block",
    });
    let mut all = Vec::new();
    // The last one refuses to lose the others while a session runs.
    let events = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd", "ConfigChange"];
    for event in events {
        let entry = match event.contains("ToolUse") {
            true => json!({"matcher": "*", "hooks": [command]}),
            false => json!({"hooks": [command]}),
        };
        all.push(hook(settings, vec!["hooks", event], entry, agent));
    }
    if facts.managed {
        let purpose = "switches hooks of others off";
        all.push(value(settings, purpose, vec!["allowManagedHooksOnly"], json!(true)));
    }
    let path = vec!["permissions", "allow"];
    all.push(SettingsEntry {
        file: settings,
        purpose: "lets eclusa's tools run without a question of the agent's own",
        change: EntryChange::JsonListed { path, value: "mcp__eclusa" },
    });
    let entry = json!({
        "type": "stdio", "command": facts.program, "args": ["mcp"], "alwaysLoad": true,
    });
    match (facts.managed, facts.project) {
        (true, _) => {}
        (false, true) => {
            all.extend(servers(facts, EntryFile::Project(".mcp.json"), vec!["mcpServers"], entry));
        }
        (false, false) => {
            // With the variable it stands in that directory, without it beside it.
            let file = EntryFile::Settings("CLAUDE_CONFIG_DIR", "", ".claude.json");
            all.extend(servers(facts, file, vec!["mcpServers"], entry));
            // Servers of single projects stand in the same file.
            all.push(others(facts, file, vec![vec!["projects", "*", "mcpServers"]]));
        }
    }
    all
}

fn codex(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::Codex;
    let line = line(agent, facts);
    if facts.managed {
        let file = EntryFile::Machine("/etc/codex/requirements.toml");
        let hooks = ["PreToolUse", "PostToolUse", "SessionStart", "SessionEnd"].map(|event| {
            let command = json!({"type": "command", "command": line, "timeout": 900});
            (event, json!([{"matcher": ".*", "hooks": [command]}]))
        });
        let table = |path: Vec<&'static str>, fields: Vec<(&'static str, Value)>| SettingsEntry {
            file,
            purpose: "asks eclusa before its own tools run; other hooks are off",
            change: EntryChange::TomlTable { path, fields },
        };
        return vec![
            table(vec![], vec![("allow_managed_hooks_only", json!(true))]),
            table(vec!["features"], vec![("hooks", json!(true))]),
            table(vec!["hooks"], hooks.to_vec()),
        ];
    }
    let (hooks, config) = match facts.project {
        true => (EntryFile::Project(".codex/hooks.json"), EntryFile::Project(".codex/config.toml")),
        false => (
            EntryFile::Settings("CODEX_HOME", ".codex", "hooks.json"),
            EntryFile::Settings("CODEX_HOME", ".codex", "config.toml"),
        ),
    };
    let command = json!({"type": "command", "command": line, "timeout": 900});
    let mut all: Vec<SettingsEntry> = ["PreToolUse", "PostToolUse", "SessionStart", "SessionEnd"]
        .into_iter()
        .map(|event| {
            let entry = match event.contains("ToolUse") {
                true => json!({"matcher": ".*", "hooks": [command]}),
                false => json!({"hooks": [command]}),
            };
            hook(hooks, vec!["hooks", event], entry, agent)
        })
        .collect();
    all.push(SettingsEntry {
        file: config,
        purpose: "connects eclusa's tools, without a question of the agent's own",
        change: EntryChange::TomlTable {
            path: vec!["mcp_servers", "eclusa"],
            fields: vec![
                ("command", json!(facts.program)),
                ("args", json!(["mcp"])),
                ("default_tools_approval_mode", json!("approve")),
            ],
        },
    });
    let path = vec!["mcp_servers"];
    all.push(SettingsEntry {
        file: config,
        purpose: "puts its other servers behind the gate",
        change: EntryChange::TomlServers { path, program: facts.program.clone() },
    });
    all
}

fn gemini(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::Gemini;
    let settings = match (facts.managed, facts.project) {
        (true, _) => EntryFile::Machine("/etc/gemini-cli/settings.json"),
        (false, true) => EntryFile::Project(".gemini/settings.json"),
        (false, false) => EntryFile::Home(".gemini/settings.json"),
    };
    // A repository can switch hooks off by name, so nobody may guess it.
    let name = format!("eclusa-{}", facts.nonce);
    let command = json!({
        "type": "command", "command": line(agent, facts), "name": name, "timeout": 900_000,
    });
    let mut all: Vec<SettingsEntry> = ["BeforeTool", "AfterTool"]
        .into_iter()
        .map(|event| {
            let entry = json!({"matcher": "*", "hooks": [command]});
            hook(settings, vec!["hooks", event], entry, agent)
        })
        .collect();
    let purpose = "switches hooks on";
    all.push(value(settings, purpose, vec!["hooksConfig", "enabled"], json!(true)));
    let entry = json!({"command": facts.program, "args": ["mcp"], "trust": true});
    all.extend(servers(facts, settings, vec!["mcpServers"], entry));
    all
}

fn opencode(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let settings = |name: &'static str, project: &'static str| match facts.project {
        true => EntryFile::Project(project),
        false => EntryFile::Settings("XDG_CONFIG_HOME", ".config", name),
    };
    let program = Value::from(facts.program.as_str()).to_string();
    let text = include_str!("agents/opencode_plugin.js").replace("\"ECLUSA\"", &program);
    let plugin = SettingsEntry {
        file: settings("opencode/plugins/eclusa.js", ".opencode/plugins/eclusa.js"),
        purpose: "asks eclusa before its own tools run",
        change: EntryChange::Whole { text },
    };
    let entry = json!({"type": "local", "command": [facts.program, "mcp"], "enabled": true});
    let config = settings("opencode/opencode.json", "opencode.json");
    let mut all = vec![plugin];
    all.extend(servers(facts, config, vec!["mcp"], entry));
    let commented = settings("opencode/opencode.jsonc", "opencode.jsonc");
    all.push(others(facts, commented, vec![vec!["mcp"]]));
    all
}

fn cursor(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::Cursor;
    let file = |name: &'static str, project: &'static str| match facts.project {
        true => EntryFile::Project(project),
        false => EntryFile::Home(name),
    };
    let hooks = file(".cursor/hooks.json", ".cursor/hooks.json");
    let entry = json!({"command": line(agent, facts), "timeout": 900, "failClosed": true});
    let mut all = vec![value(hooks, "the version of the file", vec!["version"], json!(1))];
    for event in ["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"] {
        all.push(hook(hooks, vec!["hooks", event], entry.clone(), agent));
    }
    let list = file(".cursor/mcp.json", ".cursor/mcp.json");
    let entry = json!({"command": facts.program, "args": ["mcp"]});
    all.extend(servers(facts, list, vec!["mcpServers"], entry));
    all
}

fn copilot(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::Copilot;
    let file = match facts.project {
        true => EntryFile::Project(".github/hooks/eclusa.json"),
        false => EntryFile::Home(".copilot/hooks/eclusa.json"),
    };
    let entry = json!({"type": "command", "bash": line(agent, facts), "timeoutSec": 900});
    let mut all = vec![value(file, "the version of the file", vec!["version"], json!(1))];
    for event in ["preToolUse", "postToolUse"] {
        all.push(hook(file, vec!["hooks", event], entry.clone(), agent));
    }
    if !facts.project {
        let entry = json!({
            "type": "local", "command": facts.program, "args": ["mcp"], "tools": ["*"],
        });
        let list = EntryFile::Home(".copilot/mcp-config.json");
        all.extend(servers(facts, list, vec!["mcpServers"], entry));
    }
    all
}

fn windsurf(facts: &InstallFacts) -> Vec<SettingsEntry> {
    let agent = Agent::Windsurf;
    let file = match (facts.managed, facts.project) {
        (true, _) => EntryFile::Machine("/etc/windsurf/hooks.json"),
        (false, true) => EntryFile::Project(".windsurf/hooks.json"),
        (false, false) => EntryFile::Home(".codeium/windsurf/hooks.json"),
    };
    let entry = json!({"command": line(agent, facts), "show_output": true});
    let events = ["pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"];
    let hooks = events.map(|event| hook(file, vec!["hooks", event], entry.clone(), agent));
    let mut all = hooks.to_vec();
    if !facts.managed && !facts.project {
        let list = EntryFile::Home(".codeium/windsurf/mcp_config.json");
        let entry = json!({"command": facts.program, "args": ["mcp"]});
        all.extend(servers(facts, list, vec!["mcpServers"], entry));
    }
    all
}
