//! Behind a filter like a container's: commands run on the real files, which are put back before what
//! they did is judged.

use std::{
    fs,
    process::{Command, Stdio},
};

use crate::{
    exec::{mark, running},
    world::{Ran, World, wait_until},
};

const SNAPSHOT: &str = "[commands]\nleast = \"snapshot\"\n";

/// Does this where no namespace can be made: what is taken from a thread is taken from what it starts.
fn contained(act: impl FnOnce() + Send + 'static) {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::container().unwrap();
        act();
    });
    started.join().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
fn git(world: &World, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]).args(args);
    let ran = git.current_dir(world.path("workspace")).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

fn last_sandbox(world: &World) -> String {
    let ended = world.records().into_iter().rfind(|it| it["event"] == "ended");
    ended.unwrap()["sandbox"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn changes_are_applied_undone_and_on_record_as_anywhere() {
    contained(|| {
        let world = World::with(SNAPSHOT);
        world.write("workspace/base", "old\n");
        world.write("workspace/gone", "gone\n");
        let script = "echo new >> base; rm gone; mkdir d; echo x > d/x; echo said";
        let ran = world.eclusa(&["exec", "--apply", "--", script]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("said"), "{ran:?}");
        assert_eq!(world.read("workspace/base"), "old\nnew\n");
        assert_eq!(world.read("workspace/d/x"), "x\n");
        assert!(!world.path("workspace/gone").exists());
        assert_eq!(last_sandbox(&world), "snapshot, without namespaces, a /proc of its own");
        let ran = world.eclusa(&["undo"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(world.read("workspace/base"), "old\n");
        assert_eq!(world.read("workspace/gone"), "gone\n");
        assert!(!world.path("workspace/d").exists());
        let doctor: Ran = world.eclusa(&["doctor"]);
        assert!(doctor.out.contains("level: snapshot"), "{doctor:?}");
    });
}

#[test]
fn a_preview_and_a_no_leave_everything_as_it_was() {
    contained(|| {
        let world = World::with(SNAPSHOT);
        world.write("workspace/base", "kept\n");
        let words = ["--mode", "yolo", "exec", "--discard", "--", "echo no > new; rm base; exit 5"];
        let ran = world.eclusa(&words);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert_eq!(world.read("workspace/base"), "kept\n");
        assert!(!world.path("workspace/new").exists());
        // Nobody is there to ask: deleting is not a change that goes without saying.
        let ran = world.eclusa(&["run", "bash", r#"{"command": "rm base"}"#]);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("discarded"), "{ran:?}");
        assert_eq!(world.read("workspace/base"), "kept\n");
    });
}

/// What tools make and remake is not copied, and what changed in it is told.
#[test]
fn build_output_stays_and_is_told() {
    contained(|| {
        let world = World::with(SNAPSHOT);
        git(&world, &["init", "-q"]);
        fs::create_dir_all(world.path("workspace/node_modules/x")).unwrap();
        world.write("workspace/node_modules/x/index.js", "old\n");
        world.write("workspace/src", "src\n");
        let script =
            "echo new > node_modules/x/index.js; echo evil > node_modules/evil; echo y > src";
        let ran = world.eclusa(&["exec", "--discard", "--", script]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let told = format!("{}{}", ran.out, ran.err);
        assert!(told.contains("changed 2 files in `node_modules`, which stay"), "{ran:?}");
        assert_eq!(world.read("workspace/src"), "src\n");
        assert_eq!(world.read("workspace/node_modules/evil"), "evil\n");
    });
}

/// Killed without warning while the command runs: the next start ends what is left of the command, puts
/// the files back and keeps what was written.
#[test]
fn killed_while_a_command_runs_on_the_real_files() {
    contained(|| {
        let world = World::with(SNAPSHOT);
        world.write("workspace/base", "kept\n");
        let long = mark("7531.5");
        let script = format!("echo half > base; echo new > new; (sleep {long} &); sleep {long}");
        let mut command = world.command(&["exec", "--apply", "--", &script]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_until("both sleeps run", || running(&long) == 2);
        assert_eq!(world.read("workspace/base"), "half\n", "it runs on the real files");
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = world.eclusa(&["exec", "--apply", "--", "cat base"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("a command died while it ran on the real files"), "{ran:?}");
        assert!(ran.out.contains("kept"), "{ran:?}");
        assert_eq!(running(&long), 0, "nothing of it runs any more");
        assert_eq!(world.read("workspace/base"), "kept\n");
        assert!(!world.path("workspace/new").exists());
        let rescued = world.store().with_file_name("undo").join("rescued");
        let kept = fs::read_dir(rescued).unwrap().next().unwrap().unwrap().path();
        assert_eq!(fs::read_to_string(kept.join("new")).unwrap(), "new\n");
    });
}

/// Beyond the bounds nothing runs, and the bound is named.
#[test]
fn what_cannot_be_put_back_is_not_run() {
    contained(|| {
        let world = World::with(SNAPSHOT);
        let mut file = fs::File::create(world.path("workspace/huge")).unwrap();
        file.set_len(5 << 30).unwrap();
        std::io::Write::flush(&mut file).unwrap();
        let ran = world.eclusa(&["exec", "--apply", "--", "echo x > made"]);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("more than 4096 MiB in files"), "{ran:?}");
        assert!(ran.err.contains("commands.live"), "{ran:?}");
        assert!(!world.path("workspace/made").exists());
    });
}
