//! What a model is used to in an agent goes on behind hooks: it moves about, starts servers and asks them, parses
//! what is printed, and takes away what it has made.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, decision, event, rewritten, send, shell},
    jobs::states,
    world::{World, until},
};

const UNASKED: &str = "mode = \"auto-approve\"\n";

fn line(world: &World, command: &str) -> String {
    rewritten(&claude(world, &before(world, "Bash", json!({"command": command}))))
}

fn codex_line(world: &World, command: &str) -> String {
    rewritten(&send(world, "codex", &before(world, "Bash", json!({"command": command}))))
}

#[test]
fn a_directory_lasts_where_the_agent_keeps_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(UNASKED);
    std::fs::create_dir_all(world.path("workspace/a b/c")).unwrap();
    let stands = |command: &str| {
        let ran = shell(&world, &format!("{{ {}\n}}; echo \"$?\"; pwd", line(&world, command)));
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        let place = lines.pop().unwrap();
        let root = world.path("workspace").canonicalize().unwrap();
        let place = place.strip_prefix(root.to_str().unwrap()).unwrap().to_owned();
        (lines.pop().unwrap(), place)
    };
    for (command, code, place) in [
        ("cd 'a b' && pwd", "0", "/a b"),
        ("cd 'a b' && touch new && cd c; ls", "0", "/a b/c"),
        ("mkdir made && cd made", "0", "/made"),
        ("cd 'a b' && cd ..", "0", ""),
        ("cd 'a b' && false", "1", ""),
        ("(cd 'a b' && ls)", "0", ""),
        ("cd nowhere; ls", "0", ""),
        ("ls", "0", ""),
    ] {
        assert_eq!(stands(command), (code.to_owned(), place.to_owned()), "{command}");
    }
    // What is asked about stands behind it as comments; an agent whose shell does not stay gets no `cd`.
    let input = json!({"command": "cd 'a b' && sleep 9", "run_in_background": true});
    assert!(!rewritten(&claude(&world, &before(&world, "Bash", input))).contains("cd -- "));
    assert!(!codex_line(&world, "cd 'a b' && ls").contains("cd -- "));
}

/// Codex waits ten seconds for a command and goes on while it runs: it starts servers so.
#[test]
fn a_server_that_still_runs_in_its_call_is_reached_by_the_next() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(UNASKED);
    world.write("workspace/a.txt", "one\n");
    let home = world.command(&[]);
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut agent = std::process::Command::new("sh");
    let serve = codex_line(&world, "python3 -m http.server 5174 --bind 127.0.0.1");
    let serve = format!("exec {serve}");
    agent.args(["-c", &serve]).current_dir(world.path("workspace")).env_clear();
    agent.envs(home.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let streams = agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = streams.spawn().unwrap();
    until("it is reached", || {
        let ran = shell(&world, &codex_line(&world, "curl -s http://127.0.0.1:5174/a.txt"));
        (ran.out == "one\n").then_some(())
    });
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    until("the owner has gone", || {
        let left = states(&world, "sessions");
        let mut left = left.iter().filter_map(|it| std::fs::read_dir(it).ok()).flatten();
        left.next().is_none().then_some(())
    });
}

#[test]
fn what_a_model_parses_has_nothing_added_to_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(UNASKED);
    let ran = shell(&world, &line(&world, "sleep 300 >/dev/null 2>&1 & echo 42"));
    assert_eq!(ran.out, "42\n");
    assert_eq!(ran.err.matches("as job 1").count(), 1, "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

fn copilot(world: &World, tool: &str, args: &Value) -> Value {
    let event = json!({
        "sessionId": "s-1", "cwd": world.path("workspace"), "toolName": tool, "toolArgs": args,
    });
    let said = send(world, "copilot", &event).out;
    if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
}

#[test]
fn what_copilot_starts_beside_its_work_is_a_job() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(UNASKED);
    let answer = copilot(&world, "bash", &json!({"command": "sleep 300", "mode": "async"}));
    let line = answer["modifiedArgs"]["command"].as_str().unwrap();
    let ran = shell(&world, line);
    assert!(ran.code == 0 && format!("{}{}", ran.out, ran.err).contains("as job 1"), "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// The lists that an agent keeps for itself are its own, as long as nothing else is reached by them.
#[test]
fn an_agents_own_database_is_not_asked_about() {
    let world = World::new();
    for query in ["SELECT * FROM todos", "INSERT INTO todos (id) VALUES ('a')"] {
        assert_eq!(copilot(&world, "sql", &json!({"query": query})), Value::Null, "{query}");
    }
    for query in ["ATTACH '/etc/x' AS y", "vacuum into '/tmp/x'", "select LOAD_EXTENSION('x')"] {
        let answer = copilot(&world, "sql", &json!({"query": query}));
        assert_eq!(answer["permissionDecision"], "ask", "{query}");
    }
}

#[test]
fn what_a_session_has_made_it_may_delete_unasked() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(UNASKED);
    let call = |command: &str| shell(&world, &line(&world, command));
    let there = |name: &str| world.path(&format!("workspace/{name}")).exists();
    let deletes = |name: &str| {
        let ran = call(&format!("rm {name}"));
        assert_eq!(ran.code == 0, !there(name), "{ran:?}");
        ran.code == 0
    };
    assert_eq!(call("echo 1 > made.txt && echo 2 > edited.txt && echo 3 > kept.txt").code, 0);
    assert!(deletes("made.txt"));
    // Written again by the session it is still its own, and by a person no longer.
    assert_eq!(call("echo 4 >> kept.txt").code, 0);
    assert!(deletes("kept.txt"));
    world.write("workspace/edited.txt", "by hand\n");
    assert!(!deletes("edited.txt"));
    // What was there before is nobody's to delete, wherever it was moved to.
    world.write("workspace/mine.txt", "mine\n");
    assert!(!deletes("mine.txt"));
    assert_eq!(call("mv mine.txt moved.txt").code, 0);
    assert!(!deletes("moved.txt"));
    // What it has made is its own there, too, unless something of others has the same in it.
    assert_eq!(
        call("mkdir one && echo 6 > one/a && echo 7 > one/b && mv one two && mv two/b three").code,
        0
    );
    assert_eq!(call("mkdir four && echo 8 > four/a && echo 9 > four/b").code, 0);
    assert_eq!(call("mv four five").code, 0);
    assert!(deletes("three") && deletes("-r five"));
    world.write("workspace/alike.txt", "10\n");
    assert_eq!(call("echo 10 > own.txt").code, 0);
    assert_eq!(call("mv own.txt owned.txt && mv alike.txt other.txt").code, 0);
    assert!(!deletes("owned.txt") && !deletes("other.txt"));
    // Another session has not made it.
    assert_eq!(call("echo 5 > other.txt").code, 0);
    let mut other = before(&world, "Bash", json!({"command": "rm other.txt"}));
    other["session_id"] = "s-2".into();
    assert_ne!(shell(&world, &rewritten(&claude(&world, &other))).code, 0);
    assert!(there("other.txt"));
    // What the agent has written with its own tool is the session's, too.
    let path = world.path("workspace/written.txt");
    let input = json!({"file_path": path, "content": "by its tool\n"});
    assert_eq!(decision(&claude(&world, &before(&world, "Write", input.clone()))).0, "allow");
    world.write("workspace/written.txt", "by its tool\n");
    let mut after = event(&world, "PostToolUse", "Write", input);
    after["tool_response"] = json!({"filePath": path});
    claude(&world, &after);
    assert!(deletes("written.txt"));
}

/// Where a rule asks, one that allows does not help: what does is said.
#[test]
fn a_refusal_says_what_would_help() {
    let world = World::with("[[rules]]\ndecision = \"ask\"\ncommand = \"touch asked\"\n");
    let by_rule = claude(&world, &before(&world, "Bash", json!({"command": "touch asked"})));
    let (decided, why) = decision(&by_rule);
    assert_eq!(decided, "deny");
    assert!(why.contains("change the rule that asks") && why.contains("on_no_approver"), "{why}");
    assert!(!why.contains("allow rule"), "{why}");
}
