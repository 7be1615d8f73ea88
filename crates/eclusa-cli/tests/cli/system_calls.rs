//! What agents start for each of their calls, and what that start looks at: names are held against a
//! list's length, and system calls against a budget. Only what the program decides is counted, not
//! what the load of the machine adds, and so one more file that a start reads is seen anywhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::PathBuf,
    process::Stdio,
};

use eclusa_sandbox::test_support::system_calls;
use serde_json::json;

use crate::{
    hook::{before, claude, rewritten, shell},
    world::{Ran, World},
};

/// Names below the place of the test that a start looks at, and its system calls. Whoever needs more
/// writes the new number here, in the same commit as the reason.
const BUDGET: [(&str, usize, u64); 4] =
    [("check", 20, 240), ("check --jsonl", 18, 190), ("hook", 33, 360), ("mcp", 28, 380)];

/// So many more system calls than the budget are not worth a word: what one system's libraries need
/// more than another's. Names have no such room: whose they are is the same everywhere.
fn room(budget: u64) -> u64 {
    budget + (budget / 5).max(60)
}

/// What one start did.
#[derive(Debug)]
struct Start {
    names: BTreeSet<PathBuf>,
    calls: u64,
}

/// So often is a start repeated. A server looks at the machine beside its work, as far as it comes
/// before its input ends; what belongs to the start is in every run.
const RUNS: usize = 5;

/// What every run in a place does, after the first: that one finds out what this machine can do.
fn counted(world: &World, args: &[&str], input: &str) -> Option<Start> {
    let input = world.write("input", input);
    let command = || {
        let mut command = world.command(args);
        // Other tests leave layers in the directory of all, which a start looks through.
        command.env("TMPDIR", world.path("home"));
        let input = File::open(&input).unwrap();
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(command().status().unwrap().code().is_some_and(|it| it != 1), "{args:?}");
    let (place, real) = (world.path(""), world.path("").canonicalize().unwrap());
    let below = |it: &PathBuf| {
        let below = it.strip_prefix(&place).or_else(|_| it.strip_prefix(&real));
        below.map(PathBuf::from).ok()
    };
    let mut least: Option<Start> = None;
    for _ in 0..RUNS {
        let traced = match system_calls(&mut command()) {
            Ok(traced) => traced,
            Err(err) => {
                eprintln!("nothing is counted: nobody can be traced here ({err})");
                return None;
            }
        };
        assert!(traced.code.is_some_and(|it| it != 1), "{args:?}: {traced:?}");
        let names: BTreeSet<PathBuf> = traced.names.iter().filter_map(below).collect();
        let calls = traced.steady();
        least = Some(match least {
            None => Start { names, calls },
            Some(it) => Start { names: &it.names & &names, calls: calls.min(it.calls) },
        });
    }
    least
}

#[test]
fn no_start_makes_more_system_calls_than_its_budget() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let args = json!({"command": "git status"}).to_string();
    let line = json!({"name": "bash", "input": {"command": "git status"}}).to_string();
    let event = json!({
        "session_id": "s-1",
        "cwd": world.path("workspace"),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
        "tool_use_id": "t-1",
    });
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let mut counts = BTreeMap::new();
    for (name, args, input) in [
        ("check", vec!["check", "bash", &args], String::new()),
        ("check --jsonl", vec!["check", "--jsonl"], line),
        ("hook", vec!["hook", "claude-code"], event.to_string()),
        ("mcp", vec!["mcp"], format!("{initialize}\n{initialized}\n{list}\n")),
    ] {
        if let Some(count) = counted(&world, &args, &input) {
            counts.insert(name, count);
        }
    }
    for (name, names, calls) in BUDGET {
        let Some(start): Option<&Start> = counts.get(name) else { continue };
        let seen = &start.names;
        println!("{name}: {} names, {} calls", seen.len(), start.calls);
        assert!(seen.len() <= names, "{name}: {} names, of {names}: {seen:#?}", seen.len());
        assert!(start.calls <= room(calls), "{name}: {} calls, of {calls}", start.calls);
    }
}

/// A machine that is in a fleet reads two files more, its documents and how far shipping is; one that is in none looks at nothing more.
#[test]
fn a_fleet_costs_a_start_two_files() {
    eclusa_testing::needs!(Namespaces);
    let args = json!({"command": "git status"}).to_string();
    let plain = World::with("# no word of it\n");
    let Some(without) = counted(&plain, &["check", "bash", &args], "") else { return };
    let world = crate::fleet::enrolled();
    let Some(with) = counted(&world, &["check", "bash", &args], "") else { return };
    let documents = PathBuf::from("state/eclusa/fleet/documents.json");
    let named = |it: &Start| it.names.iter().any(|it| it.to_string_lossy().contains("fleet"));
    assert!(!named(&without), "{without:#?}");
    assert!(with.names.contains(&documents), "{with:#?}");
    assert_eq!(with.names.len(), without.names.len() + 2, "{with:#?}{without:#?}");
    println!("with a fleet {} calls, without {}", with.calls, without.calls);
    // Opened, looked at, read to its end, closed; and the memory for it.
    assert!(with.calls <= without.calls + 16, "{} and {}", with.calls, without.calls);
}

/// Keeps so much of everything beside what a hook is about: calls in the log, questions in the queue, sessions, tickets.
fn fill(world: &World, event: &str, count: usize) {
    let fed = |session: usize, words: &[&str], command: &str| -> Ran {
        let call = |it| {
            let input = json!({"command": format!("{command} x{it}")});
            json!({"type": "tool_use", "id": format!("f{it}"), "name": "bash", "input": input})
        };
        let calls: Vec<_> = (0..TOGETHER).map(call).collect();
        let answer = json!({"type": "message", "role": "assistant", "content": calls}).to_string();
        let session = format!("fed-{session}");
        let all = [&["feed", "--shape", "anthropic", "--session", &session], words].concat();
        world.piped(&all, &answer)
    };
    for session in 0..count.div_ceil(TOGETHER) {
        // One is denied and on record, the other waits for a person.
        let denied = fed(session, &[], "touch denied");
        assert_eq!(denied.out.matches("denied by").count(), TOGETHER, "{denied:?}");
        let parked = fed(session, &["--park"], "touch asked");
        assert_eq!(parked.out.matches("waits for approval").count(), TOGETHER, "{parked:?}");
    }
    world.piped(&["hook", "claude-code"], event);
    for (place, length) in [("sessions", 64), ("tickets", 32)] {
        let place = world.path("state/eclusa/agents").join(place);
        let one = std::fs::read_dir(&place).unwrap().flatten().next().unwrap().path();
        for number in 0..count {
            let other = place.join(format!("{number:0length$x}"));
            if one.is_file() {
                std::fs::copy(&one, other).unwrap();
                continue;
            }
            std::fs::create_dir(&other).unwrap();
            for call in std::fs::read_dir(&one).unwrap().flatten() {
                std::fs::copy(call.path(), other.join(call.file_name())).unwrap();
            }
        }
    }
}

/// As many calls as one session of the queue takes at once.
const TOGETHER: usize = 40;

/// Whatever a person has accumulated: a deeper index costs a few pages of the log, and nothing is looked through.
#[test]
fn a_hook_does_the_same_however_much_is_kept() {
    eclusa_testing::needs!(Namespaces);
    let rules = "on_no_approver = \"queue\"\n[[rules]]\ndecision = \"ask\"\ncommand = \"touch asked\"\n\
                 [[rules]]\ndecision = \"deny\"\ncommand = \"touch denied\"\n";
    let (few, many) = (World::with(rules), World::with(rules));
    let event = |world: &World, name: &str, command: &str| {
        json!({
            "session_id": "s-1", "cwd": world.path("workspace"), "hook_event_name": name, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_response": {"stdout": "x"}, "tool_use_id": "t-1",
        })
        .to_string()
    };
    fill(&few, &event(&few, "PreToolUse", "ls"), 5);
    fill(&many, &event(&many, "PreToolUse", "ls"), 400);
    for (name, command) in [
        ("PreToolUse", "ls"),
        ("PreToolUse", "git show 0123456789abcdef0123456789abcdef01234567"),
        ("PostToolUse", "date"),
        ("SessionEnd", ""),
    ] {
        let count = |world| counted(world, &["hook", "claude-code"], &event(world, name, command));
        let (Some(one), Some(other)) = (count(&few), count(&many)) else { return };
        println!("{name} {command}: {} calls, and {} with much", one.calls, other.calls);
        assert!(other.calls <= one.calls + 40, "{name} {command}: {one:#?} {other:#?}");
        assert_eq!(one.names.len(), other.names.len(), "{name} {command}: {one:#?} {other:#?}");
    }
}

/// A session that leaves nothing running has no owner: its tickets look for jobs and for an owner, at two names that
/// are not there, and make neither.
#[test]
fn a_session_without_jobs_has_nothing_to_do_with_owners() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let ticket = || rewritten(&claude(&world, &before(&world, "Bash", json!({"command": "ls"}))));
    assert_eq!(shell(&world, &ticket()).code, 0);
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut command = std::process::Command::new("sh");
    let home = world.command(&[]);
    command.args(["-c", &ticket()]).current_dir(world.path("workspace")).env_clear();
    command.envs(home.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(traced) = system_calls(&mut command) else { return };
    assert_eq!(traced.code, Some(0));
    let of_jobs = |it: &&PathBuf| it.ends_with("jobs") || it.ends_with("sessions");
    let about: Vec<_> = traced.names.iter().filter(of_jobs).collect();
    assert!(about.len() <= 2 && about.iter().all(|it| !it.exists()), "{about:#?}");
    assert!(!traced.names.iter().any(|it| it.ends_with("owner")), "{:#?}", traced.names);
}
