//! Entries in settings: added once, taken out again, everything else as it was.

use eclusa_config::jsonc;
use eclusa_connect::{
    AGENTS, AgentSpec, EntryFile, EntryState, InstallFacts, ServerPosition, SettingsEntry,
};
use serde_json::{Value, json};

fn agent(name: &str) -> &'static AgentSpec {
    AgentSpec::named(name).unwrap()
}

fn facts() -> InstallFacts {
    InstallFacts {
        program: "/opt/my tools/eclusa".to_owned(),
        nonce: "0123456789abcdef".to_owned(),
        managed: false,
        project: false,
    }
}

fn name(entry: &SettingsEntry) -> &'static str {
    match entry.file {
        EntryFile::Home(name) | EntryFile::Project(name) | EntryFile::Machine(name) => name,
        EntryFile::Settings(_, _, name) => name,
    }
}

/// The page of an agent names every file that one command writes, and what `status` says is still to be
/// done or left open is what it says.
#[test]
fn the_page_of_an_agent_says_what_is_written_and_what_is_left() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = std::fs::read_to_string(page).unwrap();
    for agent in AGENTS {
        let section = page.split_once(&format!("\n### {agent}\n")).unwrap().1;
        let section = section.split_once("\n#").unwrap().0;
        for (managed, project) in [(false, false), (false, true), (true, false)] {
            for entry in agent.entries(&InstallFacts { managed, project, ..facts() }) {
                let file = name(&entry);
                // Whole, or by its last part where the directory is told beside it.
                let last = format!("`{}`", file.rsplit('/').next().unwrap());
                let named = section.contains(file) || section.contains(&last);
                assert!(named, "{agent}: `{file}` is not named");
            }
        }
        let pressed = section.contains("**Manual step**");
        assert_eq!(pressed, agent.to_confirm(false).is_some(), "{agent}");
        assert!(section.contains("**What it cannot close**"), "{agent}");
        // The words in backticks are what switches it off.
        for open in agent.still_open(false) {
            for word in open.split('`').skip(1).step_by(2) {
                assert!(section.contains(&format!("`{word}`")), "{agent}: `{word}` is left open");
            }
        }
    }
}

fn json_entries(agent: &AgentSpec) -> Vec<SettingsEntry> {
    agent.entries(&facts()).into_iter().filter(|it| name(it).ends_with(".json")).collect()
}

fn added(entries: &[SettingsEntry], text: &str) -> String {
    entries.iter().fold(text.to_owned(), |text, it| it.add(&text).unwrap())
}

#[test]
fn what_others_wrote_stays_byte_for_byte() {
    let texts = [
        "{}",
        "{ }\n",
        "{\"a\": 1}",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": [1, 2,],\n}\n",
        "// mine\n{\n    // why\n    \"a\": 1, // so\n    /* b */\n}\n",
        "{\n  \"a\": 1 // no comma\n}",
        "{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}}",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [] } // theirs\n    ]\n  }\n}\n",
        "{\r\n  \"a\": 1\r\n}\r\n",
    ];
    let agents =
        [agent("claude-code"), agent("codex"), agent("gemini"), agent("cursor"), agent("zed")];
    for agent in agents {
        for text in texts {
            let before = jsonc::read(text).unwrap();
            let entries = json_entries(agent);
            let with = added(&entries, text);
            let after = jsonc::read(&with).unwrap_or_else(|err| panic!("{agent} {err}\n{with}"));
            kept(&before, &after);
            // Every comment and every line is still there.
            for line in text.lines().filter(|it| it.contains("//") || it.contains("/*")) {
                let comment = line.split_at(line.find('/').unwrap()).1;
                assert!(with.contains(comment), "{with}");
            }
            assert_eq!(added(&entries, &with), with, "twice is once");
            for entry in &entries {
                assert_eq!(entry.state(&with).unwrap(), EntryState::Present);
            }
        }
    }
}

/// Everything of the first is in the second.
fn kept(before: &Value, after: &Value) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.iter().for_each(|(key, it)| kept(it, &after[key]));
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before[..], after[..before.len()]);
        }
        (before, after) => assert_eq!(before, after),
    }
}

#[test]
fn one_entry_goes_in_and_out_without_a_trace() {
    let texts = [
        "{\"a\": 1}",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": [1, 2,],\n}\n",
        "// mine\n{\n    // why\n    \"a\": 1, // so\n}\n",
        "{\n  \"a\": 1 // no comma\n}",
        "{\"a\": {\"b\": [3]}, \"c\": null}\n",
    ];
    for text in texts {
        for entry in json_entries(agent("gemini")).iter().filter(|it| it.is_gate || it.is_server())
        {
            let with = entry.add(text).unwrap();
            assert_ne!(with, text);
            assert_eq!(entry.remove(&with).unwrap().unwrap(), text);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_its_place() {
    let entry = &json_entries(agent("claude-code"))[0];
    let err = entry.add("{\n  \"a\": ,\n}").unwrap_err();
    assert!(err.to_string().contains("line 2, column 8"), "{err}");
    let err = entry.add("{\"hooks\": []}").unwrap_err();
    assert!(err.to_string().contains("line 1, column 11"), "{err}");
    let entries = agent("codex").entries(&facts());
    let toml = entries.iter().find(|it| it.is_server()).unwrap();
    let err = toml.add("a = 1\nb = = 2\n").unwrap_err();
    assert!(err.to_string().contains("line 2"), "{err}");
}

#[test]
fn an_older_hook_of_ours_is_replaced_and_not_doubled() {
    let entry = &json_entries(agent("claude-code"))[0];
    let with = entry.add("{}").unwrap();
    let older = with.replace("/opt/my tools/eclusa", "/old/eclusa");
    assert_eq!(entry.state(&older).unwrap(), EntryState::Different);
    let new = jsonc::read(&entry.add(&older).unwrap()).unwrap();
    assert_eq!(new["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    assert!(new.to_string().contains("/opt/my tools/eclusa"));
}

#[test]
fn the_hook_of_gemini_has_a_name_that_stays() {
    let entries = json_entries(agent("gemini"));
    let with = added(&entries, "{}");
    let other = InstallFacts { nonce: "fedcba9876543210".to_owned(), ..facts() };
    for entry in agent("gemini").entries(&other) {
        assert_eq!(entry.state(&with).unwrap(), EntryState::Present);
    }
}

#[test]
fn toml_keeps_comments_and_order() {
    let text = "# mine\nmodel = \"x\" # so\n\n[mcp_servers.files]\ncommand = \"f\"\n";
    let entries = agent("codex").entries(&facts());
    let entry = entries.iter().find(|it| it.is_server()).unwrap();
    let with = entry.add(text).unwrap();
    assert!(with.starts_with(text), "{with}");
    assert!(
        with.contains("[mcp_servers.eclusa]\ncommand = \"/opt/my tools/eclusa\"\nargs = [\"mcp\"]"),
        "{with}"
    );
    assert_eq!(entry.add(&with).unwrap(), with);
    assert_eq!(entry.remove(&with).unwrap().unwrap(), text);
}

fn servers_entry(agent: &AgentSpec) -> SettingsEntry {
    agent.entries(&facts()).into_iter().find(SettingsEntry::is_other_servers).unwrap()
}

fn positions(entry: &SettingsEntry, text: &str) -> Vec<(String, bool)> {
    let all = entry.other_servers(text).unwrap().into_iter();
    all.map(|it| (it.name, it.position == ServerPosition::Behind)).collect()
}

#[test]
fn other_servers_go_behind_the_gate_and_come_back_without_a_trace() {
    let wrap = r#"["mcp", "--wrap", "--installed", "--name", "#;
    let cases = [
        (
            agent("gemini"),
            "{\n  // mine\n  \"mcpServers\": {\n    \"my git\": { \"command\": \"git-mcp\", \"args\": [\"-r\", \".\"], \"env\": {\"TOKEN\": \"t\"} }, // local\n    \"docs\": {\"httpUrl\": \"https://docs.example/mcp\"}\n  }\n}\n",
            format!("\"command\": \"/opt/my tools/eclusa\", \"args\": {wrap}\"my_git\", \"--env\", \"TOKEN\", \"--\", \"git-mcp\", \"-r\", \".\"]"),
        ),
        (
            agent("cursor"),
            "{\"mcpServers\": {\"time\": {\"command\": \"time-mcp\"}}}",
            format!("\"args\": {wrap}\"time\", \"--\", \"time-mcp\"]"),
        ),
        (
            agent("opencode"),
            "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"a\", \"b\"], \"environment\": {\"X\": \"1\"}}}}",
            r#"["/opt/my tools/eclusa", "mcp", "--wrap", "--installed", "--name", "a", "--env", "X", "--", "a", "b"]"#.to_owned(),
        ),
        (
            agent("zed"),
            "{\"context_servers\": {\"a\": {\"command\": {\"path\": \"a\", \"args\": [\"b\"], \"env\": {}}}}}",
            format!("\"path\": \"/opt/my tools/eclusa\", \"args\": {wrap}\"a\", \"--\", \"a\", \"b\"]"),
        ),
        (
            agent("codex"),
            "[mcp_servers.files]\ncommand = \"f\" # fast\nargs = [\"x\"] # all\nenv_vars = [\"A\", { name = \"B\" }]\n\n[mcp_servers.files.env]\nC = \"3\"\n",
            "command = \"/opt/my tools/eclusa\" # fast\nargs = [\"mcp\", \"--wrap\", \"--installed\", \"--name\", \"files\", \"--env\", \"A\", \"--env\", \"B\", \"--env\", \"C\", \"--\", \"f\", \"x\"] # all".to_owned(),
        ),
    ];
    for (agent, text, part) in cases {
        let entry = servers_entry(agent);
        assert_eq!(entry.state(text).unwrap(), EntryState::Absent, "{agent}");
        let with = entry.add(text).unwrap();
        assert!(with.contains(&part), "{agent}\n{with}\n{part}");
        assert_eq!(entry.state(&with).unwrap(), EntryState::Present, "{agent}");
        assert_eq!(entry.add(&with).unwrap(), with, "twice is once");
        assert!(positions(&entry, &with).iter().any(|(_, behind)| *behind), "{agent}");
        assert_eq!(entry.remove(&with).unwrap().unwrap(), text, "{agent}");
    }
}

/// Address and headers stay in the file that they were in, and come back byte for byte, also where
/// somebody changed the file since.
#[test]
fn servers_at_an_address_go_behind_the_gate_with_their_headers_in_the_same_file() {
    let headers = r#""headers": {"Authorization": "Bearer ${DOCS_TOKEN}"} // mine"#;
    let cases = [
        (agent("claude-code"), "mcpServers", format!("{{\n      \"type\": \"http\", \"url\": \"https://docs.example/mcp?k=1\", {headers}\n    }}")),
        (agent("gemini"), "mcpServers", "{\"httpUrl\": \"https://d.example\", \"headers\": {\"X\": \"1\"}, \"trust\": true}".to_owned()),
        (agent("cursor"), "mcpServers", format!("{{\"url\": \"https://d.example\", {headers}\n}}")),
        (agent("opencode"), "mcp", "{\"type\": \"remote\", \"url\": \"https://d.example\", \"headers\": {\"X\": \"{env:T}\"}, \"oauth\": false}".to_owned()),
    ];
    for (agent, list, source) in cases {
        let text = format!("{{\n  \"{list}\": {{\n    \"docs\": {source} /* end */,\n  }}\n}}\n");
        let entry = servers_entry(agent);
        assert_eq!(entry.state(&text).unwrap(), EntryState::Absent, "{agent}");
        let with = entry.add(&text).unwrap();
        let moved = &jsonc::read(&with).unwrap()[list]["docs"];
        let variables = moved.get("env").or(moved.get("environment")).unwrap();
        assert_eq!(variables["ECLUSA_SERVER"], source, "{agent}\n{with}");
        assert!(moved.get("url").is_none() && moved.get("headers").is_none(), "{with}");
        let words = moved.get("args").unwrap_or(&moved["command"]).to_string();
        assert!(words.contains(r#""--name","docs","--address-in","ECLUSA_SERVER"]"#), "{words}");
        assert!(!words.contains("example") && !words.contains("TOKEN"), "{words}");
        assert_eq!(positions(&entry, &with), [("docs".to_owned(), true)]);
        assert_eq!(entry.add(&with).unwrap(), with, "twice is once");
        assert_eq!(entry.remove(&with).unwrap().unwrap(), text, "{agent}");
        let edited = with.replacen('{', "{ // mine", 1);
        assert_eq!(entry.remove(&edited).unwrap().unwrap(), text.replacen('{', "{ // mine", 1));
    }
    // Where the agent logs in by itself, it keeps the server.
    let entry = servers_entry(agent("cursor"));
    for own in [
        r#"{"url": "https://a.example"}"#,
        r#"{"url": "https://a.example", "headers": {"A": "1"}, "auth": {}}"#,
        r#"{"url": "https://a.example", "headers": {"A": 1}}"#,
        r#"{"url": "https://a.example", "httpUrl": "https://b.example", "headers": {"A": "1"}}"#,
    ] {
        let text = format!("{{\"mcpServers\": {{\"a\": {own}}}}}");
        assert_eq!(entry.add(&text).unwrap(), text);
        let listed = entry.other_servers(&text).unwrap();
        assert!(matches!(listed[0].position, ServerPosition::Left(_)), "{listed:?}");
    }
}

/// What a person added to a moved server stays when our program is elsewhere; what they wrapped
/// themselves is theirs.
#[test]
fn servers_that_a_person_put_behind_the_gate_stay_there() {
    let entry = servers_entry(agent("cursor"));
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"/usr/bin/eclusa\", \"args\": [\"mcp\", \"--wrap\", \"--\", \"a\"]}}}";
    assert_eq!(entry.add(text).unwrap(), text);
    assert_eq!(entry.remove(text).unwrap().unwrap(), text);
    assert_eq!(positions(&entry, text), [("a".to_owned(), true)]);
    let with = entry.add("{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}").unwrap();
    let edited = with.replace("\"--name\"", "\"--allow-net\", \"a.example\", \"--name\"");
    let older = edited.replace("/opt/my tools/eclusa", "/old/eclusa");
    assert_eq!(entry.add(&older).unwrap(), edited);
    let back = entry.remove(&older).unwrap().unwrap();
    assert_eq!(back, "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}");
}

#[test]
fn servers_of_single_projects_are_moved_too_and_odd_ones_are_left() {
    let text = r#"{"projects": {"/a": {"mcpServers": {"x": {"command": "x"}}, "n": 1}, "/b": {}}}"#;
    let all = agent("claude-code").entries(&facts());
    let moved = all.iter().filter(|it| it.is_other_servers());
    let with = moved.fold(text.to_owned(), |text, it| it.add(&text).unwrap());
    assert_eq!(
        jsonc::read(&with).unwrap()["projects"]["/a"]["mcpServers"]["x"]["args"][2],
        "--installed"
    );
    let odd = r#"{"mcpServers": {"a": {"url": "https://a.example"}, "b": {"command": "b", "args": [1]},
        "c": {"command": "c", "env": {"NOT A NAME": "1"}}, "d": {"command": "d", "envFile": ".env"},
        "e": {}, "f": 1, "eclusa": {"command": "x"}}}"#;
    let entry = servers_entry(agent("cursor"));
    assert_eq!(entry.add(odd).unwrap(), odd);
    assert_eq!(entry.state(odd).unwrap(), EntryState::Present);
    assert!(positions(&entry, odd).iter().all(|(_, behind)| !behind), "{odd}");
    assert_eq!(positions(&entry, odd).len(), 5);
}

#[test]
fn no_entry_lets_a_call_pass_when_our_program_is_missing() {
    let managed = InstallFacts { managed: true, ..facts() };
    for agent in [
        agent("claude-code"),
        agent("codex"),
        agent("gemini"),
        agent("cursor"),
        agent("copilot"),
        agent("windsurf"),
    ] {
        for facts in [facts(), managed.clone()] {
            let gates: Vec<String> = agent
                .entries(&facts)
                .iter()
                .filter(|it| it.is_gate)
                .map(|it| it.add("").unwrap())
                .collect();
            assert!(!gates.is_empty(), "{agent}");
            for text in gates {
                assert!(text.contains(" hook ") && text.contains("exit 2;"), "{text}");
                assert!(text.contains("'/opt/my tools/eclusa'"), "{text}");
            }
        }
    }
    let opencode = &agent("opencode").entries(&facts())[0];
    assert!(opencode.add("").unwrap().contains("const PROGRAM = \"/opt/my tools/eclusa\""));
    assert_eq!(json!({}), jsonc::read(" // nothing\n").unwrap());
}

/// Our tools run without a question of the agent's own, and are shown to the model.
/// Shows D1.
#[test]
fn every_agent_lets_our_tools_run() {
    let settings = |agent: &AgentSpec| -> String {
        let all = agent.entries(&facts());
        all.iter().map(|it| it.add("").unwrap()).collect::<Vec<_>>().join("\n")
    };
    for (agent, words) in [
        (agent("claude-code"), vec!["\"mcp__eclusa\"", "\"alwaysLoad\": true"]),
        (agent("codex"), vec!["default_tools_approval_mode = \"approve\""]),
        (agent("gemini"), vec!["\"trust\": true", "\"enabled\": true"]),
        (agent("opencode"), vec!["\"enabled\": true"]),
        (agent("copilot"), vec!["\"tools\": [\"*\"]"]),
    ] {
        let text = settings(agent);
        for word in words {
            assert!(text.contains(word), "{agent} {word}\n{text}");
        }
    }
}
