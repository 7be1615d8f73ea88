//! The levels: each is found by the self-test where the kernel refuses the one above,
//! holds what it says it holds, and is not used by a plan that wants more.

use std::time::Duration;

use eclusa_sandbox::{
    Ended, Enforcement, HostCapabilities, How, Missing, Plan, Sandbox, SandboxError, SharedNetwork,
    StagingMethod,
};
use eclusa_sandbox::{forget, probe, recall_or_probe, test_support};

use crate::world::{World, test_root};

/// The self-test on a thread that has just lost something.
fn probed() -> HostCapabilities {
    let state = tempfile::tempdir_in(test_root()).unwrap();
    let capabilities = probe(state.path());
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0, "the self-test left something");
    capabilities
}

#[test]
fn what_a_self_test_left_behind_is_swept_and_a_running_one_is_not() {
    let state = tempfile::tempdir_in(test_root()).unwrap();
    let [old, new, other] = [".probe-1-1", ".probe-2-2", "kept"].map(|it| state.path().join(it));
    for path in [&old, &new, &other] {
        std::fs::create_dir_all(path.join("work/work/incompat/volatile")).unwrap();
    }
    let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
    for path in [&old, &other] {
        std::fs::File::open(path).unwrap().set_modified(hour).unwrap();
    }
    let _ = probe(state.path());
    assert!(!old.exists() && new.exists() && other.exists());
}

/// A directory that only a self-test would remove.
fn leave_stale(state: &std::path::Path) -> std::path::PathBuf {
    let stale = state.join(".probe-1-1");
    std::fs::create_dir_all(&stale).unwrap();
    let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::open(&stale).unwrap().set_modified(hour).unwrap();
    stale
}

#[test]
fn what_a_self_test_found_is_recalled_where_nothing_has_changed() {
    eclusa_testing::needs!(Namespaces);
    let state = tempfile::tempdir_in(test_root()).unwrap();
    let file = state.path().join(".capabilities");
    let workspace = tempfile::tempdir_in(test_root()).unwrap();
    let recall_or_probe = |state: &std::path::Path| recall_or_probe(state, workspace.path());
    let found = recall_or_probe(state.path());
    assert_eq!(found, probe(state.path()));
    assert!(file.exists() && found.enforcement() == Enforcement::Full, "{found:?}");
    let stale = leave_stale(state.path());
    assert_eq!(recall_or_probe(state.path()), found);
    assert!(stale.exists(), "there was another self-test");
    // Another boot, another user, another word.
    let text = std::fs::read_to_string(&file).unwrap();
    for (part, other) in [("-", "+"), ("Uid:", "Uid:\t7"), ("\nroot", "\nnone"), ("\nuser", "")] {
        if !text.contains(part) {
            continue;
        }
        std::fs::write(&file, text.replace(part, other)).unwrap();
        let stale = leave_stale(state.path());
        assert_eq!(recall_or_probe(state.path()), found);
        assert!(!stale.exists(), "`{part}` was believed");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    forget(state.path());
    assert!(!file.exists());
}

#[test]
fn what_another_process_could_do_is_not_believed_of_one_that_cannot() {
    eclusa_testing::needs!(Namespaces);
    let state = tempfile::tempdir_in(test_root()).unwrap();
    let workspace = tempfile::tempdir_in(test_root()).unwrap();
    let recall_or_probe = |state: &std::path::Path| recall_or_probe(state, workspace.path());
    let _ = recall_or_probe(state.path());
    test_support::overlays().unwrap();
    let found = recall_or_probe(state.path());
    assert_eq!(found.enforcement(), Enforcement::Partial(vec![Missing::Staging]));
    forget(state.path());
    let _ = recall_or_probe(state.path());
    assert!(!state.path().join(".capabilities").exists(), "what lacks something is kept");
}

fn refused(plan: &Plan, capabilities: &HostCapabilities) -> Missing {
    match Sandbox::spawn(plan, capabilities, |_| {}) {
        Err(SandboxError::Unable { lacking, enforcement }) => {
            assert_eq!(enforcement, capabilities.enforcement());
            lacking
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_overlays_nothing_is_staged_but_everything_else_holds() {
    eclusa_testing::needs!(Namespaces);
    test_support::overlays().unwrap();
    let capabilities = probed();
    assert_eq!(capabilities.enforcement(), Enforcement::Partial(vec![Missing::Staging]));
    assert_eq!(capabilities.staging_method(), StagingMethod::InPlace);
    assert!(capabilities.because().unwrap().contains("overlay"), "{:?}", capabilities.because());
    let world = World::new();
    // A plan that stages is refused whatever it tolerates; one that doesn't has to say so.
    let mut staged = world.staged("touch new");
    staged.may_lack.push(Missing::Staging);
    assert_eq!(refused(&staged, &capabilities), Missing::Staging);
    let mut plan = world.in_place("touch new; touch ../outside/new; ls -d /proc/[0-9]* | wc -l");
    assert_eq!(refused(&plan, &capabilities), Missing::Staging);
    assert!(!world.has("ws/new"));
    plan.may_lack.push(Missing::Staging);
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    assert!(exit.output.text().contains("Read-only file system"), "{}", exit.output.text());
    assert_eq!(exit.enforcement, Enforcement::Partial(vec![Missing::Staging]));
    assert!(world.has("ws/new"));
}

const WITHOUT_NAMESPACES: [Missing; 3] =
    [Missing::Staging, Missing::Namespaces, Missing::FreshProc];

/// A machine without namespaces, and a plan that accepts it.
fn in_place(world: &World, text: &str) -> (Plan, HostCapabilities) {
    test_support::namespaces().unwrap();
    let capabilities = probed();
    assert_eq!(capabilities.enforcement(), Enforcement::Partial(WITHOUT_NAMESPACES.to_vec()));
    let mut plan = world.in_place(text);
    plan.may_lack = WITHOUT_NAMESPACES.to_vec();
    plan.env.push(("OUT".into(), world.path("outside").into()));
    (plan, capabilities)
}

#[test]
fn without_namespaces_landlock_and_seccomp_still_hold() {
    let world = World::new();
    let before = world.outside();
    std::fs::create_dir(world.path("hidden")).unwrap();
    std::fs::write(world.path("hidden/key"), "secret").unwrap();
    let text =
        "IFS=; touch new; echo x > $OUT/new; echo x >> $OUT/out.txt; rm $OUT/out.txt; mv in.txt $OUT
        cat $OUT/../hidden/key; ls $OUT/../hidden; cat $OUT/out.txt
        unshare -U true; echo x > /dev/tcp/127.0.0.1/22; echo x > /dev/udp/127.0.0.1/53
        cat /proc/$PPID/environ; kill -0 HOST && echo reached";
    let text = text.replace("HOST", &std::process::id().to_string());
    let (mut plan, capabilities) = in_place(&world, &text);
    assert_eq!(capabilities.staging_method(), StagingMethod::InPlace);
    plan.hide.push(world.path("hidden"));
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    let said = exit.output.text();
    let count = |what: &str| said.matches(what).count();
    assert_eq!((count("secret"), count("reached")), (0, 0), "{said}");
    assert_eq!(count("outside\n"), 1, "{said}");
    assert!(count("Permission denied") >= 6, "{said}");
    assert!(count("Operation not permitted") >= 3, "{said}");
    assert!(world.has("ws/new"));
    let after: Vec<_> =
        world.outside().into_iter().filter(|line| line.contains("out.txt")).collect();
    assert!(after.iter().all(|line| before.contains(line)));
    assert!(!world.has("outside/new") && !world.has("outside/in.txt"));
}

/// A kernel whose Landlock is older holds what it says, by the filter where Landlock does not.
#[test]
fn without_namespaces_nothing_outside_is_emptied_on_an_older_kernel_either() {
    let world = World::new();
    let text = "perl -e 'truncate \"$ENV{OUT}/out.txt\", 0 or print \"1 $!\\n\"'
        perl -MFcntl -e 'sysopen F, \"$ENV{OUT}/out.txt\", O_RDONLY | O_TRUNC or print \"2 $!\\n\"'
        echo > $OUT/out.txt; echo new > in.txt; cat $OUT/out.txt";
    let (plan, capabilities) = in_place(&world, text);
    for version in [1, 2, 5, 7] {
        let older = capabilities.clone().with_landlock(version);
        let mut plan = plan.clone();
        plan.may_lack = older.missing();
        let exit = Sandbox::spawn(&plan, &older, |_| {}).unwrap().wait().unwrap();
        let said = exit.output.text();
        assert!(said.contains("\n2 ") && said.starts_with("1 "), "{version}: {said}");
        assert!(said.ends_with("outside\n"), "{version}: {said}");
        assert_eq!(std::fs::read_to_string(world.path("outside/out.txt")).unwrap(), "outside\n");
        assert_eq!(world.read("ws/in.txt"), "new\n");
    }
}

#[test]
fn without_namespaces_other_processes_keep_their_limits_and_memory_is_not_shared() {
    let world = World::new();
    let text =
        "prlimit --pid HOST --nofile=3:3; prlimit --pid HOST --cpu=1; ipcmk -M 64; nice -n 1 true
        renice -n 5 -p HOST; ulimit -n 100 && echo own";
    let text = text.replace("HOST", &std::process::id().to_string());
    let (plan, capabilities) = in_place(&world, &text);
    let before = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    let said = exit.output.text();
    assert_eq!(said.matches("not permitted").count(), 4, "{said}");
    assert!(said.ends_with("own\n"), "{said}");
    assert_eq!(rustix::process::getrlimit(rustix::process::Resource::Nofile), before);
}

#[test]
fn without_namespaces_the_tree_is_ended_too() {
    let world = World::new();
    let text =
        "(setsid sleep 1235.1 &); perl -e 'fork and exit; exec qw(sleep 1235.1)'; sleep 1235.1";
    let (mut plan, capabilities) = in_place(&world, &crate::limits::marked(text, "1235.1"));
    plan.limits.wall = Some(Duration::from_secs(1));
    plan.limits.grace = Duration::from_secs(10);
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    assert_eq!((exit.ended, exit.how), (Some(Ended::Time), How::Signal(15)));
    assert_eq!(crate::limits::alive(&crate::limits::mark("1235.1")), Vec::<String>::new());
}

/// A chain of processes, each of which forks the next and is gone before anybody looks.
/// Shows H8.
#[test]
fn without_namespaces_nobody_outlives_the_call_by_forking_on() {
    let world = World::new();
    let text = "perl -MPOSIX -e 'open F, \">>\", \"b.txt\"; POSIX::setsid(); setpgrp(0, 0);
        while (1) { fork and POSIX::_exit(0); }' &
        perl -MPOSIX -e 'POSIX::setsid(); exec qw(sleep 1235.2)' & sleep 1235.2";
    let (mut plan, capabilities) = in_place(&world, &crate::limits::marked(text, "1235.2"));
    plan.limits.grace = Duration::from_millis(100);
    let sandbox = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap();
    while !world.ws().join("b.txt").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    sandbox.canceller().cancel();
    assert_eq!(sandbox.wait().unwrap().ended, Some(Ended::Cancelled));
    assert_eq!(crate::limits::alive(&crate::limits::mark("1235.2")), Vec::<String>::new());
    let open = world.ws().join("b.txt").canonicalize().unwrap();
    let handles = std::fs::read_dir("/proc").unwrap().flatten();
    let handles = handles.flat_map(|it| std::fs::read_dir(it.path().join("fd")).ok());
    let mut handles = handles.flat_map(|it| it.flatten());
    assert!(handles.all(|it| std::fs::read_link(it.path()).ok() != Some(open.clone())));
}

/// A container whose profile lets everything through but `setns`: each command has its own network.
#[test]
fn where_no_network_can_be_joined_each_command_has_its_own_and_all_hold() {
    eclusa_testing::needs!(Namespaces);
    test_support::joins().unwrap();
    let capabilities = probed();
    assert_eq!(capabilities.enforcement(), Enforcement::Full, "{capabilities:?}");
    assert!(!capabilities.shares_networks());
    assert!(SharedNetwork::new(&capabilities).is_err());
    let world = World::new();
    // Not the first of a program alone: later ones would be given a network that was made before.
    for _ in 0..4 {
        let exit = Sandbox::spawn(&world.read_only("echo ran"), &capabilities, |_| {});
        assert_eq!(exit.unwrap().wait().unwrap().output.text(), "ran\n");
    }
}

#[test]
fn without_landlock_the_namespaces_hold_and_the_status_says_so() {
    eclusa_testing::needs!(Namespaces);
    test_support::landlock().unwrap();
    let capabilities = probed();
    assert_eq!(capabilities.enforcement(), Enforcement::Partial(vec![Missing::Landlock]));
    assert_eq!(capabilities.landlock_version(), 0);
    let world = World::new();
    let mut plan = world.staged("touch new; touch ../outside/new");
    assert_eq!(refused(&plan, &capabilities), Missing::Landlock);
    plan.may_lack.push(Missing::Landlock);
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    assert!(exit.output.text().contains("Read-only file system"));
    assert!(world.has("state/upper/new"));
}

#[test]
fn without_filters_no_command_runs() {
    test_support::filters().unwrap();
    let capabilities = probed();
    assert_eq!(
        (capabilities.enforcement(), capabilities.staging_method()),
        (Enforcement::None, StagingMethod::Refuse)
    );
    let mut plan = World::new().read_only("true");
    plan.may_lack = vec![Missing::Seccomp, Missing::Staging, Missing::Namespaces];
    refused(&plan, &capabilities);
}

#[test]
fn with_nothing_at_all_no_command_runs() {
    test_support::landlock().unwrap();
    test_support::namespaces().unwrap();
    let capabilities = probed();
    assert_eq!(
        (capabilities.enforcement(), capabilities.staging_method()),
        (Enforcement::None, StagingMethod::Refuse)
    );
    let mut plan = World::new().read_only("true");
    plan.may_lack = capabilities.missing();
    refused(&plan, &capabilities);
}

#[test]
fn a_foreign_proc_is_said_to_be_one() {
    eclusa_testing::needs!(Namespaces);
    let capabilities = crate::world::capabilities().clone().without(Missing::FreshProc);
    let world = World::new();
    let mut plan = world.staged("cat /proc/$PPID/environ /proc/self/environ");
    assert_eq!(refused(&plan, &capabilities), Missing::FreshProc);
    plan.may_lack.push(Missing::FreshProc);
    let exit = Sandbox::spawn(&plan, &capabilities, |_| {}).unwrap().wait().unwrap();
    assert_eq!(exit.enforcement, Enforcement::Partial(vec![Missing::FreshProc]));
}
