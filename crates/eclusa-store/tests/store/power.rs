//! What is left after a power loss: only what was synced, under names that were synced.
//!
//! A small library between the child and the disk keeps a copy of every file as it was at its
//! last sync, and a note of every name that a directory held at its last sync. Whatever else the
//! child wrote may survive a power loss or not, so both are tried for each file.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use tempfile::TempDir;

use crate::{
    child::{Running, command},
    processes::missing,
    room::Room,
};
use eclusa_store::{Options, SqliteStore};

/// The library between, compiled once.
fn shim() -> &'static Path {
    static SHIM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = SHIM.get_or_init(|| {
        // A blank or a colon in its path would end it, for the one who loads it.
        let usual = std::env::temp_dir();
        let ends = |it: &u8| b" :".contains(it);
        let place = match usual.as_os_str().as_encoded_bytes().iter().any(ends) {
            true => Path::new("/tmp"),
            false => &usual,
        };
        let directory = TempDir::new_in(place).unwrap();
        let path = directory.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/shim.c");
        #[expect(clippy::disallowed_methods, reason = "the compiler that SQLite is built with")]
        let mut compiler = Command::new("cc");
        let compiled = compiler
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&path, &source])
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(compiled.success());
        (directory, path)
    });
    path
}

/// A child whose disk is watched. Faults are files in the second directory.
pub(crate) fn watched(room: &Room, task: &str, faults: &Path, survivors: &Path) -> Command {
    let mut command = command(task, &room.path());
    let state = fs::canonicalize(room.directory.path()).unwrap().join("state");
    command
        .env("LD_PRELOAD", shim())
        .env("ECLUSA_TEST_WATCHED", state)
        .env("ECLUSA_TEST_FAULTS", faults)
        .env("ECLUSA_TEST_SURVIVORS", survivors);
    command
}

const FILES: [&str; 2] = ["store.db", "store.db-wal"];

/// A store whose disk is watched until the power is gone.
pub(crate) struct PowerLoss {
    pub(crate) room: Room,
    survivors: TempDir,
    faults: TempDir,
}

impl PowerLoss {
    pub(crate) fn new() -> PowerLoss {
        let (survivors, faults) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        PowerLoss { room: Room::new(), survivors, faults }
    }

    /// The child that writes to it.
    pub(crate) fn command(&self, task: &str, durability: &str) -> Command {
        let mut command = watched(&self.room, task, self.faults.path(), self.survivors.path());
        command.env("ECLUSA_TEST_DURABILITY", durability);
        command
    }
}

/// Shows each thing that may be left of the store: of each file what was synced, or all of it.
pub(crate) fn each_loss(loss: &PowerLoss, look: impl Fn(&Path)) {
    for unsynced in 0..1 << FILES.len() {
        let left = TempDir::new().unwrap();
        for (place, file) in FILES.iter().enumerate() {
            let entered = loss.survivors.path().join(format!("{file}.entry")).exists();
            let from = match unsynced >> place & 1 {
                0 => loss.survivors.path().join(file),
                _ => loss.room.path().with_file_name(file),
            };
            // A name without content is an empty file; content without a name is lost.
            match entered && from.exists() {
                true => drop(fs::copy(from, left.path().join(file)).unwrap()),
                false if entered => drop(fs::File::create(left.path().join(file)).unwrap()),
                false => {}
            }
        }
        look(&left.path().join(FILES[0]));
    }
}

/// How many acknowledged records are missing after a power loss, at worst.
fn missing_after_a_power_loss(durability: &str) -> usize {
    let worst = Cell::new(0);
    for kill_after in [1, 30, 100, 161] {
        let loss = PowerLoss::new();
        let mut child = Running::start(loss.command("append-and-move", durability));
        let mut said: Vec<String> = (0..kill_after).map(|_| child.next().unwrap()).collect();
        said.extend(child.kill());
        said.retain(|said| said.split_once(' ').is_some_and(|(_, hash)| hash.len() == 64));
        assert!(loss.survivors.path().join(FILES[1]).exists() || durability == "crash");
        each_loss(&loss, |left| {
            let store = SqliteStore::open(left, Options::default()).unwrap();
            worst.set(worst.get().max(missing(&store, &said)));
        });
    }
    worst.get()
}

#[test]
fn what_was_acknowledged_survives_a_power_loss_at_power_loss() {
    assert_eq!(missing_after_a_power_loss("power-loss"), 0);
}

/// `crash` promises less: the last records may be missing. How many is not asserted, because
/// nothing is promised; what is left is one whole chain, which is checked for each loss.
#[test]
fn after_a_power_loss_at_crash_the_rest_is_one_whole_chain() {
    let missing = missing_after_a_power_loss("crash");
    eprintln!("{missing} acknowledged records were lost, as `crash` allows");
}

/// Asking, answering and taking are one transaction each, whether somebody waits or comes back; and
/// each of them is durable before it is told.
#[test]
fn a_question_its_answer_and_taking_it_wait_for_the_disk_once_each() {
    let child = PowerLoss::new();
    let command = child.command("ask-answer-take", "power-loss");
    assert_eq!(Running::start(command).finish(), ["waits: 3", "comes back: 3"]);
}
