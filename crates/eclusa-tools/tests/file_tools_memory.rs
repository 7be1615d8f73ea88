//! The largest files that are edited, in bounded memory. Alone in its process, because the peak of
//! a process is what is measured.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and makes its files as it likes"
)]

use std::{fs, sync::Arc};

use eclusa::{
    Blocked, Files, Gate, Limits, MemoryLog, Mode, Registry, Rules, Run, ToolCall, Workspace,
};
use eclusa_tools::{FileToolContext, register_file_tools};
use serde_json::{Value, json};

/// More than this over the baseline no single call may take, in KB.
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

/// Marks the process that is measured.
const CHILD: &str = "ECLUSA_TEST_MEASURED";

#[test]
fn editing_files_of_10_mb_takes_less_than_64_mb() {
    // The allocator gives back at once what is large, so that what is measured is what is used.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "measured", "--nocapture"])
        .env(CHILD, "1")
        .env("MALLOC_MMAP_THRESHOLD_", "65536")
        .env("MALLOC_TRIM_THRESHOLD_", "65536")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    let erred = String::from_utf8_lossy(&child.stderr);
    println!("{said}");
    assert!(child.status.success() && said.contains("1 passed"), "{said}\n{erred}");
}

#[test]
fn measured() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("ws");
    fs::create_dir(&root).unwrap();
    let full = |line: &[u8]| line.repeat((10 << 20) / line.len() - 8);
    let with = |line: &[u8], first: &[u8]| [first, &full(line)].concat();
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let files: [(&str, Vec<u8>); 4] = [
        ("utf8", with(b"a line of text, as there are many\n", b"one\n")),
        ("mixed", with(b"mixed\r\n", b"one\n")),
        ("latin", with(b"\xE9t\xE9\n", b"one\n")),
        ("wide", [wide("\u{FEFF}one\n"), full(&wide("wide line\n"))].concat()),
    ];
    for (name, content) in &files {
        fs::write(root.join(name), content).unwrap();
    }
    drop(files);
    let registry = Arc::new(Registry::new());
    let context = FileToolContext::new(Files::open(&root, Blocked::default()).unwrap());
    register_file_tools(&registry, &context).unwrap();
    let log = Arc::new(MemoryLog::default());
    let mut setup = Gate::builder()
        .registry(registry)
        .policy(Rules::new(Vec::new(), &root))
        .log(log)
        .workspace(Workspace::open(&root, outer.path().join("state")).unwrap().0)
        .durability(eclusa::Durability::Crash);
    // Memory is measured here; an unoptimised build on a busy machine takes its time.
    setup = setup.limits(Limits { time: std::time::Duration::from_secs(600), ..Limits::default() });
    let gate = setup.build().unwrap().for_run(Run { mode: Mode::Yolo, ..Run::default() });
    let mut calls: Vec<(&str, Value)> = Vec::new();
    for name in ["utf8", "mixed", "latin", "wide"] {
        let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
        let patch =
            format!("*** Begin Patch\n*** Update File: {name}\n@@\n-three\n+four\n*** End Patch\n");
        calls.push(("edit", json!({"path": name, "old_string": "one\n", "new_string": "two\n"})));
        let edits = [edit("two\n", "2\n"), edit("2\n", "three\n")];
        calls.push(("multi_edit", json!({"path": name, "edits": edits})));
        calls.push(("apply_patch", json!({"patch": patch})));
        calls.push(("write", json!({"path": name, "content": "x\n", "append": true})));
        let all =
            json!({"path": name, "old_string": "\n", "new_string": "\n\n", "replace_all": true});
        calls.push(("edit", all));
        calls.push(("read", json!({"path": name})));
        calls.push(("write", json!({"path": name, "content": "short"})));
    }
    let mut faults = Vec::new();
    for (tool, args) in calls {
        // Forgets the peak so far.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let (_, before) = memory();
        let reply = gate.pass_blocking(ToolCall::new("1", tool, args.clone())).unwrap();
        let (peak, _) = memory();
        let took = peak.saturating_sub(before);
        let told = format!("{tool} {args}: {took} KB, {:?}, {}", reply.run_time(), reply.code());
        println!("{told}");
        let large = ["too large together", "files of up to", "more than the"];
        let refused = large.iter().any(|it| reply.content().contains(it));
        if (reply.is_error() && !refused) || took >= MAX_KIB {
            faults
                .push(format!("{told} {}", reply.content().chars().take(300).collect::<String>()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
