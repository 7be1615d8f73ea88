//! Keeping what a command did until somebody answers, and applying it with the yes, beside plainly writing the same
//! files and a list of them that is on the disk.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use eclusa::{
    Change, Changes, Durability, FileNode, Node, Workspace,
    workspace::{Content, PendingOutcome, PendingTerms},
};

use crate::measure::{Told, line};

const ROUNDS: u64 = 9;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TERMS: PendingTerms = PendingTerms { asked: true, keep: DAY, survives: Durability::Crash };

pub(crate) fn run() -> Told {
    let place = tempfile::tempdir_in(".")?;
    for (files, goal_to_keep, goal_to_apply) in
        [(10, "goal: 3 ms", "no goal"), (1_000, "goal: 60 ms", "goal: 100 ms")]
    {
        let baseline = plain(&place.path().join(format!("plain{files}")), files)?;
        line(
            &format!("baseline: write {files} files, and sync a list of them"),
            baseline,
            baseline,
        );
        let (kept, applied) = kept(&place.path().join(format!("own{files}")), files)?;
        line(&format!("keep {files} files for an answer ({goal_to_keep})"), kept, baseline);
        line(&format!("a yes applies {files} files ({goal_to_apply})"), applied, baseline);
    }
    Ok(())
}

fn content(n: u64, round: u64) -> String {
    format!("line {n}\nround {round}\n").repeat(50)
}

fn plain(place: &Path, files: u64) -> Result<Duration, std::io::Error> {
    let mut shortest = Duration::MAX;
    for round in 0..ROUNDS {
        let place = place.join(round.to_string());
        fs::create_dir_all(&place)?;
        let start = Instant::now();
        for n in 0..files {
            File::create(place.join(n.to_string()))?.write_all(content(n, round).as_bytes())?;
        }
        let mut list = File::create(place.join("list"))?;
        list.write_all(&vec![b'x'; usize::try_from(files * 200).unwrap_or_default()])?;
        list.sync_all()?;
        File::open(&place)?.sync_all()?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

/// The shortest times of keeping runs as a sandbox leaves them, and of applying them.
fn kept(place: &Path, files: u64) -> Result<(Duration, Duration), Box<dyn std::error::Error>> {
    let (root, layer) = (place.join("ws"), place.join("layer"));
    fs::create_dir_all(&root)?;
    fs::create_dir_all(&layer)?;
    let (workspace, _) = Workspace::open(&root, place.join("state"))?;
    let (mut keeping, mut applying) = (Duration::MAX, Duration::MAX);
    let mut before: Vec<Option<Node>> = (0..files).map(|_| None).collect();
    for round in 0..ROUNDS {
        let mut changes = Vec::new();
        for (n, before) in (0..files).zip(&mut before) {
            let (text, staged) = (content(n, round), layer.join(n.to_string()));
            File::create(&staged)?.write_all(text.as_bytes())?;
            let mut node = FileNode::new(text.into_bytes(), 0o644);
            let after =
                |content, node: &FileNode| Some(Node::File(FileNode { content, ..node.clone() }));
            node.content = Content::InPlace;
            let path = format!("d{}/file{n}", n / 100).into();
            let after_it = after(Content::Staged(staged), &node);
            changes.push(Change { path, from: None, before: before.take(), after: after_it });
            *before = after(Content::InPlace, &node);
        }
        if round == 0 {
            let directories = (0..=files / 100).map(|it| Change {
                path: format!("d{it}").into(),
                from: None,
                before: None,
                after: Some(Node::Directory { mode: 0o755 }),
            });
            changes.extend(directories);
        }
        let (changes, ran, by) = (Changes::of(changes), round * 10 + 1, round * 10 + 2);
        let start = Instant::now();
        workspace.keep_pending(ran, serde_json::json!({}), &changes, TERMS)?;
        keeping = keeping.min(start.elapsed());
        let start = Instant::now();
        let run = workspace.claim_pending(ran)?;
        run.begin(by)?;
        workspace.commit_kept(by, &run.changes, &run.git, Durability::Crash)?;
        run.finish(&PendingOutcome::Applied { by })?;
        applying = applying.min(start.elapsed());
    }
    Ok((keeping, applying))
}
