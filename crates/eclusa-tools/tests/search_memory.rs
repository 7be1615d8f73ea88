//! A directory of 200,000 entries, a million matches and a line of 100 MB, in bounded memory. Alone in its process,
//! because the peak of a process is what is measured.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and makes its files as it likes"
)]

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{Blocked, Decision, Files, Gate, MemoryLog, Registry, Rule, Rules, ToolCall};
use eclusa_config::Config;
use eclusa_tools::search::{Glob, Grep, List};
use serde_json::{Value, json};

/// More than this over the baseline no single call may take.
const MAX_KIB: usize = 64 << 10;

/// What the process took at the most since the last look, and takes now, in KB.
fn memory() -> (usize, usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|it| it.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmHWM:"), field("VmRSS:"))
}

/// The peak is that of the process, so the tests here take turns.
static ALONE: Mutex<()> = Mutex::new(());

/// Looks at a directory of so many entries, a file of so many matching lines and a line of so many
/// bytes. No call may take more than so many KB over what the process took before it.
fn look(entries: usize, lines: usize, bytes: usize, most: usize) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // What somebody else has built is only read.
    let outer = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).or_else(|_| tempfile::tempdir());
    let outer = outer.unwrap();
    let root = outer.path();
    fs::create_dir(root.join("many")).unwrap();
    fs::write(root.join("many/first"), "hit\n").unwrap();
    for at in 0..entries {
        // Second names of one file are files too, and quicker to make.
        fs::hard_link(root.join("many/first"), root.join(format!("many/{at:06}-some-name.txt")))
            .or_else(|_| fs::write(root.join(format!("many/{at:06}-some-name.txt")), "hit\n"))
            .unwrap();
    }
    let mut file = BufWriter::new(File::create(root.join("matches.txt")).unwrap());
    let line = format!("{}\n", "hit ".repeat(20));
    (0..lines).for_each(|_| file.write_all(line.as_bytes()).unwrap());
    file.flush().unwrap();
    let mut file = BufWriter::new(File::create(root.join("one-line.txt")).unwrap());
    (0..bytes / 4).for_each(|_| file.write_all(b"hit ").unwrap());
    file.flush().unwrap();
    let files = Files::open(root, Blocked::default()).unwrap();
    let registry = Registry::new();
    registry.add(List::new(files.clone())).unwrap();
    registry.add(Glob::new(files.clone())).unwrap();
    registry.add(Grep::new(files)).unwrap();
    let log = Arc::new(MemoryLog::default());
    // The shipped rules and two more are asked about every name.
    let mut rules = Config::load(&[]).unwrap().rules;
    rules.push(Rule::new(Decision::Deny).path(["*.sqlite"]).unwrap());
    rules.push(Rule::new(Decision::Ask).path(["private/**"]).unwrap());
    let gate = Gate::builder()
        .registry(registry)
        .policy(Rules::new(rules, root))
        .log(log)
        .build()
        .unwrap();
    // As far as anybody can page.
    let far = (entries / 2).min(99_000);
    let calls: [(&str, Value); 9] = [
        ("list", json!({"path": "many"})),
        ("list", json!({"recursive": true})),
        ("glob", json!({"pattern": "*.txt", "offset": far, "limit": 1000})),
        ("grep", json!({"pattern": "hit", "path": "matches.txt", "limit": 1000})),
        ("grep", json!({"pattern": "hit", "path": "one-line.txt"})),
        ("grep", json!({"pattern": "h.t", "path": "one-line.txt", "multiline": true})),
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
        assert!(took < most, "{tool} {args} took {took} KB");
        if args.get("path").is_some_and(|it| it == "one-line.txt") {
            assert!(reply.text().contains("1 not to the end"), "{}", reply.text());
        }
    }
}

#[test]
fn what_a_search_takes_does_not_grow_with_what_is_there() {
    look(10_000, 200_000, 20 << 20, MAX_KIB / 2);
}

#[test]
fn searching_many_entries_and_a_million_matches_takes_less_than_64_mb() {
    let more = std::env::var("ECLUSA_TEST_CASES").ok().and_then(|it| it.parse().ok());
    look(more.unwrap_or(20_000), 1_000_000, 100 << 20, MAX_KIB);
}
