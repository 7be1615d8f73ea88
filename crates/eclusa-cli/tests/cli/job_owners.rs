//! The owner of a session under bad conditions: many who say nothing, an owner that dies at a message, many sessions.

use std::fs;

use serde_json::json;

use crate::{
    hook::claude,
    jobs::{TALKS, call, jobs, lives, nothing_left, owner, socket, start, states, world},
    world::until,
};

#[test]
fn those_who_say_nothing_hold_nobody_up() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, "until [ -e b.txt ]; do sleep 0.05; done; echo seen; sleep 1000");
    let silent = "import time\nall = []\nfor _ in range(30):\n s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n \
                  s.connect('owner')\n all.append(s)\nopen('connected', 'w').close()\ntime.sleep(1000)";
    let mut silent = socket(&world, silent);
    let place = states(&world, "sessions").pop().unwrap();
    let place = fs::read_dir(place).unwrap().flatten().next().unwrap().path();
    until("they are there", || place.join("connected").exists().then_some(()));
    // One that waits longer than a change does would not be shown it.
    let ran = call(&world, "echo x > b.txt");
    assert!(ran.code == 0 && !ran.out.contains("may not see"), "{ran:?}");
    until("the job sees it", || {
        world.eclusa(&["jobs", "output", "1"]).out.contains("seen").then_some(())
    });
    silent.kill().unwrap();
    silent.wait().unwrap();
    // More than it serves at once are turned away, and it lives on.
    let many = format!(
        "{TALKS}all = [s]\ntry:\n for _ in range(200):\n  s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n  \
                        s.settimeout(1)\n  s.connect('owner')\n  all.append(s)\nexcept OSError: pass\n"
    );
    assert!(socket(&world, &many).wait().unwrap().success());
    let owner = owner(&world);
    assert!(lives(owner));
    #[expect(clippy::disallowed_methods, reason = "the test's own mark")]
    fs::remove_file(place.join("connected")).unwrap();
    until("it answers", || (world.eclusa(&["jobs", "end", "--all"]).code == 0).then_some(()));
    nothing_left(&world, owner);
}

/// An owner that answers everything with nothing, and goes away at one message.
fn dying(at: &str) -> String {
    format!(
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.bind('owner')\ns.listen()\n\
         while True:\n c, _ = s.accept()\n m = c.recv(1 << 20)\n if not m: continue\n\
         \u{20}if json.loads(m)['body']['ask'] == {at:?}: os._exit(0)\n \
         c.send(json.dumps({{'v': 4, 'program': '9', 'body': {{}}}}).encode())"
    )
}

#[test]
fn an_owner_that_dies_at_a_message_is_told_and_the_next_call_goes_on() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, "sleep 1000");
    let sessions = states(&world, "sessions").pop().unwrap();
    let place = fs::read_dir(&sessions).unwrap().flatten().next().unwrap().path();
    let first = owner(&world);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    // It takes its directory away, in which another is played now.
    until("the first owner is gone", || (!lives(first)).then_some(()));
    let gone = "the owner of the session cannot be reached: it went away before it answered";
    let over = json!({"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": world.path("workspace")});
    for at in ["network", "views", "adopt", "end", "over"] {
        {
            use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&place).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "the test plays an owner that died")]
        let _ = fs::remove_file(place.join("owner"));
        let mut dying = socket(&world, &dying(at));
        until("it is there", || place.join("owner").exists().then_some(()));
        let told = until("it is asked", || {
            let ran = match at {
                "network" => call(&world, "echo x"),
                "views" => call(&world, "date +%N > c.txt"),
                "adopt" => call(&world, "sleep 1000 & echo started"),
                "end" => world.eclusa(&["jobs", "end", "--all"]),
                _ => claude(&world, &over),
            };
            // It listens a moment after its socket is there.
            (!lives(i32::try_from(dying.id()).unwrap()))
                .then_some(format!("{}{}", ran.out, ran.err))
        });
        assert!(told.contains(gone), "{at}: {told}");
        dying.wait().unwrap();
        let ran = call(&world, "echo on");
        assert!(ran.code == 0 && ran.out.starts_with("on\n"), "{at}: {ran:?}");
        assert_eq!(jobs(&world).iter().filter(|it| it["runs"] == true).count(), 0, "{at}");
    }
}

#[test]
fn sessions_with_jobs_leave_nothing_behind_however_they_end() {
    eclusa_testing::needs!(Namespaces);
    #[expect(clippy::disallowed_methods, reason = "the test runs a script of the repository")]
    let mut script = std::process::Command::new("python3");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    script.arg(format!("{root}/scripts/job-sessions")).arg("8");
    let place = tempfile::tempdir().unwrap();
    script.env("ECLUSA", env!("CARGO_BIN_EXE_eclusa")).env("ATTACKS_BASE", place.path());
    let output = script.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("8 sessions with jobs (2 by over, 2 by jobs"), "{said}");
}

/// The first process of a container that waits for nobody: each owner stays as a zombie, and `doctor` names the remedy.
#[test]
fn where_nobody_waits_for_orphans_doctor_says_so() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    // Starts an owner as a hook does, ends it, waits for none of its own, and asks `doctor`.
    let first = "import os, subprocess, sys, time\nprogram, state = sys.argv[1:]\n\
                 os.makedirs(state, 0o700)\n\
                 if subprocess.run([program, 'session', state, 's'], stdout=subprocess.PIPE).returncode: sys.exit(4)\n\
                 at = lambda it: open(f'/proc/{it}/stat').read()\n\
                 all = lambda: [at(it) for it in os.listdir('/proc') if it.isdigit()]\n\
                 mine = [it for it in all() if '(eclusa-session)' in it]\n\
                 assert len(mine) == 1, mine\n\
                 os.kill(int(mine[0].split()[0]), 15)\n\
                 while not any('(eclusa-session) Z' in it for it in all()): time.sleep(0.05)\n\
                 sys.stdout.buffer.write(subprocess.run([program, 'doctor'], stdout=subprocess.PIPE).stdout)";
    let command = world.command(&["doctor"]);
    let known: Vec<_> = command
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test plays the first process of a container"
    )]
    let mut first_process = std::process::Command::new("unshare");
    first_process.args(["-rpf", "--mount-proc", "python3", "-c", first]);
    first_process.arg(command.get_program()).arg(world.path("owner-state"));
    first_process.envs(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let ran = first_process.current_dir(world.path("workspace")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("zombies now: 1;") && said.contains("`--init`"), "{said} {ran:?}");
}
