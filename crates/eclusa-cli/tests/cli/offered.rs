//! What models are offered: not the tools that rules deny outright; and what they are told of tools that are
//! away.

use serde_json::json;

use crate::{mcp::client::Client, world::World};

const DENIED: &str = "[[rules]]\ndecision = \"deny\"\ntool = [\"write\", \"web_fetch\"]\n";

#[test]
fn a_tool_that_a_rule_denies_outright_is_offered_on_no_wire_and_a_person_is_told_why() {
    let (world, all) = (World::with(DENIED), World::new());
    for shape in ["fenced", "anthropic", "openai", "openai-chat", "gemini"] {
        let offered = world.eclusa(&["tools", "--shape", shape]);
        assert_eq!(offered.code, 0, "{offered:?}");
        let names = |text: &str, name: &str| {
            text.contains(&format!("\"name\":\"{name}\"")) || text.contains(&format!("- `{name}`"))
        };
        assert!(
            !names(&offered.out, "write") && names(&offered.out, "edit"),
            "{shape}: {offered:?}"
        );
        let before = all.eclusa(&["tools", "--shape", shape]).out;
        assert!(names(&before, "write"), "{shape}: {before}");
    }
    let named = world.eclusa(&["tools", "--shape", "anthropic", "--only", "write,read"]).out;
    assert!(
        named.contains("\"name\":\"read\"") && !named.contains("\"name\":\"write\""),
        "{named}"
    );
    let listed = world.eclusa(&["tools"]);
    assert!(listed.out.contains("Not offered to models: the rule at "), "{listed:?}");
    let found = world.eclusa(&["--json", "run", "tool_search", r#"{"query": "write"}"#]);
    assert!(!found.out.contains("\"name\":\"write\""), "{found:?}");
}

#[test]
fn a_tool_that_a_rule_denies_outright_is_not_listed_over_mcp() {
    for (config, is_there) in [("", true), (DENIED, false)] {
        let world = World::with(config);
        let mut client = Client::start(&world, &["mcp"]);
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.iter().any(|it| it["name"] == "write"), is_there, "{config}");
        assert!(tools.iter().any(|it| it["name"] == "edit"));
    }
}

/// Where it depends on the call, or on another rule, the tool is offered.
#[test]
fn a_tool_that_a_rule_denies_in_part_is_offered() {
    let in_part = [
        "[[rules]]\ndecision = \"deny\"\ntool = \"write\"\npath = \"docs/**\"\n",
        "[[rules]]\ndecision = \"ask\"\ntool = \"write\"\n",
        "[[rules]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"write\"\n\
         [[rules]]\ndecision = \"allow\"\ntool = \"write\"\npath = \"docs/**\"\nexcept = [\"no\"]\n",
    ];
    for config in in_part {
        let offered = World::with(config).eclusa(&["tools", "--shape", "anthropic"]);
        assert!(offered.out.contains("\"name\":\"write\""), "{config}: {offered:?}");
    }
}

/// A model that calls it all the same reads which rule denies it, not that it is unknown.
#[test]
fn a_call_of_a_hidden_tool_is_answered_by_the_rule() {
    let world = World::with(DENIED);
    let ran = world.eclusa(&["--json", "run", "write", r#"{"path": "a", "content": "x"}"#]);
    assert_eq!((ran.code, ran.json()["code"].as_str()), (3, Some("denied_by_policy")), "{ran:?}");
}

#[test]
fn a_server_that_is_down_is_named_to_the_model() {
    let world = World::with("mode = \"yolo\"\n[servers.far]\ncommand = [\"/nonexistent\"]\n");
    let script = "## says\nI greet.\n```tool\n{\"name\": \"mcp_far_greet\", \"args\": {}}\n```\n\
        ## expects the server `far` is down\n## says\nNobody there.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    let ran = world.eclusa(&["--json", "ask", "--model", &model, "greet"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = world.eclusa(&["--json", "run", "mcp_far_greet", "{}"]);
    assert_eq!(ran.json()["code"], "tool_unavailable", "{ran:?}");
    let ran = world.eclusa(&["--json", "run", "mcp_near_greet", "{}"]);
    assert_eq!(ran.json()["code"], "unknown_tool", "{ran:?}");
}

#[test]
fn what_a_persona_misspells_is_an_error_with_the_nearest_name() {
    let known = "[models.pro]\nwire = \"openai\"\nmodel = \"m\"\nurl = \"http://127.0.0.1:9/v1\"\n";
    for (config, said) in [
        ("[personas.p]\ntools = [\"raed\"]\n", "no tool is called `raed`; did you mean `read`?"),
        ("[personas.p]\nmodel = \"por\"\n", "no model is called `por`; did you mean `pro`?"),
    ] {
        let world = World::with(&format!("{known}{config}"));
        for words in [["config", "check"], ["ask", "hi"]] {
            let ran = world.eclusa(&words);
            assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
            assert!(ran.err.contains(said) && ran.err.contains("eclusa.toml:"), "{ran:?}");
        }
    }
}

#[test]
fn personas_are_found_whatever_their_case() {
    let world = World::with("[personas.poet]\nprompt = \"Answer in rhymes.\"\n");
    let script = "## system Answer in rhymes.\n## says\nOf old.\n";
    let model = format!("script:{}", world.write("poet.md", script).display());
    let ran = world.eclusa(&["ask", "--persona", "Poet", "--model", &model, "hi"]);
    assert_eq!(ran.out, "Of old.\n", "{ran:?}");
    let ran = world.eclusa(&["ask", "--persona", "pote", "--model", &model, "hi"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean `poet`?"), "{ran:?}");
}

#[test]
fn disk_says_what_is_kept_and_a_clean_names_what_goes() {
    let world = World::new();
    world.eclusa(&["run", "note", r#"{"text": "x"}"#]);
    let old = world.store().with_file_name("eclusa.db.format-1");
    std::fs::copy(world.store(), &old).unwrap();
    let kept = world.eclusa(&["disk"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    for said in ["log, approvals, sessions", "copies of older stores", " in all"] {
        assert!(kept.out.contains(said), "{said}: {kept:?}");
    }
    let cleaned = world.eclusa(&["disk", "--clean"]);
    assert!(cleaned.code == 0 && cleaned.out.contains("deleted the copy `"), "{cleaned:?}");
    assert!(!old.exists() && world.store().exists());
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
    let value = world.eclusa(&["--json", "disk"]).json();
    assert!(value["bytes"].as_u64().unwrap() > 0, "{value}");
}
