//! `eclusa policy compare`: other agents' rules beside ours, by models of them and by their engines.

use crate::world::{Ran, World};

#[test]
fn their_rules_are_compared_with_ours_in_many_spellings() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[[rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n");
    let compare = |agent: &str, name: &str, text: &str| {
        let file = world.write(name, text);
        world.eclusa(&["--json", "policy", "compare", agent, file.to_str().unwrap()])
    };
    let commands = |said: &serde_json::Value, side: &str| -> Vec<String> {
        let all = said[side].as_array().unwrap().iter();
        all.filter_map(|it| it["command"].as_str().map(str::to_owned)).collect()
    };
    // Prefixes do not see through wrappers, and what is allowed there hides behind them.
    let claude = r#"{"permissions": {"deny": ["Bash(git push:*)"], "allow": ["Bash(env:*)"]}}"#;
    let ran = compare("claude-code", "settings.json", claude);
    let (looser, said) = (commands(&ran.json(), "looser_there"), ran.json());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(looser.contains(&"env git push".to_owned()), "{looser:?}");
    assert!(looser.contains(&"bash -c 'git push'".to_owned()), "{looser:?}");
    assert!(!looser.contains(&"git push && true".to_owned()), "{looser:?}");
    assert!(said["compared"].as_u64().unwrap() > 100, "{said}");
    assert!(commands(&said, "stricter_there").contains(&"ls -la".to_owned()), "{said}");
    // Everything denied there: nothing is looser.
    let ran = compare("opencode", "opencode.json", r#"{"permission": {"bash": "deny"}}"#);
    assert!(commands(&ran.json(), "looser_there").is_empty(), "{ran:?}");
    let ran = compare("opencode", "opencode.json", r#"{"permission": "deny"}"#);
    assert_eq!(
        (ran.code, ran.json()["looser_there"] == serde_json::json!([])),
        (0, true),
        "{ran:?}"
    );
    // What no rule of opencode fits runs.
    let ran =
        compare("opencode", "opencode.json", r#"{"permission": {"bash": {"git push *": "deny"}}}"#);
    assert!(commands(&ran.json(), "looser_there").contains(&"env git push".to_owned()), "{ran:?}");
    let rules = "prefix_rule(pattern = [\"git\", \"push\"], decision = \"forbidden\")\n";
    let ran = compare("codex", "default.rules", rules);
    assert!(commands(&ran.json(), "looser_there").contains(&"env git push".to_owned()), "{ran:?}");
}

fn compared(world: &World, agent: &str, name: &str, text: &str) -> Ran {
    let file = world.write(name, text);
    world.eclusa(&["--json", "policy", "compare", agent, file.to_str().unwrap()])
}

fn has(ran: &Ran, side: &str, what: &serde_json::Value) -> bool {
    let said = ran.json();
    let fits = |it: &serde_json::Value| {
        what.as_object().unwrap().iter().all(|(key, value)| it[key] == *value)
    };
    said[side].as_array().unwrap().iter().any(fits)
}

#[test]
fn files_are_compared_too() {
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\naccess = \"write\"\npath = \"migrations/**\"\n",
    );
    let file = |path: &str, access: &str| serde_json::json!({"path": path, "access": access});
    let claude = r#"{"permissions": {"deny": ["Read(./docs/**)"], "allow": ["Edit(src/**)", "Edit(migrations/**)"]}}"#;
    let ran = compared(&world, "claude-code", "settings.json", claude);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(has(&ran, "looser_there", &file("migrations/a", "write")), "{ran:?}");
    assert!(has(&ran, "looser_there", &file(".env", "read")), "{ran:?}");
    assert!(has(&ran, "stricter_there", &file("docs/a", "read")), "{ran:?}");
    assert!(!has(&ran, "looser_there", &file("README.md", "read")), "{ran:?}");
    // The last pattern decides in opencode, and a star crosses slashes.
    let opencode = r#"{"permission": {"edit": {"*": "deny", "src/*": "allow"}, "bash": "deny"}}"#;
    let ran = compared(&world, "opencode", "opencode.json", opencode);
    assert!(has(&ran, "stricter_there", &file("README.md", "write")), "{ran:?}");
    assert!(has(&ran, "looser_there", &file("src/b", "write")), "{ran:?}");
    let cursor =
        r#"{"permissions": {"deny": ["Write(**)", "Shell(rm)"], "allow": ["Shell(git:push)"]}}"#;
    let ran = compared(&world, "cursor", "cli-config.json", cursor);
    assert!(has(&ran, "stricter_there", &file("src/main.rs", "write")), "{ran:?}");
    assert!(
        has(&ran, "looser_there", &serde_json::json!({"command": "git push", "there": "allow"})),
        "{ran:?}"
    );
}

#[test]
fn rules_of_gemini_are_weighed_by_their_priority() {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n");
    let rule = |prefix: &str, decision: &str, priority: u32| {
        format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{prefix}\"\n\
             decision = \"{decision}\"\npriority = {priority}\n\n"
        )
    };
    let text = rule("git push", "deny", 100) + &rule("git", "allow", 200);
    let ran = compared(&world, "gemini", "policy.toml", &text);
    let command = |it: &str| serde_json::json!({"command": it});
    assert!(has(&ran, "looser_there", &command("git push")), "{ran:?}");
    let text = rule("git push", "deny", 300) + &rule("git", "allow", 200);
    let ran = compared(&world, "gemini", "policy.toml", &text);
    for same in ["git push", "true; git push", "bash -c 'git push'", "echo $(git push)"] {
        assert!(!has(&ran, "looser_there", &command(same)), "{same}: {ran:?}");
    }
    assert!(has(&ran, "looser_there", &command("env git push")), "{ran:?}");
}

/// The agent's own program judges: here scripts that answer as Codex and Gemini CLI do.
#[test]
fn the_program_of_an_agent_can_be_asked() {
    let world = World::new();
    std::fs::create_dir_all(world.path("bin/policies")).unwrap();
    world.program(
        "bin/codex",
        "#!/bin/sh\n[ \"$1 $2 $3 $5\" = 'execpolicy check --rules --' ] || exit 9\nshift 5\n\
         case \"$*\" in 'sudo true') echo '{\"matchedRules\":[],\"decision\":\"allow\"}' ;;\n\
         *) echo '{\"matchedRules\":[]}' ;; esac\n",
    );
    world.program("bin/gemini", "");
    world.write(
        "bin/core-TEST.js",
        "exports.loadPoliciesFromToml = async (places, tier) => ({rules: places.map(tier)});\n\
         exports.PolicyEngine = class { constructor({rules}) { this.rules = rules; }\n\
         async check({args}) { console.log('noise'); return args.command === 'sudo true' && \n\
         this.rules[1] === 4 ? {decision: 'allow', rule: {source: 'mine'}} : {decision: 'deny'}; } };\n",
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", world.path("bin").display());
    for (agent, name, text) in [
        ("codex", "default.rules", "prefix_rule(pattern = [\"ls\"])\n"),
        ("gemini", "policy.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\n"),
    ] {
        let file = world.write(name, text);
        let args = ["--json", "policy", "compare", agent, file.to_str().unwrap(), "--real"];
        let output = world.command(&args).env("PATH", &path).output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(said["judge"], "program");
        let all = said["looser_there"].as_array().unwrap();
        let allowed: Vec<&str> = all
            .iter()
            .filter(|it| it["there"] == "allow")
            .map(|it| it["command"].as_str().unwrap().trim())
            .collect();
        assert!(!allowed.is_empty() && allowed.iter().all(|it| *it == "sudo true"), "{all:?}");
    }
    // Where there is none to be asked, that is said, and no model answers in its place.
    world.write("workspace/settings.json", "{\"permissions\": {}}");
    let ran = world.eclusa(&["policy", "compare", "claude-code", "settings.json", "--real"]);
    assert_eq!((ran.code, ran.err.contains("no engine that can be asked")), (2, true), "{ran:?}");
}
