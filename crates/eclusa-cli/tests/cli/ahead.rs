//! Running ahead: where a person sits in front of another agent, a command runs before the question, the
//! agent's own prompt shows what it changes, and a yes applies exactly that.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::{
    hook::{before, decision, event, rewritten, shell},
    pending::{git, repository},
    prompt::Person,
    world::{Ran, World, run},
};

/// A process that plays Claude Code of a version, as its hooks find it.
pub(crate) struct Agent(Child);

impl Agent {
    pub(crate) fn of_version(world: &World, version: &str) -> Agent {
        let program = shell_named(world, version);
        #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
        let mut agent = std::process::Command::new(program);
        Agent(agent.args(["-c", "read line"]).stdin(Stdio::piped()).spawn().unwrap())
    }

    /// What its hook answers where somebody sits in front of it.
    pub(crate) fn asks(&self, world: &World, event: &Value) -> Ran {
        let mut hook = world.command(&["hook", "claude-code"]);
        hook.env("CLAUDE_CODE_SESSION_ATTENDED", "1").env("CLAUDE_PID", self.0.id().to_string());
        run(hook, &event.to_string())
    }

    pub(crate) fn runs(&self, world: &World, command: &str) -> Ran {
        self.asks(world, &attended(world, command))
    }
}

/// A shell whose program is called so.
pub(crate) fn shell_named(world: &World, version: &str) -> PathBuf {
    let program = world.path("state").join(version);
    fs::create_dir_all(world.path("state")).unwrap();
    // Copied by another process: one of ours that starts something now would keep it open.
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let copied = std::process::Command::new("cp").arg("/bin/sh").arg(&program).status();
    assert!(copied.unwrap().success());
    program
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn attended(world: &World, command: &str) -> Value {
    let mut call = before(world, "Bash", json!({"command": command, "timeout": 5000}));
    call["permission_mode"] = "default".into();
    call
}

fn world() -> World {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world
}

#[test]
fn a_yes_in_the_agents_prompt_applies_what_was_shown_and_runs_nothing_again() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let agent = Agent::of_version(&world, "2.1.325");
    let ran = agent.runs(&world, "sed -i s/one/two/ a.txt; date +%N > when; echo done");
    let (verdict, why) = decision(&ran);
    assert_eq!(verdict, "ask", "{ran:?}");
    assert!(why.contains("ran in the sandbox (exit 0)") && why.contains("2 files"), "{why}");
    let line = rewritten(&ran);
    assert!(line.contains("\n# ") && line.contains("two"), "the diff is shown: {line}");
    assert_eq!(ran.json()["hookSpecificOutput"]["updatedInput"]["timeout"], 5000);
    assert_eq!(world.read("workspace/a.txt"), "one\n", "nothing is applied before the yes");
    let applied = shell(&world, &line);
    assert_eq!((applied.code, &*applied.out, &*applied.err), (0, "done\n", ""), "{applied:?}");
    assert_eq!(world.read("workspace/a.txt"), "two\n");
    let when = world.read("workspace/when");
    assert!(line.contains(when.trim()), "{when} is what was shown: {line}");
    // Taken once.
    assert_eq!(shell(&world, &line).code, 3);
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

/// A commit has the time in it: run again, it would be another one.
#[test]
fn a_commit_lands_with_the_hash_that_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    world.write("config/eclusa/eclusa.toml", "");
    let agent = Agent::of_version(&world, "2.1.325");
    world.write("workspace/a.txt", "two\n");
    let ran = agent.runs(&world, "git commit -qam two; git rev-parse HEAD");
    assert_eq!(decision(&ran).0, "ask", "{ran:?}");
    let applied = shell(&world, &rewritten(&ran));
    assert_eq!(applied.code, 0, "{applied:?}");
    let head = git(&world, &["rev-parse", "HEAD"]);
    assert_eq!(applied.out.trim(), head.trim());
}

#[test]
fn what_needs_no_answer_is_applied_by_its_ticket_and_not_before() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let agent = Agent::of_version(&world, "2.1.325");
    for (command, code, out) in
        [("echo 42 | tee new", 0, "42\n"), ("cat missing || echo none; exit 3", 3, "none\n")]
    {
        let ran = agent.runs(&world, command);
        assert_eq!(decision(&ran).0, "allow", "{ran:?}");
        assert!(!world.path("workspace/new").exists() || code == 3);
        let ran = shell(&world, &rewritten(&ran));
        assert_eq!((ran.code, ran.out.ends_with(out)), (code, true), "{ran:?}");
    }
    assert_eq!(world.read("workspace/new"), "42\n");
}

/// A no: the next call ends the ticket, and it is on record that nobody took it.
#[test]
fn after_a_no_the_ticket_is_good_for_nothing() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let agent = Agent::of_version(&world, "2.1.325");
    let line = rewritten(&agent.runs(&world, "sed -i s/one/two/ a.txt"));
    let ticket = line.split_whitespace().skip_while(|it| *it != "--ticket").nth(1).unwrap();
    // Whatever tool the model names it with.
    for (tool, input) in [
        ("Bash", json!({"command": format!("{line} # again")})),
        ("Write", json!({"file_path": world.path("workspace/x.sh"), "content": line})),
        ("Monitor", json!({"command": format!("echo {ticket}")})),
        // In the middle of other digits, of few and of many.
        ("Monitor", json!({"command": format!("echo 0a{ticket}b1")})),
        ("Monitor", json!({"command": format!("echo {} {ticket}", "0a1".repeat(40))})),
    ] {
        let mut call = before(&world, tool, input);
        call["permission_mode"] = "default".into();
        // A call of a subagent does not end what its parent's prompt asks.
        call["agent_id"] = "sub".into();
        let ran = agent.asks(&world, &call);
        assert_eq!(decision(&ran).0, "deny", "{tool} {ran:?}");
        assert!(decision(&ran).1.contains("names a ticket"), "{tool} {ran:?}");
    }
    agent.runs(&world, "ls");
    assert_eq!(shell(&world, &line).code, 3);
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    let not_taken = |it: &Value| it["args"]["outcome"] == "not_taken";
    assert!(world.records().iter().any(not_taken));
    // The person has it after all.
    let pending = world.eclusa(&["changes", "apply", "1"]);
    assert_eq!(pending.code, 0, "{pending:?}");
    assert_eq!(world.read("workspace/a.txt"), "two\n");
}

/// Where nobody has seen the agent ask so, nothing runs ahead.
#[test]
fn nothing_runs_ahead_where_no_way_to_ask_was_seen() {
    eclusa_testing::needs!(Namespaces);
    let command = "sed -i s/one/two/ a.txt";
    let plainly = |world: &World, ran: &Ran| {
        assert_eq!(decision(ran).0, "allow", "{ran:?}");
        assert!(!rewritten(ran).contains("\n# "), "{ran:?}");
        let applied = shell(world, &rewritten(ran));
        assert!(applied.err.contains("nothing was applied"), "{applied:?}");
    };
    let world = world();
    let old = Agent::of_version(&world, "2.0.76");
    plainly(&world, &old.runs(&world, command));
    let agent = Agent::of_version(&world, "2.1.325");
    let mut planning = attended(&world, command);
    planning["permission_mode"] = "plan".into();
    plainly(&world, &agent.asks(&world, &planning));
    fs::create_dir_all(world.path("workspace/.claude")).unwrap();
    let hooks = json!({"hooks": {"PermissionRequest": [{"hooks": []}]}}).to_string();
    world.write("workspace/.claude/settings.json", &hooks);
    plainly(&world, &agent.runs(&world, command));
    // Also where its name has escapes, and where nobody can tell.
    for text in [&*hooks.replace('R', "\\u0052"), "{"] {
        world.write("workspace/.claude/settings.json", text);
        assert!(!agent.runs(&world, command).out.contains("\\n# "), "{text}");
    }
    world.write("workspace/.claude/settings.json", "{}");
    world.write("config/eclusa/eclusa.toml", "[agents]\nahead = \"none\"\n");
    plainly(&world, &agent.runs(&world, command));
    // What a rule asks about is asked about before it runs.
    world.write(
        "config/eclusa/eclusa.toml",
        "[[rules]]\ndecision = \"ask\"\ncommand = \"sed\"\nreason = \"look\"\n",
    );
    let ran = agent.runs(&world, command);
    assert!(decision(&ran).0 == "ask" && !rewritten(&ran).contains("\n# "), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
}

/// What has no room in the prompt is asked in the queue, whatever is configured; the model is told.
#[test]
fn what_the_prompt_has_no_room_for_is_asked_in_the_queue() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let agent = Agent::of_version(&world, "2.1.325");
    let command = "seq 1000 > many.txt; echo done";
    let ran = agent.runs(&world, command);
    let (verdict, why) = decision(&ran);
    assert_eq!(verdict, "deny", "{ran:?}");
    assert!(why.contains("wait for approval 1") && why.contains("done"), "{why}");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    assert_eq!(world.read("workspace/many.txt").lines().count(), 1000);
}

/// What was tried on the network, or did not end, runs by its ticket as if nothing had been.
#[test]
fn a_command_that_wants_more_runs_by_its_ticket() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[agents]\nahead = \"1s\"\n");
    let agent = Agent::of_version(&world, "2.1.325");
    let ran = agent.runs(&world, "test -e go || sleep 30; echo ended > e; echo ended");
    assert_eq!(decision(&ran).0, "allow", "{ran:?}");
    world.write("workspace/go", "");
    let ran = shell(&world, &rewritten(&ran));
    assert!(ran.out.contains("ended"), "{ran:?}");
    let not_taken = |it: &Value| it["args"]["outcome"] == "not_taken";
    assert!(world.records().iter().any(not_taken));
}

/// What a command leaves running goes on, where nothing that it changed has to be asked about.
#[test]
fn what_a_command_leaves_running_goes_on_by_its_ticket() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("");
    let agent = Agent::of_version(&world, "2.1.325");
    let ran = agent.runs(&world, "sleep 300 > /dev/null & echo begun");
    assert_eq!(decision(&ran).0, "allow", "{ran:?}");
    let ran = shell(&world, &rewritten(&ran));
    assert!(ran.out.contains("begun"), "{ran:?}");
    let jobs = world.eclusa(&["jobs"]);
    assert!(jobs.out.contains("sleep 300"), "{jobs:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// What the hook of an agent answers on a terminal: the agent has it, and a shell runs its hooks.
pub(crate) fn on_a_terminal(
    world: &World,
    (program, words): (&str, &[&str]),
    hook: &str,
    event: &Value,
) -> Value {
    world.write("event.json", &event.to_string());
    let ours = world.command(&["hook"]);
    let eclusa = ours.get_program().to_str().unwrap().to_owned();
    let (event, answer) = (world.path("event.json"), world.path("answer.json"));
    let (event, answer) = (event.display(), answer.display());
    let line = format!("'{eclusa}' hook {hook} < '{event}' > '{answer}'; true");
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut agent = std::process::Command::new(program);
    agent.args(["-c", "sh -c \"$0\"; true", &line]).args(words);
    agent.current_dir(world.path("workspace"));
    agent.env_clear().envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(Person::starts(agent).ends().0, 0);
    let answer = world.read("answer.json");
    if answer.is_empty() { Value::Null } else { serde_json::from_str(&answer).unwrap() }
}

fn copilot(world: &World, command: &str, turn: &str) -> Value {
    let event = json!({
        "sessionId": "s-1", "cwd": world.path("workspace"), "toolName": "bash",
        "toolArgs": {"command": command},
    });
    on_a_terminal(world, ("sh", &[]), &format!("copilot {turn}"), &event)
}

/// Copilot CLI asks with its second hook, and only then the ticket is good.
#[test]
fn the_second_hook_of_copilot_asks_about_what_ran() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let command = "sed -i s/one/two/ a.txt";
    let rewritten = |answer: &Value| {
        assert_eq!(answer["permissionDecision"], "allow", "{answer}");
        answer["modifiedArgs"]["command"].as_str().unwrap().to_owned()
    };
    let unasked = rewritten(&copilot(&world, command, ""));
    let ran = shell(&world, &unasked);
    assert!(ran.code == 4 && ran.err.contains("nobody was asked"), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    let line = rewritten(&copilot(&world, command, ""));
    let asked = copilot(&world, &line, "--second");
    assert_eq!(asked["permissionDecision"], "ask", "{asked}");
    let why = asked["permissionDecisionReason"].as_str().unwrap();
    assert!(why.contains("1 file") && why.contains("two"), "{why}");
    assert_eq!(shell(&world, &line).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "two\n");
}

/// The workspace moved on: the ticket says so, and nothing is applied.
#[test]
fn a_yes_to_what_has_changed_since_is_refused_with_the_path() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let agent = Agent::of_version(&world, "2.1.325");
    let line = rewritten(&agent.runs(&world, "sed -i s/one/two/ a.txt"));
    world.write("workspace/a.txt", "mine\n");
    let ran = shell(&world, &line);
    assert!(ran.code != 0 && ran.err.contains("a.txt"), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "mine\n");
}

/// The session is over: what nobody took is on record.
#[test]
fn what_nobody_took_is_on_record_when_the_session_ends() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let agent = Agent::of_version(&world, "2.1.325");
    let line = rewritten(&agent.runs(&world, "sed -i s/one/two/ a.txt"));
    let ended = event(&world, "SessionEnd", "", Value::Null);
    assert_eq!(agent.asks(&world, &ended).code, 0);
    assert_eq!(shell(&world, &line).code, 3);
    let not_taken = |it: &Value| it["args"]["outcome"] == "not_taken";
    assert!(world.records().iter().any(not_taken));
}
