//! What a snapshot does at its own bounds and where the disk is full: no command runs, or everything comes back.

use std::{fs, path::PathBuf, process::Command};

use eclusa_workspace::{SnapshotError, SnapshotOptions, Workspace};

use crate::world::{World, run, tree};

/// The bounds that hold where nobody says anything. A file is refused by its size, before it is read.
#[test]
fn two_hundred_thousand_names_and_four_gibibytes_are_the_most() {
    let refused = |world: &World| {
        let err = world.workspace.snapshot(&SnapshotOptions::default()).unwrap_err();
        assert!(matches!(err, SnapshotError::TooLarge(_)), "{err}");
        err.to_string()
    };
    let world = World::new("echo a > a; truncate -s 4G large");
    let err = refused(&world);
    assert!(err.contains("more than 4096 MiB in files"), "{err}");
    let pack = world.dir.path().join("state/snapshot/pack");
    assert!(fs::metadata(pack).unwrap().len() < 1000);
    let world = World::new("echo a > a");
    // Names of a few files: what is counted is names.
    for dir in 0..200 {
        let dir = world.root().join(dir.to_string());
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("0"), "").unwrap();
        for name in 1..1000 {
            fs::hard_link(dir.join("0"), dir.join(name.to_string())).unwrap();
        }
    }
    let err = refused(&world);
    assert!(err.contains("more than 200000 names") && err.contains("commands.live"), "{err}");
}

/// A filesystem of its own, if this process may mount one.
struct Small(tempfile::TempDir);

impl Small {
    fn new(size: &str) -> Option<Small> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "small"]).arg(dir.path());
        mount.output().is_ok_and(|it| it.status.success()).then(|| Small(dir))
    }

    fn ws(&self) -> PathBuf {
        let root = self.0.path().join("ws");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), vec![7; 100_000]).unwrap();
        fs::write(root.join("b"), "b").unwrap();
        root
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn where_the_disk_is_full_no_command_runs() {
    let (Some(small), Some(tiny)) = (Small::new("4m"), Small::new("64k")) else { return };
    let root = small.ws();
    let workspace = Workspace::attach(&root, tiny.0.path().join("state")).unwrap();
    let err = workspace.snapshot(&SnapshotOptions::default()).unwrap_err();
    assert!(matches!(err, SnapshotError::Failed(_)), "{err}");
    assert!(err.to_string().contains("No space left"), "{err}");
    assert!(!workspace.is_unfinished());
    assert!(fs::metadata(tiny.0.path().join("state/snapshot/pack")).unwrap().len() < 1000);
}

/// A command that fills the disk: what it wrote goes, so that what was there can come back.
#[test]
fn where_a_command_fills_the_disk_its_changes_are_dropped() {
    let Some(small) = Small::new("1m") else { return };
    let root = small.ws();
    let workspace = Workspace::attach(&root, small.0.path().join("state")).unwrap();
    let before = tree(&root);
    let snapshot = workspace.snapshot(&SnapshotOptions::default()).unwrap();
    let fill = "rm a b; dd if=/dev/zero of=big bs=1k 2>/dev/null";
    let _ = Command::new("bash").args(["-c", fill]).current_dir(&root).status();
    let layer = small.0.path().join("layer");
    let err = match fs::create_dir(&layer) {
        Ok(()) => snapshot.put_back(&layer).unwrap_err(),
        Err(_) => snapshot.put_back(&root).unwrap_err(),
    };
    assert!(matches!(err, SnapshotError::Dropped), "{err}");
    assert_eq!(tree(&root), before);
    assert!(!workspace.is_unfinished());
}

/// However little room there is left when it is put back: what was there comes back, now or when there is room.
#[test]
fn wherever_the_disk_becomes_full_the_workspace_comes_back() {
    let start = "mkdir d; for i in 1 2 3 4; do head -c 30000 /dev/zero | tr '\\0' $i > d/$i; done
        echo h > h1; ln h1 h2; ln -s d link; mkdir shut; echo s > shut/s";
    let (mut stuck, mut dropped, mut whole) = (0, 0, 0);
    for free in 0..40 {
        let Some(small) = Small::new("2m") else { return };
        let root = small.ws();
        run(&root, start);
        let workspace = Workspace::attach(&root, small.0.path().join("state")).unwrap();
        let before = tree(&root);
        let snapshot = workspace.snapshot(&SnapshotOptions::default()).unwrap();
        let layer = small.0.path().join("layer");
        fs::create_dir(&layer).unwrap();
        run(&root, "rm d/1; echo more >> d/2; mv d e; echo x > h1; rm -r shut link; echo n > n");
        // Somebody else fills the disk, but for this much.
        let filler = small.0.path().join("filler");
        let fill = format!(
            "dd if=/dev/zero of=filler bs=4k 2>/dev/null; truncate -s -{}k filler",
            4 * free
        );
        let _ = Command::new("bash").args(["-c", &fill]).current_dir(small.0.path()).status();
        match snapshot.put_back(&layer) {
            Ok(outcome) => {
                assert_eq!(tree(&root), before, "{free}");
                assert!(!outcome.changes.is_empty());
                whole += 1;
            }
            Err(SnapshotError::Dropped) => {
                assert_eq!(tree(&root), before, "{free}");
                dropped += 1;
            }
            Err(SnapshotError::Stuck(_)) => {
                assert!(workspace.is_unfinished());
                fs::remove_file(filler).unwrap();
                workspace.recover().unwrap();
                assert_eq!(tree(&root), before, "{free}");
                stuck += 1;
            }
            Err(other) => panic!("{free}: {other}"),
        }
        assert!(!workspace.is_unfinished());
    }
    assert!(stuck > 0 && whole > 0 && stuck + dropped + whole == 40, "{stuck} {dropped} {whole}");
}

/// However little room there is for the copies: the command does not run, or everything is copied.
#[test]
fn wherever_the_disk_becomes_full_while_it_is_copied_nothing_runs() {
    let world = World::new("for i in 1 2 3 4 5; do head -c 20000 /dev/urandom > $i; done");
    let before = world.tree();
    let (mut refused, mut taken) = (0, 0);
    for size in (16..200).step_by(8) {
        let Some(tiny) = Small::new(&format!("{size}k")) else { return };
        let state = tiny.0.path().join("state");
        let Ok(workspace) = Workspace::attach(world.root(), &state) else { continue };
        match workspace.snapshot(&SnapshotOptions::default()) {
            Ok(snapshot) => {
                drop(snapshot);
                taken += 1;
            }
            Err(err) => {
                assert!(err.to_string().contains("No space left"), "{err}");
                assert!(!state.join("snapshot/journal").exists());
                refused += 1;
            }
        }
        assert!(!workspace.is_unfinished());
        assert_eq!(world.tree(), before);
    }
    assert!(refused > 5 && taken > 2, "{refused} {taken}");
}
