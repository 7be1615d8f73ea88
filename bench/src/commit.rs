//! Making 1,000 changed files real and taking it back, beside plainly writing and renaming them.

use std::{
    fs,
    io::Write,
    os::unix::fs::MetadataExt,
    path::Path,
    time::{Duration, Instant},
};

use eclusa::{
    Change, Changes, Durability, FileNode, Node, Workspace,
    workspace::{Content, ContentDigest, Stamp},
};

use crate::measure::{Told, line};

const FILES: u64 = 1_000;
const ROUNDS: u64 = 7;

pub(crate) fn run() -> Told {
    let place = tempfile::tempdir_in(".")?;
    let baseline = plain(&place.path().join("plain"))?;
    line("baseline: write 1,000 files beside and rename them", baseline, baseline);
    for (label, others) in [("alone", 0), ("in a workspace of 20,000 others", 20_000)] {
        let root = place.path().join(format!("ws{others}"));
        populate(&root, "other", others)?;
        populate(&root, "file", FILES)?;
        let (workspace, _) = Workspace::open(&root, place.path().join(format!("state{others}")))?;
        let (mut commit, mut undo) = (Duration::MAX, Duration::MAX);
        for round in 0..ROUNDS {
            let changes = Changes::of(altered(&root, round)?);
            let start = Instant::now();
            workspace.commit(round * 10 + 1, &changes, Durability::Crash)?;
            commit = commit.min(start.elapsed());
            let start = Instant::now();
            workspace.undo(round * 10 + 2, &[round * 10 + 1], Durability::Crash)?;
            undo = undo.min(start.elapsed());
        }
        line(&format!("commit of 1,000 files, {label} (goal: 30 ms)"), commit, baseline);
        line(&format!("undo of 1,000 files, {label} (goal: 30 ms)"), undo, baseline);
    }
    Ok(())
}

/// What anybody would do: write each file beside the old one, and rename it over that.
fn plain(root: &Path) -> Result<Duration, Box<dyn std::error::Error>> {
    populate(root, "file", FILES)?;
    let mut shortest = Duration::MAX;
    for round in 0..ROUNDS {
        let changes = altered(root, round)?;
        let start = Instant::now();
        for change in &changes {
            let content = change.after.as_ref().and_then(Node::file).and_then(FileNode::bytes);
            let beside = root.join("beside");
            fs::File::create(&beside)?.write_all(content.unwrap_or_default())?;
            #[expect(clippy::disallowed_methods, reason = "it is what a commit is compared with")]
            fs::rename(&beside, root.join(&change.path))?;
        }
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

fn populate(root: &Path, kind: &str, files: u64) -> std::io::Result<()> {
    fs::create_dir_all(root)?;
    for n in 0..files {
        let dir = root.join(format!("d{}", n / 100));
        fs::create_dir_all(&dir)?;
        let content = format!("line\n{n}\n").repeat(50);
        fs::File::create(dir.join(format!("{kind}{n}")))?.write_all(content.as_bytes())?;
    }
    Ok(())
}

/// Every file with one more line.
fn altered(root: &Path, round: u64) -> std::io::Result<Vec<Change>> {
    let one = |n| {
        let path = format!("d{}/file{n}", n / 100);
        let (mut content, meta) = (fs::read(root.join(&path))?, fs::metadata(root.join(&path))?);
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
        content.extend_from_slice(format!("round {round}\n").as_bytes());
        let after = FileNode::new(content, before.mode);
        Ok(Change {
            path: path.into(),
            from: None,
            before: Some(Node::File(before)),
            after: Some(Node::File(after)),
        })
    };
    (0..FILES).map(one).collect()
}

fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}
