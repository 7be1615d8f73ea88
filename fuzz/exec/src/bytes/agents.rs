//! Readers of what other agents and people's browsers send: hook events, settings with comments,
//! requests of editors, signed answers.

use eclusa_approvals::{KeyKind, PersonKey};
use eclusa_config::jsonc;
use eclusa_connect::{
    AGENTS, HookVerdict, InstallFacts, ResultNote, acp_answer, acp_call, acp_permission_answer,
    acp_wrap_servers,
};
use serde_json::Value;

use super::{Target, lossy};

pub(super) const TARGETS: [Target; 4] = [
    Target {
        name: "events of hooks",
        read: events,
        seeds: &[
            r#"{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t"}"#,
            r#"{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"/p/a","old_string":"a","new_string":"b"},"tool_response":{"content":[{"type":"text","text":"x"}]}}"#,
            r#"{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#,
            r#"{"conversation_id":"c","hook_event_name":"beforeShellExecution","command":"ls","cwd":"/p","workspace_roots":["/p"]}"#,
            r#"{"event":"tool.execute.before","tool":"bash","args":{"command":"ls"},"sessionID":"s","callID":"c"}"#,
            r#"{"agent_action_name":"pre_run_command","trajectory_id":"t","tool_info":{"command_line":"ls","cwd":"/p"}}"#,
        ],
        corpus: "",
    },
    Target {
        name: "settings of agents",
        read: settings,
        seeds: &[
            "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": []}]}, \"a\": 1}",
            "// words\n{\"mcpServers\": {\"x\": {\"command\": \"y\",}}, /* c */ \"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}",
            "[mcp_servers.x]\ncommand = \"y\"\n[features]\nhooks = true\n",
        ],
        corpus: "",
    },
    Target {
        name: "requests of editors",
        read: requests,
        seeds: &[
            r#"{"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"x","kind":"execute","rawInput":{"command":"ls"}},"options":[{"optionId":"a","name":"Allow","kind":"allow_once"}]}}"#,
            r#"{"method":"session/new","params":{"cwd":"/p","mcpServers":[{"name":"x","command":"y","args":[],"env":[]}]}}"#,
            r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#,
        ],
        corpus: "",
    },
    Target {
        name: "keys of people",
        read: |it| {
            lossy(it, |it| {
                for kind in [KeyKind::Browser, KeyKind::File] {
                    let _ = PersonKey::new(kind, it.to_owned(), it.to_owned(), 0).is_well_formed();
                }
                let _ = serde_json::from_str::<PersonKey>(it);
            });
        },
        seeds: &[
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            r#"{"id":"a","kind":"file","public":"AAAA","label":"x","added":1}"#,
        ],
        corpus: "",
    },
];

fn events(bytes: &[u8]) {
    for agent in AGENTS {
        let Ok(event) = agent.read_event(bytes) else { continue };
        let _ = (event.mapped_call(), event.can_ask(true));
        for verdict in [
            HookVerdict::Allow { context: None },
            HookVerdict::Deny("no".to_owned()),
            HookVerdict::Ask("why".to_owned()),
        ] {
            let _ = event.answer(&verdict);
        }
        let _ = event.answer_result(&ResultNote::default());
    }
}

/// What was put into a file can be taken out of it again, and leaves it readable.
fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = jsonc::read(&text);
    let facts = InstallFacts {
        program: "/usr/bin/eclusa".to_owned(),
        nonce: "0123456789abcdef".to_owned(),
        managed: false,
        project: false,
    };
    for agent in AGENTS {
        for entry in agent.entries(&facts) {
            let _ = entry.state(&text);
            if let Ok(with) = entry.add(&text) {
                let without = entry.remove(&with);
                assert!(without.is_ok(), "{agent}: added and not removable: {text:?}");
            }
        }
    }
}

fn requests(bytes: &[u8]) {
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { return };
    let method = value.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = value.get_mut("params").map(Value::take).unwrap_or_default();
    let _ = (acp_call(&method, &params), acp_answer(&value, true));
    let _ = acp_permission_answer(&params, true);
    let mut params = params;
    let _ = acp_wrap_servers(&mut params, "eclusa");
}
