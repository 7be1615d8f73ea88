//! The program killed without warning while a command runs and while it commits: nothing is half
//! done, nothing goes on, and the next start cleans up.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    exec::{mark, running},
    world::{World, wait_until},
};

fn undo(world: &World) -> PathBuf {
    world.store().with_file_name("undo")
}

fn count(path: PathBuf) -> usize {
    fs::read_dir(path).map_or(0, Iterator::count)
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn killed_while_a_command_runs() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let long = mark("8642.5");
    let script = format!("echo half > a; (setsid sleep {long} &) ; sleep {long}");
    let mut child = start(&world, &["exec", "--apply", "--", &script]);
    wait_until("both sleeps run", || running(&long) == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nothing of it runs any more", || running(&long) == 0);
    assert!(!world.path("workspace/a").exists());
    assert_eq!(count(undo(&world).join("stages")), 1, "its layer is still there");
    let ran = world.eclusa(&["exec", "--", "true"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(count(undo(&world).join("stages")), 0, "the next start removes it");
}

/// Without namespaces nobody dies with the program by itself: a guardian sees to it. The command holds a
/// pipe open that ends when nobody of it is left.
#[test]
fn killed_while_a_command_runs_in_a_container() {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::container().unwrap();
        let world = World::with("[commands]\nleast = \"partial\"\n");
        let fifo = world.path("workspace/fifo");
        let mode = rustix::fs::Mode::from(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).unwrap();
        let script = "exec 9> fifo; echo ready >&9; (trap '' TERM HUP; setsid sleep 8642 &); \
                      while :; do echo x >> log; sleep 0.01; done";
        let words = ["--mode", "yolo", "exec", "--apply", "--", script];
        let mut child = start(&world, &words);
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            use std::io::{BufRead as _, Read as _};
            let mut pipe = std::io::BufReader::new(fs::File::open(fifo).unwrap());
            let mut line = String::new();
            pipe.read_line(&mut line).unwrap();
            tell.send(line).unwrap();
            let mut rest = String::new();
            pipe.read_to_string(&mut rest).unwrap();
            tell.send(rest).unwrap();
        });
        let patience = Duration::from_secs(60);
        assert_eq!(told.recv_timeout(patience).unwrap(), "ready\n");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(told.recv_timeout(patience).expect("the command goes on"), "");
    });
    started.join().unwrap();
}

/// Before Landlock's sixth version a command could end both its guardian and the program. Whoever comes next
/// ends what goes on, and puts everything back.
#[test]
fn killed_with_its_guardian_a_command_is_ended_by_the_next_start() {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::container().unwrap();
        let world = World::new();
        world.write("workspace/one", "one\n");
        let long = mark("8642.7");
        let script = format!(
            "echo half > one; (while :; do echo x >> log; sleep 0.01; done) & sleep {long}"
        );
        let mut child = start(&world, &["exec", "--apply", "--", &script]);
        wait_until("the command runs", || {
            running(&long) == 1 && world.path("workspace/log").exists()
        });
        let guardians = guardians_of(child.id());
        assert_eq!(guardians.len(), 1, "{guardians:?}");
        for guardian in guardians {
            let pid = rustix::process::Pid::from_raw(guardian).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(running(&long), 1, "nobody ends it by itself");
        let ran = world.eclusa(&["exec", "--", "true"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(running(&long), 0);
        assert_eq!(world.read("workspace/one"), "one\n");
        assert!(!world.path("workspace/log").exists());
        let rescued = fs::read_dir(undo(&world).join("rescued")).unwrap().flatten().next().unwrap();
        assert_eq!(fs::read_to_string(rescued.path().join("one")).unwrap(), "half\n");
    });
    started.join().unwrap();
}

/// The processes that guard commands of this program.
fn guardians_of(program: u32) -> Vec<i32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let guards = all.filter(|it| {
        let read = |name: &str| fs::read_to_string(it.path().join(name)).unwrap_or_default();
        let parent = format!("PPid:\t{program}");
        read("cmdline").starts_with("sandbox-guard")
            && read("status").lines().any(|it| it == parent)
    });
    guards.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect()
}

/// All files are as before, or all are as after; which of them depends on the moment.
#[test]
fn killed_while_it_commits() {
    eclusa_testing::needs!(Namespaces);
    const FILES: usize = 400;
    for _ in 0..4 {
        let world = World::new();
        for n in 0..FILES {
            world.write(&format!("workspace/f{n}"), "before\n");
        }
        let script = "for f in f*; do echo after > $f; done; mkdir d; echo x > d/new";
        let mut child = start(&world, &["exec", "--apply", "--", script]);
        wait_until("a commit is under way or done", || {
            let state = world.path("state/eclusa");
            let places = fs::read_dir(state).into_iter().flatten().flatten();
            let mut begun = places
                .map(|it| count(it.path().join("undo/open")) + count(it.path().join("undo/done")));
            begun.any(|it| it > 0)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = world.eclusa(&["exec", "--", "true"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let all: Vec<String> = (0..FILES).map(|n| world.read(&format!("workspace/f{n}"))).collect();
        let after = all.iter().filter(|it| *it == "after\n").count();
        let before = all.iter().filter(|it| *it == "before\n").count();
        let made = world.path("workspace/d/new").exists();
        assert!(
            (after == FILES && made) || (before == FILES && !made),
            "{after} after, {before} before, made: {made}"
        );
        assert_eq!(count(undo(&world).join("stages")), 0);
        assert_eq!(count(undo(&world).join("open")), 0);
    }
}

/// Killed at some moments, and resumed each time: no effect is repeated, every call has one answer.
#[test]
fn a_session_that_is_killed_again_and_again_repeats_nothing() {
    const STEPS: usize = 8;
    let world = World::new();
    let step = |n: usize| {
        let call = json!({"name": "bash", "args": {"command": format!("echo step-{n} >> steps")}});
        format!("## says\nStep {n}.\n```tool\n{call}\n```\n")
    };
    let script: String = (0..STEPS).map(step).collect();
    let script = format!("rate: 400\n{script}{}", "## says\nAll done.\n".repeat(30));
    let model = format!("script:{}", world.write("script.md", &script).display());
    let mut session: Option<String> = None;
    let args = |session: &Option<String>| {
        let mut args = ["--json", "--mode", "auto-approve", "ask", "--model", &model]
            .map(str::to_owned)
            .to_vec();
        args.extend(session.iter().flat_map(|id| ["--resume".to_owned(), id.clone()]));
        args.push("go on".to_owned());
        args
    };
    for round in 0..8 {
        let args = args(&session);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut child = start(&world, &args);
        std::thread::sleep(Duration::from_millis(80 + round * 50));
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = world.eclusa(&["--json", "sessions", "list", "--all"]).out;
        let last = listed.lines().last().map(|it| serde_json::from_str::<Value>(it).unwrap());
        session = last.map(|it| it["session"].as_str().unwrap().to_owned());
    }
    let args = args(&session);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = world.eclusa(&args);
    assert_eq!((ran.code, &ran.json()["text"]), (0, &"All done.".into()), "{ran:?}");
    let id = ran.json()["session"].as_str().unwrap().to_owned();
    let steps = world.read("workspace/steps");
    let once: std::collections::BTreeSet<&str> = steps.lines().collect();
    assert_eq!(once.len(), steps.lines().count(), "{steps}");
    let items = world.eclusa(&["sessions", "export", &id, "--format", "jsonl"]).out;
    let items: Vec<Value> = items.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let count = |kind: &str| items.iter().filter(|it| it["kind"] == kind).count();
    assert_eq!((count("call"), count("answer")), (STEPS, STEPS));
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}
