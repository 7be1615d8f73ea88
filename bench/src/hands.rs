//! File tools through the whole gate, with the SQLite log and undo, beside plain reads and renames.
//! Log and undo survive the end of the process (`crash`), and then once more the loss of power.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::{
    Blocked, Decision, Durability, Files, Gate, Limits, Registry, Rule, Rules, ToolCall, Workspace,
};
use eclusa_store::{Options, SqliteStore};
use eclusa_tools::{FileToolContext, Read, register_file_tools};
use serde_json::{Value, json};

use crate::measure::{Told, line};

const FILES: usize = 1_000;
const ROUNDS: usize = 5;
/// Enough for a page that is a whole file.
const PAGE: usize = 8 << 20;

pub(crate) fn run() -> Told {
    let place = tempfile::tempdir_in(".")?;
    let safe = Safe { log: eclusa_store::Durability::Crash, undo: Durability::Crash };
    let room = Room::new(place.path(), "crash", safe)?;
    room.small_files()?;
    room.large_files()?;
    let safe = Safe { log: eclusa_store::Durability::PowerLoss, undo: Durability::PowerLoss };
    Room::new(place.path(), "power-loss", safe)?.synced()
}

/// What survives the loss of power.
struct Safe {
    log: eclusa_store::Durability,
    undo: Durability,
}

struct Room {
    root: PathBuf,
    gate: Gate,
    runtime: tokio::runtime::Runtime,
}

impl Room {
    fn new(place: &Path, name: &str, safe: Safe) -> Result<Room, Box<dyn std::error::Error>> {
        let (place, root) = (place.join(name), place.join(name).join("workspace"));
        fs::create_dir_all(&root)?;
        let files = Files::open(&root, Blocked::default())?;
        let hands = FileToolContext::new(files.clone()).max_size(64 << 20);
        let registry = Registry::new();
        register_file_tools(&registry, &hands)?;
        registry.remove("read")?;
        registry.add(Read::new(files).read_tracker(hands.read_tracker()).shown(PAGE))?;
        let rule = Rule::new(Decision::Allow).path(["**"])?;
        // As `eclusa mcp` has it.
        let options = Options { durability: safe.log, one_client: true, ..Options::default() };
        let store = SqliteStore::open(&place.join("log.db"), options)?;
        let setup = Gate::builder()
            .registry(registry)
            .policy(Rules::new(vec![rule], &root))
            .log(Arc::new(store))
            .limits(Limits { output: PAGE, ..Limits::default() })
            .workspace(Workspace::open(&root, place.join("state"))?.0)
            .durability(safe.undo);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
        Ok(Room { root, gate: setup.build()?, runtime })
    }

    /// The time of one call, which must succeed.
    fn call(&self, tool: &str, args: Value) -> Result<Duration, Box<dyn std::error::Error>> {
        let start = Instant::now();
        let reply = self.runtime.block_on(self.gate.pass(ToolCall::new("c", tool, args)));
        match reply.is_error() {
            false => Ok(start.elapsed()),
            true => Err(format!("{tool}: {}", reply.content()).into()),
        }
    }

    /// The shortest time of several rounds of a thousand calls.
    fn thousand(
        &self,
        tool: &str,
        args: impl Fn(usize, usize) -> Value,
    ) -> Result<Duration, Box<dyn std::error::Error>> {
        let mut shortest = Duration::MAX;
        for round in 0..ROUNDS {
            let mut sum = Duration::ZERO;
            for n in 0..FILES {
                sum += self.call(tool, args(n, round))?;
            }
            shortest = shortest.min(sum);
        }
        Ok(shortest)
    }

    fn write_small_files(&self) -> std::io::Result<()> {
        let content = format!("version 0\n{}", "line\n".repeat(50));
        (0..FILES).try_for_each(|n| put(&self.root.join(format!("f{n}")), content.as_bytes()))
    }

    fn thousand_edits(&self) -> Result<Duration, Box<dyn std::error::Error>> {
        self.thousand("edit", |n, round| {
            let (old, new) = (format!("version {round}"), format!("version {}", round + 1));
            json!({"path": format!("f{n}"), "old_string": old, "new_string": new})
        })
    }

    /// The baseline comes last, because it deletes: some filesystems (ext4 without a journal) take
    /// long to make files for minutes after many were deleted.
    fn small_files(&self) -> Told {
        self.write_small_files()?;
        let edits = self.thousand_edits()?;
        let read = self.thousand("read", |n, _| json!({"path": format!("f{n}")}))?;
        let mut renames = Duration::MAX;
        let mut reads = Duration::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for n in 0..FILES {
                std::hint::black_box(fs::read(self.root.join(format!("f{n}")))?);
            }
            reads = reads.min(start.elapsed());
            let start = Instant::now();
            for n in 0..FILES {
                let path = self.root.join(format!("f{n}"));
                let text = fs::read_to_string(&path)?;
                let beside = self.root.join("beside");
                put(&beside, text.as_bytes())?;
                #[expect(
                    clippy::disallowed_methods,
                    reason = "it is what edits are compared with"
                )]
                fs::rename(&beside, &path)?;
            }
            renames = renames.min(start.elapsed());
        }
        line("baseline: read 1,000 files, write beside, rename", renames, renames);
        line("1,000 edits of small files (goal: 150 ms)", edits, renames);
        line("baseline: read 1,000 files", reads, reads);
        line("1,000 small reads (goal: 50 ms)", read, reads);
        Ok(())
    }

    /// The same with log and undo safe from the loss of power, for one caller at a time.
    fn synced(&self) -> Told {
        let start = Instant::now();
        let mut file = fs::File::create(self.root.join("synced"))?;
        for _ in 0..FILES {
            file.write_all(&[b'x'; 500])?;
            file.sync_data()?;
        }
        let syncs = start.elapsed();
        line("baseline: append to a file and sync it, 1,000 times", syncs, syncs);
        self.write_small_files()?;
        let read = self.thousand("read", |n, _| json!({"path": format!("f{n}")}))?;
        line("1,000 small reads, log synced", read, syncs);
        line("1,000 edits, log and undo synced", self.thousand_edits()?, syncs);
        Ok(())
    }

    fn large_files(&self) -> Told {
        let root = &self.root;
        let ten = format!("{}version 0\n", "0123456789abcdef\n".repeat((10 << 20) / 17));
        put(&root.join("ten"), ten.as_bytes())?;
        let mut edit = Duration::MAX;
        for round in 0..ROUNDS {
            let (old, new) = (format!("version {round}"), format!("version {}", round + 1));
            let args = json!({"path": "ten", "old_string": old, "new_string": new});
            edit = edit.min(self.call("edit", args)?);
        }
        let mut plain = Duration::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            std::hint::black_box(fs::read(root.join("ten"))?);
            plain = plain.min(start.elapsed());
        }
        line("baseline: read 10 MB", plain, plain);
        line("one line of a 10 MB file (goal: 100 ms)", edit, plain);
        put(&root.join("five"), "0123456789abcdef\n".repeat((5 << 20) / 17).as_bytes())?;
        let mut read = Duration::MAX;
        for _ in 0..ROUNDS {
            read = read.min(self.call("read", json!({"path": "five", "limit": 1_000_000}))?);
        }
        line("read of 5 MB, all lines (goal: 30 ms)", read, plain);
        Ok(())
    }
}

fn put(path: &Path, content: &[u8]) -> std::io::Result<()> {
    fs::File::create(path)?.write_all(content)
}
