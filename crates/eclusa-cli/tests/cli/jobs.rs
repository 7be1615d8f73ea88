//! What goes on after a call: held by the owner of its session, told, listed, followed and ended.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, event, rewritten, shell},
    world::{Ran, World, until},
};

const SERVE: &str = "python3 -m http.server 5173 --bind 127.0.0.1";

/// A session of Claude Code whose changes are applied unasked.
pub(crate) fn world() -> World {
    let world = World::with("mode = \"auto-approve\"\n");
    world.write("workspace/a.txt", "one\n");
    world
}

/// What the agent's shell runs for a call.
fn line(world: &World, input: Value) -> String {
    rewritten(&claude(world, &before(world, "Bash", input)))
}

pub(crate) fn call(world: &World, command: &str) -> Ran {
    shown(shell(world, &line(world, json!({"command": command}))))
}

pub(crate) fn start(world: &World, command: &str) -> Ran {
    shown(shell(world, &line(world, json!({"command": command, "run_in_background": true}))))
}

/// As the agent shows it: what a command printed, and behind it what is said besides.
pub(crate) fn shown(ran: Ran) -> Ran {
    Ran { out: format!("{}{}", ran.out, ran.err), ..ran }
}

pub(crate) fn jobs(world: &World) -> Vec<Value> {
    world.eclusa(&["--json", "jobs"]).json()["jobs"].as_array().unwrap().clone()
}

fn listens(world: &World, job: u64) {
    until("it listens", || {
        jobs(world).iter().find(|it| it["job"] == job && it["ports"] == json!([5173])).map(drop)
    });
}

pub(crate) fn owner(world: &World) -> i32 {
    i32::try_from(jobs(world).last().unwrap()["owner"].as_i64().unwrap()).unwrap()
}

pub(crate) fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start().to_owned();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// The directories of state with this name.
pub(crate) fn states(world: &World, name: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(world.path("state/eclusa")).into_iter().flatten().flatten();
    all.map(|it| it.path().join("undo").join(name)).filter(|it| it.is_dir()).collect()
}

/// Nothing of a session is there any more.
pub(crate) fn nothing_left(world: &World, owner: i32) {
    until("the owner has gone", || (!lives(owner)).then_some(()));
    for name in ["sessions", "stages"] {
        for place in states(world, name) {
            let left: Vec<_> =
                fs::read_dir(&place).unwrap().flatten().map(|it| it.path()).collect();
            assert_eq!(left, Vec::<PathBuf>::new());
        }
    }
}

#[test]
fn a_server_in_the_background_outlives_its_call_and_is_reached_by_the_next() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let ran = start(&world, SERVE);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("1 process still runs as job 1"), "{ran:?}");
    listens(&world, 1);
    let ran = call(&world, "curl -s http://127.0.0.1:5173/a.txt");
    assert_eq!((ran.code, ran.out.lines().next()), (0, Some("one")), "{ran:?}");
    let listed = world.eclusa(&["jobs"]);
    assert!(listed.out.contains("1  runs, listening on 5173"), "{listed:?}");
    let shown = world.eclusa(&["jobs", "show", "1"]);
    assert!(shown.out.contains("claude-code:s-1") && shown.out.contains(SERVE), "{shown:?}");
    let output = world.eclusa(&["jobs", "output", "1"]);
    assert!(output.out.contains("GET /a.txt"), "{output:?}");
    // Another session is another network.
    let mut other =
        before(&world, "Bash", json!({"command": "curl -s http://127.0.0.1:5173/a.txt"}));
    other["session_id"] = "s-2".into();
    let ran = shell(&world, &rewritten(&claude(&world, &other)));
    assert!(ran.code != 0 && !ran.out.contains("one"), "{ran:?}");

    let owner = owner(&world);
    let ended = world.eclusa(&["jobs", "end", "1"]);
    assert!(ended.code == 0 && ended.out.contains("job 1 ended by signal 15"), "{ended:?}");
    assert!(lives(owner), "it waits for more");
    assert_ne!(call(&world, "curl -s http://127.0.0.1:5173/a.txt").code, 0);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    nothing_left(&world, owner);
}

#[test]
fn what_a_command_leaves_running_goes_on_and_later_calls_see_what_it_writes() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let ways = [
        "nohup sh -c 'echo begun; while :; do sleep 0.1; echo more; done' > server.log 2>&1 & echo started",
        "setsid sh -c 'trap \"echo polite; exit\" TERM; while :; do sleep 0.1; done' & echo started",
        "python3 -c 'import os, time\nif os.fork(): os._exit(0)\nos.setsid()\ntime.sleep(1000)'; echo started",
    ];
    for (job, command) in (1..).zip(ways) {
        let ran = call(&world, command);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.starts_with("started\n"), "{ran:?}");
        assert!(ran.out.contains(&format!("as job {job}")), "{ran:?}");
    }
    assert_eq!(jobs(&world).iter().filter(|it| it["runs"] == true).count(), 3);
    let applied = world.read("workspace/server.log");
    let seen = until("the log grows", || {
        let ran = call(&world, "cat server.log");
        (ran.out.len() > applied.len() && ran.out.contains("more")).then_some(ran.out)
    });
    assert!(seen.starts_with("begun\n"), "{seen}");
    assert_eq!(world.read("workspace/server.log"), applied, "nobody has applied it");
    // A call that writes beside it writes over what the job wrote.
    let ran = call(&world, "wc -l < server.log > lines.txt");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(world.read("workspace/lines.txt").trim(), "0");
    let owner = owner(&world);
    let ended = world.eclusa(&["jobs", "end", "1"]);
    assert!(ended.out.contains("1 path of the workspace are not applied"), "{ended:?}");
    let shown = world.eclusa(&["jobs", "diff", "1"]);
    assert!(shown.out.contains("server.log") && shown.out.contains("+more"), "{shown:?}");
    assert_eq!(world.eclusa(&["jobs", "apply", "1"]).code, 0);
    assert!(world.read("workspace/server.log").len() > applied.len());
    let ended = world.eclusa(&["jobs", "end", "2"]);
    assert!(ended.out.contains("job 2 was ended"), "{ended:?}");
    let said = world.eclusa(&["jobs", "output", "2"]).out;
    assert!(said.contains("polite\n"), "it was asked, though it had left its group: {said}");
    let doctor = world.eclusa(&["doctor"]);
    assert!(doctor.out.contains("job 3: runs, started "), "{doctor:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    nothing_left(&world, owner);
}

/// A file that a job has open is never the workspace's: what it writes there later stays its own.
#[test]
fn what_a_job_still_has_open_is_copied_and_never_moved() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let hold = "import os, time\nf = open('held.txt', 'w')\nf.write('whole\\n')\nf.flush()\nif os.fork(): os._exit(0)\n\
                while True: f.write('later\\n'); f.flush(); time.sleep(0.05)\n";
    world.write("workspace/hold.py", hold);
    let ran = call(&world, "python3 hold.py");
    assert!(ran.code == 0 && ran.out.contains("as job 1"), "{ran:?}");
    let applied = world.read("workspace/held.txt");
    assert!(applied.starts_with("whole\n"), "{applied}");
    until("it writes on", || {
        call(&world, "cat held.txt").out.contains("later\nlater\n").then_some(())
    });
    assert_eq!(world.read("workspace/held.txt"), applied);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn jobs_end_with_their_session_their_agent_and_their_owner() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let sleeper = "sleep 1000";
    // The session.
    start(&world, sleeper);
    let first = owner(&world);
    let end = json!({"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": world.path("workspace")});
    assert_eq!(claude(&world, &end).code, 0);
    assert_eq!(jobs(&world)[0]["runs"], false);
    nothing_left(&world, first);
    // The owner: the next look says so, and the next call has another.
    start(&world, sleeper);
    let second = owner(&world);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(second).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    until("it is told", || {
        let told = world.eclusa(&["jobs", "show", "2"]).out;
        told.contains("its owner was killed").then_some(())
    });
    start(&world, sleeper);
    assert_ne!(owner(&world), second);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    // The agent.
    let line = line(&world, json!({"command": sleeper, "run_in_background": true}));
    let agent = "import subprocess, sys; subprocess.run(['sh', '-c', sys.argv[1]])";
    let quoted = line.replace('\'', r"'\''");
    let ran = shell(&world, &format!("python3 -c \"{agent}\" '{quoted}'; true"));
    assert!(ran.out.contains("as job 4"), "{ran:?}");
    until("it has ended", || (jobs(&world)[3]["runs"] == false).then_some(()));
    nothing_left(&world, owner(&world));
}

#[test]
fn a_job_that_will_not_end_is_killed() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let ran = start(&world, "trap '' TERM; while :; do sleep 0.1; done");
    assert!(ran.out.contains("as job 1"), "{ran:?}");
    let ended = world.eclusa(&["jobs", "end", "1"]);
    assert!(ended.out.contains("job 1 ended by signal 9"), "{ended:?}");
    world.eclusa(&["jobs", "end", "--all"]);
}

#[test]
fn a_command_of_the_command_line_ends_what_it_leaves_and_says_so_or_keeps_it() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let ran = world.eclusa(&["exec", "--", "sleep 1000 & echo started"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "started\n"), "{ran:?}");
    assert!(ran.err.contains("1 process that it left running was ended"), "{ran:?}");
    assert_eq!(jobs(&world).len(), 0);
    let ran = world.eclusa(&["exec", "--", "sleep 0.01 & echo started"]);
    assert!(!ran.err.contains("left running"), "it ends by itself: {ran:?}");
    let ran = world.eclusa(&["exec", "--keep", "--", &format!("{SERVE} & echo started")]);
    assert!(ran.err.contains("as job 1"), "{ran:?}");
    listens(&world, 1);
    let ran = world.eclusa(&["exec", "--", "curl -s http://127.0.0.1:5173/a.txt"]);
    assert_eq!(ran.out, "one\n", "{ran:?}");
    let owner = owner(&world);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    nothing_left(&world, owner);
}

/// A program that stands where an owner's socket is, or talks to an owner.
pub(crate) fn socket(world: &World, script: &str) -> std::process::Child {
    let place = states(world, "sessions").pop().unwrap();
    let place = fs::read_dir(place).unwrap().flatten().next().unwrap().path();
    #[expect(clippy::disallowed_methods, reason = "the test plays somebody else")]
    std::process::Command::new("python3")
        .args(["-c", &format!("import json, os, socket, sys\nos.chdir(sys.argv[1])\n{script}")])
        .arg(place)
        .spawn()
        .unwrap()
}

pub(crate) const TALKS: &str =
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.connect('owner')\n";

#[test]
fn an_owner_answers_what_it_understands_and_nothing_else() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, "sleep 1000");
    let owner = owner(&world);
    let says = |script: &str, expected: &str| {
        let script = format!(
            "{TALKS}{script}\ns.settimeout(30)\nanswer = s.recv(1 << 20).decode()\n\
             assert {expected:?} in answer, answer"
        );
        assert!(socket(&world, &script).wait().unwrap().success(), "{expected}");
    };
    says("s.send(b'x' * 100000)", "longer than 65536 bytes");
    says("s.send(b'no json')", "error");
    says(
        "s.send(json.dumps({'v': 99, 'program': '9', 'body': {}}).encode())",
        "speaks version 4, not 99",
    );
    says(
        "s.send(json.dumps({'v': 4, 'program': '9', 'body': {'ask': 'rule'}}).encode())",
        "unknown variant",
    );
    let adopt = "{'ask': 'adopt', 'job': {'command': '', 'call': None, 'root': '/', 'pid': 1, 'layer': None, 'began': '', \
                 'discard': [], 'staged': [], 'group': None, 'memory': None, 'disk': None}, 'command': 3, 'locks': 0, 'network': 0}";
    says(
        &format!("s.send(json.dumps({{'v': 4, 'program': '9', 'body': {adopt}}}).encode())"),
        "descriptors of the job are missing",
    );
    // A message that no kernel takes never comes.
    says(
        "try: s.send(bytes(1 << 30)); raise SystemExit('it was sent')\nexcept OSError: s.send(b'no json')",
        "error",
    );
    assert!(lives(owner));
    // Nobody in a sandbox sees it.
    let ran = call(&world, &format!("ls -a {}", states(&world, "sessions")[0].display()));
    assert!(!ran.out.contains("owner"), "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    nothing_left(&world, owner);
}

#[test]
fn a_socket_that_somebody_else_made_is_not_trusted() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, "sleep 1000");
    let place =
        fs::read_dir(&states(&world, "sessions")[0]).unwrap().flatten().next().unwrap().path();
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    fs::create_dir_all(&place).unwrap();
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o777);
    let ran = call(&world, "echo x");
    assert!(ran.code != 0 && ran.err.contains("other users can reach"), "{ran:?}");
    mode(0o700);
    let script = "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.bind('owner')\ns.listen()\n\
                  while True:\n c, _ = s.accept()\n if not c.recv(1 << 20): continue\n \
                  c.send(json.dumps({'v': 99, 'program': '9.9.0', 'body': {}}).encode())";
    let mut other = socket(&world, script);
    until("it is there", || place.join("owner").exists().then_some(()));
    let ran = until("it listens", || {
        let ran = call(&world, "echo x");
        (ran.code != 0).then_some(ran)
    });
    assert!(ran.err.contains("started by eclusa 9.9.0"), "{ran:?}");
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!other.wait().unwrap().success(), "it was ended");
    assert_eq!(call(&world, "echo x").code, 0);
}

/// What an agent is told when it starts something, whatever event comes next.
#[test]
fn an_event_after_the_call_changes_nothing() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let input = json!({"command": "sleep 1000", "run_in_background": true});
    let ran = claude(&world, &before(&world, "Bash", input));
    let updated = ran.json()["hookSpecificOutput"]["updatedInput"].clone();
    shell(&world, updated["command"].as_str().unwrap());
    let mut after = event(&world, "PostToolUse", "Bash", updated);
    after["tool_response"] = json!({"stdout": "", "stderr": ""});
    assert_eq!(claude(&world, &after).code, 0);
    assert_eq!(jobs(&world)[0]["runs"], true);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
