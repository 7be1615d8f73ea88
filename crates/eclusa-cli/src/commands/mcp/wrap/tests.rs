//! Tests of wrap.

use super::*;

#[test]
fn a_server_is_called_after_what_it_is() {
    for (command, name) in [
        ("npx -y @modelcontextprotocol/server-memory", "server-memory"),
        ("npx -y @scope/server-foo@1.2.3 /some/dir", "server-foo"),
        ("uvx mcp-server-git --repository .", "mcp-server-git"),
        ("uvx mcp-server-git==2.0", "mcp-server-git"),
        ("uv run server.py", "server"),
        ("python3 tools/weather.py", "weather"),
        ("python3 -m weather", "weather"),
        ("node dist/index.js", "index"),
        (
            "node /srv/node_modules/@modelcontextprotocol/server-memory/dist/index.js",
            "server-memory",
        ),
        ("node /srv/node_modules/weather-mcp/cli.js --stdio", "weather-mcp"),
        ("node /home/ana/forecast/build/src/index.js", "forecast"),
        ("node /home/ana/forecast/report.js", "report"),
        ("/opt/forge-mcp stdio", "forge-mcp"),
        ("./strange name", "strange"),
        ("npx", "npx"),
        ("", "server"),
    ] {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        assert_eq!(called(&words), name, "{command}");
    }
}
