//! A directory of 200,000 entries and a million matches, in bounded memory. Alone in its process,
//! because the peak of a process is what is measured.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and makes its files as it likes"
)]

use std::{fs, sync::Arc};

use eclusa::{Blocked, Files, Gate, House, MemoryLog, Registry, Rules, ToolCall};
use eclusa_tools::search::{Glob, Grep, List};
use serde_json::{Value, json};

/// More than this over the baseline no single call may take.
const MOST: usize = 64 << 10;

/// What the process took at the most since the last look, and takes now, in KB.
fn memory() -> (usize, usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|it| it.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmHWM:"), field("VmRSS:"))
}

#[test]
#[ignore = "makes 200,000 files, which takes minutes on a busy machine"]
fn searching_200_000_entries_and_a_million_matches_takes_less_than_64_mb() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path();
    fs::create_dir(root.join("many")).unwrap();
    fs::write(root.join("many/first"), "hit\n").unwrap();
    for at in 0..200_000 {
        // Second names of one file are files too, and quicker to make.
        fs::hard_link(root.join("many/first"), root.join(format!("many/{at:06}-some-name.txt")))
            .or_else(|_| fs::write(root.join(format!("many/{at:06}-some-name.txt")), "hit\n"))
            .unwrap();
    }
    fs::write(root.join("million.txt"), format!("{}\n", "hit ".repeat(20)).repeat(1_000_000))
        .unwrap();
    let files = Files::open(root, Blocked::default()).unwrap();
    let registry = Registry::new();
    registry.add(List::new(files.clone())).unwrap();
    registry.add(Glob::new(files.clone())).unwrap();
    registry.add(Grep::new(files)).unwrap();
    let log = Arc::new(MemoryLog::default());
    let gate = Gate::new(House::new(Arc::new(registry), Rules::new(Vec::new(), root), log));
    let calls: [(&str, Value); 7] = [
        ("list", json!({"path": "many"})),
        ("list", json!({"recursive": true})),
        ("glob", json!({"pattern": "*.txt", "offset": 99_000, "limit": 1000})),
        ("grep", json!({"pattern": "hit", "path": "million.txt", "limit": 1000})),
        ("grep", json!({"pattern": "hit", "limit": 1000})),
        ("grep", json!({"pattern": "hit", "output": "count"})),
        ("grep", json!({"pattern": "no such thing"})),
    ];
    for (tool, args) in calls {
        // Forgets the peak so far.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let (_, before) = memory();
        let reply = gate.pass_blocking(ToolCall::new("1", tool, args.clone())).unwrap();
        assert!(!reply.is_error(), "{}", reply.content());
        let (peak, _) = memory();
        let took = peak.saturating_sub(before);
        println!("{tool} {args}: {took} KB, {:?}", reply.run_time());
        assert!(took < MOST, "{tool} {args} took {took} KB");
    }
}
