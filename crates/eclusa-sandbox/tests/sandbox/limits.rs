//! What a command may use, and that it and everything it started ends when that is used up.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eclusa_sandbox::{Cap, Ended, Exit, How, Keep, Plan, Sandbox};

use crate::world::{World, capabilities, is_root, run};

/// Far more than anything takes that is going to happen, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A time to sleep that no other test, and no other run of the tests, uses.
pub(crate) fn mark(n: &str) -> String {
    format!("9{}{n}", std::process::id())
}

/// A shell text in which each of these times is the mark.
pub(crate) fn marked(text: &str, n: &str) -> String {
    text.replace(n, &mark(n))
}

/// Command lines of processes on this machine that contain a mark.
pub(crate) fn alive(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(mark) && line.starts_with("sleep")).collect()
}

/// Runs a plan, and cancels it as soon as it says that it is ready.
fn cancelled_when_ready(plan: &Plan) -> Exit {
    let (said, hear) = std::sync::mpsc::channel();
    let tell = move |bytes: &[u8]| drop(said.send(bytes.to_vec()));
    let sandbox = Sandbox::spawn(plan, capabilities(), tell).unwrap();
    assert_eq!(hear.recv().unwrap(), b"ready\n");
    sandbox.canceller().cancel();
    let exit = sandbox.wait().unwrap();
    assert_eq!(exit.ended, Some(Ended::Cancelled));
    exit
}

/// Shows E9, S1.17, S1.28.
#[test]
fn a_time_out_ends_the_whole_tree() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged(&marked("sleep 1234.1 & sleep 1234.1", "1234.1"));
    plan.limits.wall = Some(Duration::from_secs(1));
    plan.limits.grace = LONG;
    let exit = run(&plan);
    assert_eq!((exit.ended, exit.how), (Some(Ended::Time), How::Signal(15)));
    assert_eq!(alive(&mark("1234.1")), Vec::<String>::new());
}

#[test]
fn who_ignores_the_polite_signal_is_killed_after_the_grace() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = "trap '' TERM; echo ready; sleep 1234.2; echo on; sleep 1234.2; echo end";
    let mut plan = world.staged(&marked(text, "1234.2"));
    plan.limits.grace = Duration::from_millis(200);
    let exit = cancelled_when_ready(&plan);
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Signal(9), "ready\n"));
    assert_eq!(alive(&mark("1234.2")), Vec::<String>::new());
}

#[test]
fn who_listens_to_the_polite_signal_can_clean_up() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut plan = world.staged(text);
    plan.limits.grace = LONG;
    let exit = cancelled_when_ready(&plan);
    assert_eq!(exit.how, How::Code(7));
    assert!(exit.output.text().ends_with("cleaned\n"), "{}", exit.output.text());
}

#[test]
fn the_children_of_a_command_that_is_gone_can_clean_up_too() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let child =
        "trap 'sleep 0.2; echo cleaned; exit' TERM; echo ready; while :; do sleep 0.02; done";
    let mut plan = world.staged(&format!("bash -c \"{child}\" & wait; echo on"));
    plan.limits.wall = None;
    plan.limits.grace = LONG;
    let exit = cancelled_when_ready(&plan);
    let said = exit.output.text();
    assert!(said.ends_with("cleaned\n") && !said.contains("on\n"), "{said}");
    assert_eq!(exit.how, How::Signal(15));
}

#[test]
fn the_polite_end_does_not_let_the_script_go_on() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("echo ready; sleep 1234; echo went on; touch went-on");
    plan.limits.grace = LONG;
    let exit = cancelled_when_ready(&plan);
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Signal(15), "ready\n"));
    assert!(!world.has("state/upper/went-on"));
}

/// Shows E9.
#[test]
fn daemons_end_with_the_command_and_hold_nothing_open() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = "(setsid bash -c 'sleep 1234.4 & sleep 1234.4' &) ; (setsid setsid sleep 1234.4 &)
        perl -e 'fork and exit; fork and exit; exec qw(sleep 1234.4)'; echo done";
    let exit = run(&world.staged(&marked(text, "1234.4")));
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Code(0), "done\n"));
    assert_eq!(exit.ended, None, "it ended by itself, before its time was over");
    assert_eq!(alive(&mark("1234.4")), Vec::<String>::new());
}

/// Shows S1.28.
#[test]
fn a_caller_can_cancel() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged(&marked("echo ready; sleep 1234.5", "1234.5"));
    plan.limits.grace = LONG;
    let exit = cancelled_when_ready(&plan);
    assert_eq!(exit.how, How::Signal(15));
    assert_eq!(alive(&mark("1234.5")), Vec::<String>::new());
}

#[test]
fn a_sandbox_that_is_dropped_is_ended() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    drop(
        Sandbox::spawn(&world.staged(&marked("sleep 1234.6", "1234.6")), capabilities(), |_| {})
            .unwrap(),
    );
    assert_eq!(alive(&mark("1234.6")), Vec::<String>::new());
}

/// Shows S1.30, S1.32, C16.
#[test]
fn two_gigabytes_of_output_are_kept_by_head_and_tail() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let seen = Arc::new(Mutex::new(0u64));
    let count = Arc::clone(&seen);
    let mut plan =
        world.staged("echo first; head -c 2147483648 /dev/zero | tr '\\0' x; echo; echo last");
    plan.limits.wall = Some(LONG * 10);
    plan.keep = Keep { head: 1000, tail: 1000 };
    let add = move |bytes: &[u8]| *count.lock().unwrap() += bytes.len() as u64;
    let exit = Sandbox::spawn(&plan, capabilities(), add).unwrap().wait().unwrap();
    assert!(exit.success(), "{:?}", exit.how);
    assert_eq!(exit.output.total(), 2_147_483_648 + 6 + 1 + 5);
    assert_eq!(*seen.lock().unwrap(), exit.output.total());
    assert!(exit.output.truncated());
    assert!(exit.output.head().starts_with(b"first\nxx") && exit.output.head().len() == 1000);
    assert!(exit.output.tail().ends_with(b"xx\nlast\n") && exit.output.tail().len() == 1000);
}

#[test]
fn a_limit_on_output_ends_the_command() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("yes");
    plan.limits.output = Some(1_000_000);
    let exit = run(&plan);
    assert_eq!((exit.ended, exit.how), (Some(Ended::Output), How::Signal(15)));
}

#[test]
fn binary_output_is_known() {
    eclusa_testing::needs!(Namespaces);
    let exit = run(&World::new().staged("head -c 1000 /dev/zero; echo text"));
    assert!(exit.output.is_binary());
    assert!(!run(&World::new().staged("echo text")).output.is_binary());
}

#[test]
fn output_and_errors_are_in_the_order_in_which_they_were_written() {
    eclusa_testing::needs!(Namespaces);
    let text = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
    let expected: String = (1..10).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(run(&World::new().staged(text)).output.text(), expected);
}

#[test]
fn a_fork_bomb_is_contained() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("b() { b | b & }; b; while :; do sleep 0.1; done");
    plan.limits.processes = Some(400);
    plan.limits.wall = Some(LONG * 10);
    plan.limits.grace = Duration::from_millis(200);
    let (said, hear) = std::sync::mpsc::channel();
    let tell = move |bytes: &[u8]| drop(said.send(bytes.to_vec()));
    let sandbox = Sandbox::spawn(&plan, capabilities(), tell).unwrap();
    let mut heard = Vec::new();
    // However long it takes to have as many as it may.
    while !String::from_utf8_lossy(&heard).contains("Resource temporarily unavailable") {
        heard.extend(hear.recv_timeout(LONG).unwrap());
    }
    sandbox.canceller().cancel();
    let exit = sandbox.wait().unwrap();
    assert!(!exit.success(), "{exit:?}");
}

#[test]
fn a_memory_bomb_is_ended() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = "perl -e 'push @x, \"x\" x (8 << 20) while 1' & perl -e 'push @x, \"x\" x (8 << 20) while 1'";
    let mut plan = world.staged(text);
    plan.limits.memory = Some(512 << 20);
    plan.limits.wall = Some(LONG * 10);
    let exit = run(&plan);
    assert_eq!((exit.ended, exit.how), (Some(Ended::Memory), How::Signal(9)));
}

/// Sanitizers and engines reserve terabytes of addresses, and use little of it.
#[test]
fn reserved_addresses_are_not_memory() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    // mmap(0, 1 TiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    let text = format!(
        "perl -e 'print syscall({}, 0, 1 << 40, 3, 0x4022, -1, 0) == -1 ? $! : \"reserved\"'; sleep 0.5",
        libc::SYS_mmap
    );
    let mut plan = world.staged(&text);
    plan.limits.memory = Some(512 << 20);
    let exit = run(&plan);
    assert_eq!((exit.output.text().as_str(), exit.ended), ("reserved", None));
}

#[test]
fn a_file_that_grows_too_large_is_stopped() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("head -c 10000000 /dev/zero > big; echo $?; stat -c %s big");
    plan.limits.file = Some(1_000_000);
    let said = run(&plan).output.text();
    assert!(said.ends_with("\n1000000\n"), "{said}");
}

#[test]
fn who_fills_the_disk_is_ended() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world
        .staged("for i in $(seq 1 100000); do head -c 4000000 /dev/urandom > f$i || exit; done");
    plan.limits.disk = Some(20_000_000);
    // Another test may give back as much as this one takes.
    plan.limits.wall = Some(LONG * 10);
    plan.limits.grace = Duration::from_millis(100);
    assert_eq!(run(&plan).ended, Some(Ended::Disk));
    let world = World::new();
    let mut plan =
        world.read_only("head -c 30000000 /dev/zero > /tmp/f; ls -l /tmp/f | cut -d' ' -f5");
    plan.limits.tmp = 10_000_000;
    let said = run(&plan).output.text();
    assert!(said.contains("No space left on device"), "{said}");
}

/// `/tmp` of a session may lie on another filesystem than what a command changes.
#[test]
fn who_fills_another_filesystem_through_tmp_is_ended() {
    eclusa_testing::needs!(Namespaces);
    let (world, tmp) = (World::new(), tempfile::tempdir_in("/dev/shm").unwrap());
    let mut plan = world
        .staged("for i in $(seq 1 200); do head -c 4000000 /dev/zero > /tmp/f$i; sleep 0.1; done");
    plan.tmp = Some(tmp.path().to_owned());
    plan.limits.disk = Some(20_000_000);
    plan.limits.wall = Some(LONG * 10);
    plan.limits.grace = Duration::from_millis(100);
    assert_eq!(run(&plan).ended, Some(Ended::Disk));
}

#[test]
fn processor_time_is_limited_and_reported() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("while :; do :; done");
    plan.limits.cpu = Some(Duration::from_secs(1));
    plan.limits.wall = Some(LONG * 10);
    let exit = run(&plan);
    assert!(matches!(exit.how, How::Signal(9 | 24)), "{exit:?}");
    assert!(exit.cpu >= Duration::from_millis(500), "{:?}", exit.cpu);
    assert_eq!(exit.ended, None);
}

#[test]
fn the_sandbox_dies_with_its_caller() {
    eclusa_testing::needs!(Namespaces);
    dies_with_its_caller("limits::caller_that_is_killed", "1234.7");
}

/// The caller is this test's own binary, which is killed while its sandbox runs.
pub(crate) fn dies_with_its_caller(half: &str, n: &str) {
    let (world, mark) = (World::new(), mark(n));
    let mut caller = std::process::Command::new(std::env::current_exe().unwrap());
    caller.args(["--exact", half, "--nocapture"]);
    caller.env("ECLUSA_KILLED", world.ws()).env("ECLUSA_SLEEP", &mark);
    let mut caller = caller.stdout(std::process::Stdio::null()).spawn().unwrap();
    let until = Instant::now() + LONG;
    while alive(&mark).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(alive(&mark).len(), 1);
    caller.kill().unwrap();
    caller.wait().unwrap();
    let gone = || alive(&mark).is_empty();
    let until = Instant::now() + LONG;
    while !gone() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(gone());
}

#[test]
fn caller_that_is_killed() {
    sleep_until_killed();
}

/// What the caller does.
pub(crate) fn sleep_until_killed() {
    let Some(ws) = std::env::var_os("ECLUSA_KILLED") else { return };
    let sleep = format!("sleep {}; true", std::env::var("ECLUSA_SLEEP").unwrap());
    let mut plan = eclusa_sandbox::Plan::bash(&sleep, &ws);
    plan.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    plan.write.push(ws.into());
    run(&plan);
}

#[test]
fn what_the_caps_hold_for_is_said() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("true");
    let caps = run(&plan).caps;
    assert_eq!((caps.memory, caps.processes), (Cap::Sandbox, Cap::Sandbox));
    plan = world.read_only("true");
    plan.limits.memory = None;
    plan.limits.processes = None;
    let caps = run(&plan).caps;
    assert_eq!((caps.memory, caps.processes), (Cap::Open, Cap::Open));
}

#[test]
fn a_control_group_that_can_not_hold_the_limits_is_an_error() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("true");
    plan.cgroup = Some(world.path("outside"));
    let error = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap_err().to_string();
    assert!(error.contains("memory.max") && error.contains("control group"), "{error}");
    assert_eq!(std::fs::read_dir(world.path("outside")).unwrap().count(), 1);
}

#[test]
fn a_delegated_control_group_is_entered_and_removed() {
    eclusa_testing::needs!(Namespaces);
    // Only root can make one here; its controllers may be bound to the old hierarchy.
    let parent = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::PathBuf::from);
    let Some(parent) = parent
        .into_iter()
        .find(|at| at.join("cgroup.kill").exists() || at.join("cgroup.controllers").exists())
    else {
        return;
    };
    let parent = parent.join(format!("eclusa-test-{}", std::process::id()));
    if !is_root() || std::fs::create_dir(&parent).is_err() {
        return;
    }
    let world = World::new();
    let text = "grep ^0:: /proc/self/cgroup; (setsid sleep 1236.1 &)";
    let mut plan = world.staged(&marked(text, "1236.1"));
    plan.cgroup = Some(parent.clone());
    plan.limits.memory = None;
    plan.limits.processes = None;
    let said = run(&plan).output.text();
    assert!(said.contains("/sandbox-"), "{said}");
    assert_eq!(alive(&mark("1236.1")), Vec::<String>::new());
    // Where the controllers are bound to the old hierarchy a cap is refused, and not left out.
    let controllers = std::fs::read_to_string(parent.join("cgroup.controllers")).unwrap();
    if !controllers.contains("memory") {
        plan.limits.memory = Some(1 << 30);
        let error = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap_err().to_string();
        assert!(error.contains("memory.max"), "{error}");
    }
    std::fs::remove_dir(&parent).unwrap();
}
