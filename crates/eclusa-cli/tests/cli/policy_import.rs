//! `eclusa policy import`: what is carried over, and what is said of the rest.

use insta::assert_snapshot;

use crate::world::World;

/// What an import of this file prints.
fn imported(agent: &str, name: &str, text: &str) -> String {
    let world = World::new();
    let file = world.write(name, text);
    world.transcript(&[&["policy", "import", agent, &file.display().to_string()]])
}

#[test]
fn claude_code_permissions_become_rules_and_the_rest_is_listed() {
    let text = r#"{
  // comments are fine
  "permissions": {
    "allow": ["Read(./src/**)", "Edit(docs/**)", "WebFetch(domain:docs.example)",
              "mcp__tracker__list", "Bash", "Bash(make check)", "Bash(git * main)", "Read(//etc/hosts)", "Task"],
    "ask": ["Bash(git push:*)", "mcp__tracker"],
    "deny": ["Read(./.env)", "Read(~/.ssh/**)", "Bash(rm *)", "Bash(curl * | sh)", "WebSearch",
             "Edit", "WebFetch(https://x)"],
    "defaultMode": "acceptEdits",
  },
}"#;
    assert_snapshot!(imported("claude-code", "settings.json", text), @r###"
    $ eclusa policy import claude-code <dir>/settings.json
    # From <dir>/settings.json of Claude Code.

    [[rules]]
    decision = "allow"
    tool = ["read", "list", "glob", "grep"]
    path = "src/**"
    reason = "imported: allow Read(./src/**)"

    [[rules]]
    decision = "allow"
    tool = ["write", "edit", "multi_edit", "make_dir"]
    path = "docs/**"
    reason = "imported: allow Edit(docs/**)"

    [[rules]]
    decision = "allow"
    tool = "web_fetch"
    domain = "docs.example"
    reason = "imported: allow WebFetch(domain:docs.example)"

    [[rules]]
    decision = "allow"
    server = "tracker"
    tool = "mcp_tracker_list"
    reason = "imported: allow mcp__tracker__list"

    [[rules]]
    decision = "allow"
    tool = "bash"
    arg."/command" = { equals = "make check" }
    reason = "imported: allow Bash(make check)"

    [[rules]]
    decision = "ask"
    command = "git push"
    reason = "imported: ask Bash(git push:*)"

    [[rules]]
    decision = "ask"
    server = "tracker"
    reason = "imported: ask mcp__tracker"

    [[rules]]
    decision = "deny"
    access = "read"
    path = ".env"
    reason = "imported: deny Read(./.env)"

    [[rules]]
    decision = "deny"
    command = "rm"
    reason = "imported: deny Bash(rm *)"

    [[rules]]
    decision = "deny"
    command = { regex = 'curl(?s:.*)\|\s+sh' }
    reason = "imported: deny Bash(curl * | sh)"

    [[rules]]
    decision = "deny"
    access = "write"
    reason = "imported: deny Edit"

    # Skipped, so these rules are LOOSER than the settings were:
    #   deny WebFetch(https://x): only `domain:` can be imported

    # Skipped:
    #   allow Bash: nothing here allows every command; name those you mean
    #   allow Bash(git * main): a command is allowed by its first words, not by a pattern
    #   allow Read(//etc/hosts): it is outside the workspace
    #   allow Task: no tool here is like it
    #   defaultMode acceptEdits: set `mode` yourself
    #   deny Read(~/.ssh/**): it is outside the workspace, which is denied anyway
    #   deny WebSearch: no tool here is like it

    stderr:
    note: 11 imported, 8 skipped
    exit 0
    "###);
}

#[test]
fn codex_rules_become_rules_and_the_rest_is_listed() {
    let text = r#"
# asked about
prefix_rule(
    pattern = ["gh", "pr", ["view", "list"]],
    decision = "prompt",  # inline
    match = ["gh pr view 7", ["gh", "pr", "list"]],
)
prefix_rule(pattern=["rm", "-rf"], decision="forbidden", justification="no")
prefix_rule(pattern=["sh", "-c", "a b"], decision="allow")
network_rule(host = "a.example", protocol = "https", decision = "forbidden")
"#;
    assert_snapshot!(imported("codex", "default.rules", text), @r###"
    $ eclusa policy import codex <dir>/default.rules
    # From <dir>/default.rules of Codex.

    [[rules]]
    decision = "ask"
    command = "gh pr view"
    reason = "imported: ask gh pr view"

    [[rules]]
    decision = "ask"
    command = "gh pr list"
    reason = "imported: ask gh pr list"

    [[rules]]
    decision = "deny"
    command = "rm -rf"
    reason = "imported: deny rm -rf"

    # Skipped, so these rules are LOOSER than the settings were:
    #   line 10: network_rule(…): only prefix_rule can be imported

    # Skipped:
    #   allow sh -c a b: its words need quotes, which rules do not have

    stderr:
    note: 3 imported, 2 skipped
    exit 0
    "###);
    let config = "approval_policy = \"never\"\nsandbox_mode = \"read-only\"\n";
    assert_snapshot!(imported("codex", "config.toml", config), @r###"
    $ eclusa policy import codex <dir>/config.toml
    # From <dir>/config.toml of Codex.

    [[rules]]
    decision = "ask"
    access = "write"
    reason = "imported: sandbox_mode read-only"

    # Skipped:
    #   approval_policy never: rules and `mode` say what may run without a question

    stderr:
    note: 1 imported, 1 skipped
    exit 0
    "###);
}

#[test]
fn gemini_rules_and_tools_become_rules_and_the_rest_is_listed() {
    let policy = r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git push", "npm publish"]
decision = "ask_user"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandRegex = "rm\\s+-rf"
decision = "deny"
priority = 200

[[rule]]
mcpName = "tracker"
decision = "deny"
priority = 300

[[rule]]
toolName = "write_file"
argsPattern = "secret"
decision = "deny"
priority = 300
"#;
    assert_snapshot!(imported("gemini", "policy.toml", policy), @r###"
    $ eclusa policy import gemini <dir>/policy.toml
    # From <dir>/policy.toml of Gemini CLI.

    [[rules]]
    decision = "ask"
    command = "git push"
    reason = "imported: ask git push"

    [[rules]]
    decision = "ask"
    command = "npm publish"
    reason = "imported: ask npm publish"

    [[rules]]
    decision = "deny"
    command = { regex = 'rm\s+-rf' }
    reason = "imported: rule 2 (deny)"

    [[rules]]
    decision = "deny"
    server = "tracker"
    reason = "imported: rule 3 (deny)"

    # Skipped, so these rules are LOOSER than the settings were:
    #   rule 4 (deny): `argsPattern` has no like here

    stderr:
    note: 4 imported, 1 skipped
    exit 0
    "###);
    let settings =
        r#"{"tools": {"core": ["ReadFileTool"], "exclude": ["ShellTool(rm)", "web_fetch"]}}"#;
    assert_snapshot!(imported("gemini", "settings.json", settings), @r###"
    $ eclusa policy import gemini <dir>/settings.json
    # From <dir>/settings.json of Gemini CLI.

    [[rules]]
    decision = "deny"
    command = "rm"
    reason = "imported: tools.exclude ShellTool(rm)"

    [[rules]]
    decision = "deny"
    tool = "web_fetch"
    reason = "imported: tools.exclude web_fetch"

    # Skipped, so these rules are LOOSER than the settings were:
    #   tools.core: a list of the only tools cannot be said by rules

    stderr:
    note: 2 imported, 1 skipped
    exit 0
    "###);
}

#[test]
fn opencode_permissions_become_rules_and_the_rest_is_listed() {
    let text = r#"{"permission": {
  "*": "ask",
  "bash": {"*": "ask", "rm *": "deny"},
  "edit": {"*": "deny", "docs/**": "allow"},
  "webfetch": "deny",
  "external_directory": "ask",
  "skill": "allow"
}}"#;
    assert_snapshot!(imported("opencode", "opencode.json", text), @r###"
    $ eclusa policy import opencode <dir>/opencode.json
    # From <dir>/opencode.json of opencode.

    [[rules]]
    decision = "ask"
    access = "read"
    reason = "imported: read ask"

    [[rules]]
    decision = "ask"
    class = "generic"
    reason = "imported: * ask"

    [[rules]]
    decision = "ask"
    class = "shell"
    reason = "imported: bash * ask"

    [[rules]]
    decision = "deny"
    command = "rm"
    reason = "imported: bash rm * deny"

    [[rules]]
    decision = "deny"
    access = "write"
    path = ["*", "!docs/**"]
    reason = "imported: edit * deny"

    [[rules]]
    decision = "allow"
    tool = ["write", "edit", "multi_edit", "make_dir"]
    path = "docs/**"
    reason = "imported: edit docs/** allow"

    [[rules]]
    decision = "deny"
    tool = "web_fetch"
    reason = "imported: webfetch deny"

    # Skipped:
    #   external_directory ask: nothing outside the workspace can be touched
    #   skill allow: no tool here is like it

    stderr:
    note: 7 imported, 2 skipped
    exit 0
    "###);
}

#[test]
fn what_is_no_settings_file_is_said_with_its_place() {
    assert_snapshot!(imported("codex", "default.rules", "x = 1 +\nprefix_rule(1)"), @r###"
    $ eclusa policy import codex <dir>/default.rules
    stderr:
    error: `<dir>/default.rules` cannot be read as settings of Codex: line 1: only calls such as `prefix_rule(…)` can be read
    exit 2
    "###);
    assert_snapshot!(imported("claude-code", "settings.json", "{}"), @r###"
    $ eclusa policy import claude-code <dir>/settings.json
    stderr:
    error: `<dir>/settings.json` cannot be read as settings of Claude Code: there is no object `permissions` in it
    exit 2
    "###);
}

#[test]
fn commands_are_carried_by_their_first_words_and_single_texts_as_they_stand() {
    let text = r#"{"permissions": {
  "allow": ["Bash(npm run test:*)", "Bash(git log *)", "Bash(make check)"],
  "deny": ["Bash(rm -rf:*)"]
}}"#;
    assert_snapshot!(imported("claude-code", "settings.json", text), @r###"
    $ eclusa policy import claude-code <dir>/settings.json
    # From <dir>/settings.json of Claude Code.

    [[rules]]
    decision = "allow"
    command = "npm run test"
    reason = "imported: allow Bash(npm run test:*)"

    [[rules]]
    decision = "allow"
    command = "git log"
    reason = "imported: allow Bash(git log *)"

    [[rules]]
    decision = "allow"
    tool = "bash"
    arg."/command" = { equals = "make check" }
    reason = "imported: allow Bash(make check)"

    [[rules]]
    decision = "deny"
    command = "rm -rf"
    reason = "imported: deny Bash(rm -rf:*)"

    stderr:
    note: 4 imported, 0 skipped
    exit 0
    "###);
}

/// What is gone says what took its place, whatever it is given.
#[test]
fn a_removed_command_says_what_took_its_place() {
    assert_snapshot!(World::new().transcript(&[
        &["policy", "export", "codex"],
        &["policy", "compare", "codex", "rules", "--real"],
    ]), @r###"
    $ eclusa policy export codex
    stderr:
    error: `policy export` was removed: `eclusa install AGENT` has your rules decide about every call of the agent, so that no rule has to be exported
    exit 2
    $ eclusa policy compare codex rules --real
    stderr:
    error: `policy compare` was removed: `eclusa install AGENT` has your rules decide about every call of the agent, so that no rule has to be compared
    exit 2
    "###);
}
