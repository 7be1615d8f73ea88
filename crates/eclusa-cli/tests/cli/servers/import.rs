//! Servers from the configuration of other agents.

use std::fs;

use crate::world::World;

const CLAUDE: &str = r#"{
  "mcpServers": {
    "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {}},
    "eclusa": {"command": "/usr/local/bin/eclusa", "args": ["mcp"]},
    "old": {"type": "sse", "url": "https://old.example/sse"}
  },
  "projects": {
    "/elsewhere": {"mcpServers": {"not_here": {"command": "x"}}}
  }
}"#;

const MCP_JSON: &str = r#"{"mcpServers": {"forge hub": {
  "command": "forge-mcp", "args": ["stdio"],
  "env": {"FORGE_TOKEN": "very-secret-value", "FORGE_URL": "${FORGE_ADDRESS}"}
}}}"#;

const CODEX: &str = r#"
model = "x" # kept out of it

[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
startup_timeout_sec = 45

[mcp_servers.local]
command = "local-mcp"
env_vars = ["LOCAL_KEY"]
startup_timeout_sec = 45
enabled_tools = ["a"]

[mcp_servers.off]
command = "off"
enabled = false
"#;

const VSCODE: &str = r#"{
  // comments are fine there
  "inputs": [{"id": "key", "type": "promptString"}],
  "servers": {
    "db": {"command": "db-mcp", "args": ["--dsn", "${input:key}"]},
    "web": {"type": "http", "url": "https://web.example/mcp", "headers": {"X-Key": "${env:WEB_KEY}"}},
  }
}"#;

const GEMINI: &str = r#"{"theme": "x", "mcpServers": {
  "maps": {"httpUrl": "https://maps.example/mcp", "headers": {"Authorization": "Bearer very-secret-value"}, "trust": true},
  "git": {"command": "uvx", "args": ["mcp-server-git"]}
}}"#;

fn agents() -> World {
    let world = World::with("# mine\n");
    for directory in ["workspace/.vscode", "home/.codex", "home/.gemini", "home/.cursor"] {
        fs::create_dir_all(world.path(directory)).unwrap();
    }
    world.write("home/.claude.json", CLAUDE);
    world.write("workspace/.mcp.json", MCP_JSON);
    world.write("home/.codex/config.toml", CODEX);
    world.write("workspace/.vscode/mcp.json", VSCODE);
    world.write("home/.gemini/settings.json", GEMINI);
    world
}

#[test]
fn servers_of_every_agent_are_brought_over_without_any_value() {
    let world = agents();
    let ran = world.eclusa(&["servers", "import"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(world.plain(&ran.out), @r"
    6 servers are behind the gate now, in <dir>/config/eclusa/eclusa.toml
      git (from <dir>/home/.claude.json)
      forge_hub (from <dir>/workspace/.mcp.json)
        not brought over: its name `forge hub`; it is `forge_hub` here
        not brought over: `FORGE_URL` was set from `FORGE_ADDRESS`: set `FORGE_URL` itself
      docs (from <dir>/home/.codex/config.toml)
        not brought over: the token in `DOCS_TOKEN`: put `Bearer ` and the token into `DOCS_AUTHORIZATION`
      local (from <dir>/home/.codex/config.toml)
        not brought over: `enabled_tools`
      maps (from <dir>/home/.gemini/settings.json)
        not brought over: the value of header `Authorization`: put it into `MAPS_AUTHORIZATION`
        not brought over: `trust`: say `trusted = true` here if you mean it
      web (from <dir>/workspace/.vscode/mcp.json)
      eclusa (from <dir>/home/.claude.json): it is eclusa itself
      old (from <dir>/home/.claude.json): it speaks SSE, which is not spoken here; look for its address over streamable HTTP
      off (from <dir>/home/.codex/config.toml): it is switched off there
      git (from <dir>/home/.gemini/settings.json): it is behind the gate already
      db (from <dir>/workspace/.vscode/mcp.json): its command uses `${input:key}`, which is not filled in here; write the value, or a script that fills it in
    set these in the environment of `eclusa`; no value was copied:
      DOCS_AUTHORIZATION
      FORGE_TOKEN
      FORGE_URL
      LOCAL_KEY
      MAPS_AUTHORIZATION
      WEB_KEY
    agents that pass on only named variables need these names too: `env_vars` in Codex, `env` in Gemini CLI
    they reach no host until `hosts` names it; `eclusa servers test NAME` says which they tried
    take them out of the other file and put `eclusa mcp` there: see docs/servers.md
    ");
    let config = world.read("config/eclusa/eclusa.toml");
    assert!(!config.contains("very-secret") && !ran.out.contains("very-secret"), "{config}");
    insta::assert_snapshot!(config, @r##"
    # mine

    [servers.git]
    command = ["uvx", "mcp-server-git"]

    [servers.forge_hub]
    command = ["forge-mcp", "stdio"]
    env = ["FORGE_TOKEN", "FORGE_URL"]

    [servers.docs]
    url = "https://docs.example/mcp"
    headers = { Authorization = "DOCS_AUTHORIZATION" }
    start = "45s"

    [servers.local]
    command = ["local-mcp"]
    env = ["LOCAL_KEY"]
    start = "45s"

    [servers.maps]
    url = "https://maps.example/mcp"
    headers = { Authorization = "MAPS_AUTHORIZATION" }

    [servers.web]
    url = "https://web.example/mcp"
    headers = { X-Key = "WEB_KEY" }
    "##);
    // What is there is not touched again.
    let again = world.eclusa(&["servers", "import"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.starts_with("nothing was brought over\n"), "{again:?}");
    assert_eq!(world.read("config/eclusa/eclusa.toml"), config);
}

#[test]
fn one_agent_one_file_and_a_dry_run() {
    let world = agents();
    let names = |args: &[&str]| {
        let said = world.eclusa(args).json();
        let all = said["imported"].as_array().unwrap().clone();
        all.iter().map(|it| it["server"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let dry = ["--dry-run", "--json", "servers", "import"];
    let with = |more: &[&'static str]| names(&[&dry[..], more].concat());
    assert_eq!(with(&["--from", "codex"]), ["docs", "local"]);
    assert_eq!(with(&["--from", "claude"]), ["git", "forge_hub"]);
    assert_eq!(with(&["--from", "vscode"]), ["web"]);
    assert_eq!(with(&[".mcp.json"]), ["forge_hub"]);
    assert_eq!(world.read("config/eclusa/eclusa.toml"), "# mine\n");
    let ran = world.eclusa(&["servers", "import", "--from", "cursor"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is nothing to import"), "{ran:?}");
    world.write("workspace/broken.json", "{\"mcpServers\": ");
    let ran = world.eclusa(&["servers", "import", "broken.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("broken.json"), "{ran:?}");
}

/// D19: opencode's own form, and a Claude Code that keeps its files elsewhere.
#[test]
fn servers_come_from_opencode_and_from_the_directory_that_claude_is_told() {
    let world = World::new();
    fs::create_dir_all(world.path("claude")).unwrap();
    world.write("claude/.claude.json", r#"{"mcpServers": {"here": {"command": "here-mcp"}}}"#);
    world.write(
        "workspace/opencode.json",
        r#"{"mcp": {
            "tools": {"type": "local", "command": ["tools-mcp", "--fast"], "environment": {"TOOLS_KEY": "{env:KEY}"}},
            "web": {"type": "remote", "url": "https://web.example/mcp", "headers": {"X-Key": "{env:WEB_KEY}"}},
            "off": {"type": "local", "command": ["x"], "enabled": false}
        }}"#,
    );
    let mut command = world.command(&["--json", "servers", "import"]);
    let out = command.env("CLAUDE_CONFIG_DIR", world.path("claude")).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let names: Vec<&str> = said["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["server"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["here", "tools", "web"], "{said}");
    let config = world.read("config/eclusa/eclusa.toml");
    assert!(config.contains(r#"command = ["tools-mcp", "--fast"]"#), "{config}");
    assert!(config.contains(r#"env = ["TOOLS_KEY"]"#), "{config}");
    assert!(config.contains(r#"headers = { X-Key = "WEB_KEY" }"#), "{config}");
    let ran = world.eclusa(&["servers", "import", "--from", "opencode"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // A file without servers is a mistake, not a success.
    let other = world.write("workspace/other.json", "{}");
    let ran = world.eclusa(&["servers", "import", other.to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("names no servers"), "{ran:?}");
}
