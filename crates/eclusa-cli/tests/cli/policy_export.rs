//! `eclusa policy export`: the person's rules as other agents' settings.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn own_rules_are_exported_and_nothing_is_allowed_where_a_denial_stays_behind() {
    let world = World::with(
        r#"
[[rules]]
decision = "deny"
command = "git push"

[[rules]]
decision = "allow"
tool = ["write", "edit"]
path = "docs/**"

[[rules]]
decision = "ask"
access = "write"
path = "migrations/**"

[[rules]]
decision = "allow"
tool = "web_fetch"
domain = "docs.example"

[[rules]]
decision = "deny"
domain = ["*", "!docs.example"]
"#,
    );
    assert_snapshot!(world.transcript(&[
        &["policy", "export", "claude-code"],
        &["policy", "export", "codex"],
        &["policy", "export", "gemini"],
        &["policy", "export", "opencode"],
    ]), @r###"
    $ eclusa policy export claude-code
    {
      "permissions": {
        "allow": [
          "Edit(/docs/**)"
        ],
        "ask": [
          "Edit(/migrations/**)"
        ],
        "deny": [
          "Bash(git push:*)"
        ]
      }
    }
    stderr:
    note: not carried over: <dir>/config/eclusa/eclusa.toml:21: its conditions (domain) cannot be said elsewhere
    note: not carried over: <dir>/config/eclusa/eclusa.toml:16: a rule that tightens the same kind stays behind
    note: not carried over: defaults: the shipped rules and what holds without rules are not written out
    exit 0
    $ eclusa policy export codex
    prefix_rule(pattern = ["git","push"], decision = "forbidden")
    stderr:
    note: not carried over: <dir>/config/eclusa/eclusa.toml:6: Codex has no such rules about a path
    note: not carried over: <dir>/config/eclusa/eclusa.toml:11: Codex has no such rules about a path
    note: not carried over: <dir>/config/eclusa/eclusa.toml:16: Codex has no such rules about a domain
    note: not carried over: <dir>/config/eclusa/eclusa.toml:21: its conditions (domain) cannot be said elsewhere
    note: not carried over: defaults: the shipped rules and what holds without rules are not written out
    exit 0
    $ eclusa policy export gemini
    [[rule]]
    toolName = "run_shell_command"
    commandPrefix = "git push"
    decision = "deny"
    priority = 300
    stderr:
    note: not carried over: <dir>/config/eclusa/eclusa.toml:6: Gemini CLI has no such rules about a path
    note: not carried over: <dir>/config/eclusa/eclusa.toml:11: Gemini CLI has no such rules about a path
    note: not carried over: <dir>/config/eclusa/eclusa.toml:16: Gemini CLI has no such rules about a domain
    note: not carried over: <dir>/config/eclusa/eclusa.toml:21: its conditions (domain) cannot be said elsewhere
    note: not carried over: defaults: the shipped rules and what holds without rules are not written out
    exit 0
    $ eclusa policy export opencode
    {
      "permission": {
        "bash": {
          "git push": "deny",
          "git push *": "deny"
        },
        "edit": {
          "docs/**": "allow",
          "migrations": "ask",
          "migrations/*": "ask"
        }
      }
    }
    stderr:
    note: not carried over: <dir>/config/eclusa/eclusa.toml:16: opencode has no such rules about a domain
    note: not carried over: <dir>/config/eclusa/eclusa.toml:21: its conditions (domain) cannot be said elsewhere
    note: not carried over: defaults: the shipped rules and what holds without rules are not written out
    exit 0
    "###);
}

/// What is exported and imported again is what was there.
#[test]
fn rules_about_commands_survive_the_way_there_and_back() {
    let rules = "[[rules]]\ndecision = \"allow\"\ncommand = \"git log\"\n\n\
                 [[rules]]\ndecision = \"deny\"\ncommand = \"rm -rf\"\n";
    for (agent, name) in [
        ("claude-code", "settings.json"),
        ("codex", "default.rules"),
        ("gemini", "policy.toml"),
        ("cursor", "cli-config.json"),
    ] {
        let world = World::with(rules);
        let exported = world.eclusa(&["policy", "export", agent]);
        let file = world.write(name, &exported.out).display().to_string();
        let back = world.eclusa(&["policy", "import", agent, &file]);
        let rule = |decision: &str, command: &str| {
            let text = format!("decision = \"{decision}\"\ncommand = \"{command}\"\n");
            assert!(back.out.contains(&text), "{agent}: {back:?}");
        };
        rule("allow", "git log");
        rule("deny", "rm -rf");
        // In Cursor a command alone and with more words are two rules.
        let count = if agent == "cursor" { 4 } else { 2 };
        assert_eq!(back.out.matches("[[rules]]").count(), count, "{agent}: {back:?}");
    }
}
