//! A command that only reads, without namespaces: everything that it could try against the machine, with
//! Landlock as it was in several versions.

use std::fmt::Write as _;

use eclusa_sandbox::{Exit, HostCapabilities, Plan, Sandbox, probe, test_support};

use crate::world::{World, test_root};

/// The versions in which Landlock learned something that matters here.
pub(crate) const VERSIONS: [u32; 4] = [1, 2, 3, 6];

/// A machine without namespaces.
pub(crate) fn machine() -> HostCapabilities {
    test_support::namespaces().unwrap();
    let state = tempfile::tempdir_in(test_root()).unwrap();
    probe(state.path())
}

/// A plan that may write nothing but temporary files.
fn reading(world: &World, text: &str, machine: &HostCapabilities) -> Plan {
    let mut plan = world.read_only(text);
    plan.may_lack = machine.missing();
    std::fs::create_dir_all(world.path("tmp")).unwrap();
    plan.tmp = Some(world.path("tmp"));
    plan.env.push(("OUT".into(), world.path("outside").into()));
    plan
}

fn run(plan: &Plan, machine: &HostCapabilities) -> Exit {
    Sandbox::spawn(plan, machine, |_| {}).unwrap().wait().unwrap()
}

/// Each attempt is a system call that prints its name if it succeeds. `P` is a path outside, `L` the same
/// with a length that a filter could take for a flag, `B` room for an answer.
pub(crate) fn attempts(host: u32) -> String {
    let calls = [
        ("fchmodat", libc::SYS_fchmodat, "-100, $p, 0600"),
        ("fchmodat2", 452, "-100, $p, 0600, 0"),
        ("fchmod", libc::SYS_fchmod, "$fd, 0600"),
        ("fchown", libc::SYS_fchown, "$fd, $<, -1"),
        ("fchownat", libc::SYS_fchownat, "-100, $p, $<, -1, 0"),
        ("utimensat", libc::SYS_utimensat, "-100, $p, 0, 0"),
        ("futimens", libc::SYS_utimensat, "$fd, 0, 0, 0"),
        ("setxattr", libc::SYS_setxattr, "$p, $x, $x, 1, 0"),
        ("lsetxattr", libc::SYS_lsetxattr, "$p, $x, $x, 1, 0"),
        ("fsetxattr", libc::SYS_fsetxattr, "$fd, $x, $x, 1, 0"),
        ("removexattr", libc::SYS_removexattr, "$p, $kept"),
        ("lremovexattr", libc::SYS_lremovexattr, "$p, $kept"),
        ("fremovexattr", libc::SYS_fremovexattr, "$fd, $kept"),
        ("setflags", libc::SYS_ioctl, "$fd, 0x40086602, $flags"),
        ("truncate", libc::SYS_truncate, "$p, 0"),
        ("open and empty", libc::SYS_openat, "-100, $p, 01000, 0"),
        ("link", libc::SYS_linkat, "-100, $p, -100, $new, 0"),
        ("symlink", libc::SYS_symlinkat, "$p, -100, $new"),
        ("rename", libc::SYS_renameat2, "-100, $p, -100, $new, 0"),
        ("unlink", libc::SYS_unlinkat, "-100, $p, 0"),
        ("mkdir", libc::SYS_mkdirat, "-100, $new, 0700"),
        ("fifo", libc::SYS_mknodat, "-100, $new, 010600, 0"),
        ("create", libc::SYS_openat, "-100, $new, 0101, 0600"),
        ("write", libc::SYS_openat, "-100, $p, 1, 0"),
        ("shared memory", libc::SYS_openat, "-100, $shm, 0102, 0600"),
        ("terminal", libc::SYS_openat, "-100, $tty, 2, 0"),
        ("queue", libc::SYS_mq_open, "$x, 0102, 0600, 0"),
        ("ptrace", libc::SYS_ptrace, "16, HOST, 0, 0"),
        ("memory of another", libc::SYS_process_vm_readv, "HOST, 0, 0, 0, 0, 0"),
        ("limits", libc::SYS_prlimit64, "HOST, 7, 0, 0"),
        ("priority", libc::SYS_setpriority, "0, HOST, 19"),
        ("affinity", libc::SYS_sched_setaffinity, "HOST, 8, $buffer"),
        ("scheduler", libc::SYS_sched_setscheduler, "HOST, 0, $buffer"),
        ("input and output", libc::SYS_ioprio_set, "1, HOST, 0"),
        ("unix socket", libc::SYS_socket, "1, 1, 0"),
        ("udp", libc::SYS_socket, "2, 2, 0"),
        ("raw", libc::SYS_socket, "2, 3, 1"),
        ("netlink", libc::SYS_socket, "16, 3, 0"),
        ("udp of version 6", libc::SYS_socket, "10, 2, 0"),
        ("segment", libc::SYS_shmget, "0, 4096, 01600"),
        ("messages", libc::SYS_msgget, "0, 01600"),
        ("semaphores", libc::SYS_semget, "0, 1, 01600"),
        ("keyring", libc::SYS_keyctl, "0, -3, 0"),
        ("io_uring", libc::SYS_io_uring_setup, "1, $buffer"),
        ("bpf", libc::SYS_bpf, "0, $buffer, 0"),
        ("perf", libc::SYS_perf_event_open, "$buffer, 0, -1, -1, 0"),
        ("userfaultfd", libc::SYS_userfaultfd, "1"),
        ("namespace", libc::SYS_unshare, "0x10000000"),
    ];
    let mut script = String::from(
        "$p = \"$ENV{OUT}/out.txt\"; $new = \"$ENV{OUT}/new\"; $x = 'user.x'; $kept = 'user.kept';
        $shm = '/dev/shm/eclusa-try'; $tty = '/dev/tty'; $buffer = \"\\0\" x 4096; $flags = pack 'q', 64;
        open F, '<', $p or die; $fd = fileno F;\n",
    );
    for (name, number, arguments) in calls {
        let arguments = arguments.replace("HOST", &host.to_string());
        let _ = writeln!(script, "print \"{name}\\n\" if syscall({number}, {arguments}) >= 0;");
    }
    for what in ["environ", "mem", "maps", "cwd/x", "exe", "fd/0"] {
        let _ = writeln!(script, "print \"{what}\\n\" if open G, '<', '/proc/{host}/{what}';");
    }
    script
}

/// The table of what Landlock lets through and the filter must not.
#[test]
fn nothing_outside_changes_whatever_is_tried() {
    let machine = machine();
    for version in VERSIONS {
        let world = World::new();
        let out = world.path("outside/out.txt");
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(&out, c"user.kept", b"1", flags).unwrap();
        std::fs::write(world.path("try.pl"), attempts(std::process::id())).unwrap();
        let older = machine.clone().with_landlock(version);
        let plan = reading(&world, "perl ../try.pl; cat $OUT/out.txt", &older);
        let before = world.outside();
        let exit = run(&plan, &older);
        assert_eq!(exit.output.text(), "outside\n", "with Landlock {version}");
        assert_eq!(world.outside(), before, "with Landlock {version}");
        let kept = rustix::fs::getxattr(&out, c"user.kept", &mut [0_u8; 8][..]);
        assert_eq!(kept, Ok(1), "with Landlock {version}");
    }
}

/// One secret does not shut what is around it, and stays shut itself.
#[test]
fn what_is_around_a_secret_is_listed_and_read() {
    let machine = machine();
    for version in VERSIONS {
        let world = World::new();
        std::fs::write(world.path("ws/.env"), "secret").unwrap();
        std::fs::create_dir_all(world.path("ws/.ssh")).unwrap();
        std::fs::write(world.path("ws/.ssh/key"), "secret").unwrap();
        let older = machine.clone().with_landlock(version);
        let text = "ls -A | tr '\\n' ' '; cat in.txt; cat .env .ssh/key; grep -rl secret . | wc -l";
        let mut plan = reading(&world, text, &older);
        plan.hide = vec![world.path("ws/.env"), world.path("ws/.ssh")];
        let exit = run(&plan, &older);
        let said = exit.output.text();
        assert!(said.starts_with(".env .ssh in.txt inside\n"), "{version}: {said}");
        assert_eq!(said.matches(": Permission denied").count(), 4, "{version}: {said}");
        assert!(said.ends_with("\n0\n"), "{version}: {said}");
    }
}

#[test]
fn temporary_files_have_a_place() {
    let machine = machine();
    let world = World::new();
    let text = "cat <<< \"$(head -c 100000 /dev/zero | tr '\\0' x)\" | wc -c
        file=$(mktemp); dir=$(mktemp -d); echo $TMPDIR; echo text > $file; cat $file; : > $dir/x && ls $dir
        p=mp; touch /t$p/eclusa-try /var/t$p/eclusa-try";
    let mut plan = reading(&world, text, &machine);
    plan.env.push(("TMPDIR".into(), "/nowhere".into()));
    let exit = run(&plan, &machine);
    let said = exit.output.text();
    let tmp = world.path("tmp").display().to_string();
    assert!(said.starts_with(&format!("100001\n{tmp}\ntext\nx\n")), "{said}");
    assert_eq!(said.matches("Permission denied").count(), 2, "{said}");
}
