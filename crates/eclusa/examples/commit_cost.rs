//! What a commit and its undo cost: 1,000 small files at once, one file a thousand times, and the
//! same beside a workspace of many files.

#![expect(clippy::unwrap_used, reason = "a failure is the end of the measurement")]
#![expect(clippy::disallowed_methods, reason = "it makes the files that it measures with")]

use std::{fs, path::Path, time::Instant};

use eclusa::{
    Change, Changes, Content, ContentDigest, Durability, FileNode, Node, Stamp, Workspace,
};

fn main() {
    let dir = tempfile::tempdir().unwrap();
    for (label, others) in [("empty", 0), ("20,000 other files", 20_000)] {
        let root = dir.path().join(format!("ws{others}"));
        let state = dir.path().join(format!("state{others}"));
        populate(&root, "other", others);
        populate(&root, "file", 1000);
        let (ws, _) = Workspace::open(&root, &state).unwrap();
        for round in 0..5 {
            let changes = Changes::of((0..1000).map(|n| alter(&root, n, round)));
            let start = Instant::now();
            ws.commit(round * 10 + 1, &changes, Durability::Crash).unwrap();
            let committed = start.elapsed();
            let start = Instant::now();
            ws.undo(round * 10 + 2, &[round * 10 + 1], Durability::Crash).unwrap();
            let undone = start.elapsed();
            println!("{label}: commit of 1,000 files {committed:?}, undo {undone:?}");
        }
        let changes: Vec<Changes> = (0..1000).map(|n| Changes::of([alter(&root, n, 99)])).collect();
        let start = Instant::now();
        for (call, changes) in (1000..).zip(&changes) {
            ws.commit(call, changes, Durability::Crash).unwrap();
        }
        println!("{label}: 1,000 commits of one file {:?}", start.elapsed());
        let start = Instant::now();
        ws.undo(5000, &[1999], Durability::Crash).unwrap();
        println!("{label}: undo of one of 1,000 {:?}", start.elapsed());
    }
}

fn populate(root: &Path, kind: &str, files: usize) {
    for n in 0..files {
        let dir = root.join(format!("d{}", n / 100));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("{kind}{n}")), format!("line\n{n}\n").repeat(50)).unwrap();
    }
    fs::create_dir_all(root).unwrap();
}

fn alter(root: &Path, n: u64, round: u64) -> Change {
    use std::os::unix::fs::MetadataExt;
    let path = format!("d{}/file{n}", n / 100);
    let (content, meta) =
        (fs::read(root.join(&path)).unwrap(), fs::metadata(root.join(&path)).unwrap());
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let before = FileNode {
        digest: ContentDigest::of(&content),
        size: meta.len(),
        mode: meta.mode() & 0o7777,
        content: Content::InPlace,
        stamp: Some(Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }),
    };
    let mode = before.mode;
    let mut new = content;
    new.extend_from_slice(format!("round {round}\n").as_bytes());
    Change {
        path: path.into(),
        from: None,
        before: Some(Node::File(before)),
        after: Some(Node::File(FileNode::new(new, mode))),
    }
}
