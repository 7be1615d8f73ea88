//! Another agent's own search tools: patterns are paths, and nothing hidden is met.

use std::fs;

use serde_json::json;

use crate::{
    hook::{before, claude, decision, send},
    world::World,
};

#[test]
fn a_search_that_could_meet_a_secret_or_what_a_rule_denies_is_denied() {
    let rule = "[[rules]]\ndecision = \"deny\"\nclass = \"read-only\"\npath = \"secret/**\"\n";
    let world = World::with(rule);
    for directory in ["workspace/src", "workspace/secret", "workspace/sub"] {
        fs::create_dir(world.path(directory)).unwrap();
    }
    world.write("workspace/src/a.rs", "fn a() {}\n");
    world.write("workspace/secret/b.rs", "fn b() {}\n");
    world.write("workspace/sub/.env", "PASSWORD=x\n");
    let root = world.path("workspace");
    let judged = |input| decision(&claude(&world, &before(&world, "Grep", input)));
    let denied = [
        json!({"pattern": "PASS", "path": root}),
        json!({"pattern": "PASS"}),
        json!({"pattern": ".", "glob": ".env"}),
        json!({"pattern": ".", "glob": "**/.env*"}),
        json!({"pattern": ".", "glob": "!*.md"}),
        json!({"pattern": ".", "glob": "*.rs"}),
        json!({"pattern": ".", "glob": "secret/**"}),
        json!({"pattern": ".", "path": root.join("secret")}),
        json!({"pattern": ".", "path": root.join("sub")}),
        json!({"pattern": ".", "path": root.join("src/../sub")}),
    ];
    for input in denied {
        let (word, why) = judged(input.clone());
        assert_eq!(word, "deny", "{input}: {why}");
    }
    for input in [
        json!({"pattern": ".", "path": root.join("src")}),
        json!({"pattern": ".", "glob": "src/*.rs"}),
        json!({"pattern": ".", "path": root.join("src"), "glob": "*.rs"}),
    ] {
        let (word, why) = judged(input.clone());
        assert_eq!(word, "allow", "{input}: {why}");
    }
    // Other agents name the filter otherwise.
    let opencode = |args| {
        let event = json!({"event": "before", "session": "o", "tool": "grep", "root": root,
            "directory": root, "args": args});
        send(&world, "opencode", &event).out
    };
    assert!(opencode(json!({"pattern": ".", "include": ".env"})).contains("deny"));
    assert!(opencode(json!({"pattern": ".", "include": "src/*.rs"})).contains("allow"));
    let gemini = |tool: &str, input| {
        let event = json!({"session_id": "g", "cwd": root, "tool_name": tool,
            "hook_event_name": "BeforeTool", "tool_input": input});
        send(&world, "gemini", &event).out
    };
    for include in ["**/.env*", "sub/*", "**", "sub", "secret/b.rs", "."] {
        let answer = gemini("read_many_files", json!({"include": [include]}));
        assert!(answer.contains("deny"), "{include}: {answer}");
    }
    assert_eq!(gemini("read_many_files", json!({"include": ["src/*.rs"]})), "");
}

#[test]
fn a_pattern_of_names_is_judged_as_the_path_that_it_leads_to() {
    let world = World::new();
    world.write("workspace/a.rs", "fn a() {}\n");
    let judged = |pattern: &str| {
        let input = json!({"pattern": pattern});
        decision(&claude(&world, &before(&world, "Glob", input))).0
    };
    for pattern in ["/home/**", "/*", "../../**", "../*", "{..,a}/**", "{/etc,a}/*", "*/../../*"] {
        assert_ne!(judged(pattern), "allow", "{pattern}");
    }
    for pattern in ["*.rs", "**/*.rs", "src/**/*.{ts,tsx}", "{src,test}/*"] {
        assert_eq!(judged(pattern), "allow", "{pattern}");
    }
}

/// What comes back of a search all the same is shown without what nobody may see.
#[test]
fn lines_of_hidden_files_are_taken_out_of_what_a_search_found() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let input = json!({"pattern": "one"});
    assert_eq!(decision(&claude(&world, &before(&world, "Grep", input.clone()))).0, "allow");
    world.write("workspace/.env", "one=1\n");
    let mut after = crate::hook::event(&world, "PostToolUse", "Grep", input);
    let content =
        format!("a.txt:1:one\n.env:1:one=1\n{}:1:one", world.path("workspace/.env").display());
    after["tool_response"] = json!({"mode": "content", "content": content});
    let ran = claude(&world, &after);
    let shown = ran.json()["hookSpecificOutput"]["updatedToolOutput"].to_string();
    assert!(shown.contains("a.txt") && !shown.contains(".env"), "{ran:?}");
}
