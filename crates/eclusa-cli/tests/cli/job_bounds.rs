//! What a job may use: processes, the disk, room for what it prints. Past a bound it is ended, and that is told.

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, rewritten, shell},
    jobs::jobs,
    world::{Ran, World, until},
};

fn line(world: &World, input: Value) -> String {
    rewritten(&claude(world, &before(world, "Bash", input)))
}

fn call(world: &World, command: &str) -> Ran {
    crate::jobs::shown(shell(world, &line(world, json!({"command": command}))))
}

fn start(world: &World, command: &str) -> Ran {
    let ran = shell(world, &line(world, json!({"command": command, "run_in_background": true})));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// Waits for the end of job 1, and says how it ended.
fn ended(world: &World) -> String {
    until("the job has ended", || jobs(world)[0]["ended"].as_str().map(str::to_owned))
}

const MANY: &str = "for i in $(seq 200); do sleep 1000 & done; echo started";

#[test]
fn what_leaves_too_many_processes_running_is_ended_and_told() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let ran = call(&world, MANY);
    assert!(ran.code == 0 && ran.out.starts_with("started\n"), "{ran:?}");
    let told = "200 processes that it left running were ended: at most 64 go on as a job; \
                `commands.job_processes` in eclusa.toml changes that";
    assert!(ran.out.contains(told), "{ran:?}");
    assert_eq!(jobs(&world).len(), 0);
    // As many as a person says.
    let world = World::with("mode = \"auto-approve\"\n[commands]\njob_processes = 250\n");
    let ran = call(&world, MANY);
    assert!(ran.out.contains("200 processes still run as job 1"), "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
    let world = World::with("mode = \"auto-approve\"\n[commands]\njob_processes = \"none\"\n");
    let ran = call(&world, MANY);
    assert!(ran.out.contains("200 processes still run as job 1"), "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn a_job_that_makes_processes_without_end_is_ended_and_the_next_call_says_so() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    // It begins when it is told to, long after its call.
    start(
        &world,
        "until [ -e /tmp/go ]; do sleep 0.05; done; for i in $(seq 900); do sleep 1000 & done; wait",
    );
    assert_eq!(jobs(&world)[0]["runs"], true);
    let first = call(&world, "touch /tmp/go").out;
    let how = ended(&world);
    assert!(how.contains("it had more than 64 processes; `commands.job_processes`"), "{how}");
    // It may have ended before that call had.
    let told = first + &call(&world, "echo x").out;
    assert!(told.contains("job 1 ended by signal 9: it had more than 64"), "{told}");
    let ran = call(&world, "echo x");
    assert_eq!(ran.out, "x\n", "it is told once");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn a_job_that_fills_its_layer_is_ended_and_gives_the_room_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n[commands]\ndisk = \"20MB\"\n");
    start(&world, "for i in $(seq 1 100000); do head -c 4000000 /dev/urandom > f$i || exit; done");
    let how = ended(&world);
    assert!(how.contains("it wrote more than `commands.disk` allows"), "{how}");
    assert!(!world.path("workspace/f1").exists());
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// Its own bound ends it; and where the machine has no memory left, the kernel takes the job before its owner.
#[test]
fn a_job_that_takes_too_much_memory_is_ended_and_goes_before_its_owner() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n[commands]\nmemory = \"150MB\"\n");
    start(
        &world,
        "cat /proc/self/oom_score_adj; until [ -e /tmp/go ]; do sleep 0.05; done; \
         python3 -c 'x = bytearray(400 << 20); import time; time.sleep(1000)'",
    );
    until("it says when it goes", || {
        (world.eclusa(&["jobs", "output", "1"]).out == "1000\n").then_some(())
    });
    let owner = crate::jobs::owner(&world);
    let score = std::fs::read_to_string(format!("/proc/{owner}/oom_score_adj")).unwrap();
    assert!(score.trim().parse::<i32>().unwrap() < 1000, "{score}");
    let first = call(&world, "touch /tmp/go").out;
    let how = ended(&world);
    assert!(how.contains("it used more memory than `commands.memory` allows"), "{how}");
    let told = first + &call(&world, "echo x").out;
    assert!(told.contains("job 1 ended by signal 9: it used more memory"), "{told}");
    assert!(crate::jobs::lives(owner));
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// A file may not grow beyond this, as if the disk were full.
const FULL: &str = r#"
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
sys.exit(subprocess.run(['sh', '-c', sys.argv[1]], restore_signals=False).returncode)
"#;

#[test]
fn output_that_the_disk_does_not_take_is_counted_and_the_job_goes_on() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let full = world.write("full.py", FULL);
    let prints = "echo begun; head -c 6000000 /dev/zero | tr '\\0' x; echo; sleep 0.1; exit 7";
    let line = line(&world, json!({"command": prints, "run_in_background": true}));
    let follow = format!("{} jobs output 1 -f > /dev/null", env!("CARGO_BIN_EXE_eclusa"));
    let quoted = format!("{line}; {follow}").replace('\'', r"'\''");
    let ran = shell(&world, &format!("python3 '{}' '{quoted}'", full.display()));
    assert!(ran.out.contains("job 1"), "{ran:?}");
    let how = ended(&world);
    assert!(how.starts_with("ended with exit code 7; "), "{how}");
    assert!(how.contains(" bytes of its output were not kept: "), "{how}");
    assert!(world.eclusa(&["jobs", "output", "1"]).out.starts_with("begun\nxxx"));
    world.eclusa(&["jobs", "end", "--all"]);
}
