//! Changes of git's own files, made to fit to what git has written meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use eclusa_git::{common_directory, has_object, is_whole_object, packed_refs, read_small};

use super::{GitRun, MAX_READ, RefMove, after, staged};
use crate::{Change, Changes, Content, ContentDigest, Contents, FileNode, Node, places::Places};

/// Files that nothing rests on: who wrote them last is right.
const LAST_WINS: [&str; 4] = ["FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "gc.log"];

/// The same changes, with git's own files compared by what they mean. What does not fit is left as it
/// was, so that it is told as a conflict.
///
/// INVARIANT: git's locks are held, and so is the workspace's.
pub(crate) fn rebase(
    places: &Places,
    changes: &Changes,
    runs: &[GitRun],
    contents: &impl Contents,
) -> Changes {
    let mut all: BTreeMap<PathBuf, Change> = BTreeMap::new();
    for change in changes {
        let run =
            runs.iter().filter_map(|run| Some((run, change.path.strip_prefix(&run.dir).ok()?)));
        // The innermost repository has it.
        let run = run.max_by_key(|(run, _)| run.dir.components().count());
        let kept = match run.and_then(|(run, rest)| Some((run, rest.to_str()?))) {
            Some((run, rest)) => fitted(places, change, run, rest, contents),
            None => Some(change.clone()),
        };
        all.extend(kept.map(|it| (it.path.clone(), it)));
    }
    for run in runs {
        refs(places, changes, run, &mut all);
        let spoiled = spoiled(places, changes, run).into_iter();
        all.extend(spoiled.map(|it| (it.path.clone(), it)));
    }
    let made: BTreeSet<PathBuf> = all
        .values()
        .filter(|it| it.after.is_some())
        .flat_map(|it| {
            let inside = runs.iter().any(|run| it.path.starts_with(&run.dir));
            let above = it.path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
            above.filter(move |_| inside).map(Path::to_owned).collect::<Vec<_>>()
        })
        .collect();
    for path in made {
        // Git removes directories of refs that have become empty.
        if places.at(&path).symlink_metadata().is_err() && !all.contains_key(&path) {
            let after = Some(Node::Directory { mode: 0o755 });
            all.insert(path.clone(), Change { path, from: None, before: None, after });
        }
    }
    let mut all: Vec<Change> = all.into_values().collect();
    all.sort_by_key(|it| it.after.is_some());
    Changes::of(all)
}

/// One change, fitted. `None`: nothing is left to do.
fn fitted(
    places: &Places,
    change: &Change,
    run: &GitRun,
    rest: &str,
    contents: &impl Contents,
) -> Option<Change> {
    let now = || present(places, &change.path);
    let over = |now: Option<Node>| Some(Change { before: now, ..change.clone() });
    let directory = |it: &Option<Node>| matches!(it, Some(Node::Directory { .. }));
    if rest == "packed-refs" || rest == "refs" || rest.starts_with("refs/") {
        // By name, below.
        return None;
    }
    if rest.is_empty() {
        return Some(change.clone());
    }
    if directory(&change.before) || directory(&change.after) {
        // Empty directories do not matter, and others may have made the same.
        return (change.after.is_some() && now().is_none()).then(|| change.clone());
    }
    if let Some(rest) = rest.strip_prefix("objects/") {
        let info = rest.starts_with("info/");
        let is_whole = || {
            let file = read_small(&places.at(&change.path), MAX_READ);
            let loose = rest.split_once('/').filter(|(first, _)| first.len() == 2);
            match (loose, file) {
                (Some((first, name)), Some(file)) => {
                    is_whole_object(&format!("{first}{name}"), &file)
                }
                _ => true,
            }
        };
        return match (&change.after, now()) {
            // Somebody may need it by now.
            (None, _) => None,
            (Some(_), Some(now)) if info => over(Some(now)),
            // Its name says what is in it, unless whoever wrote it did not come to its end.
            (Some(_), Some(now)) if !is_whole() => over(Some(now)),
            (Some(_), Some(_)) => None,
            (Some(_), None) => over(None),
        };
    }
    if LAST_WINS.contains(&rest) {
        return over(now());
    }
    if rest == "index" {
        let now = now();
        let same = read_small(&places.at(&change.path), MAX_READ).is_some_and(|it| {
            let [expected, _] = run.index;
            expected.is_some() && staged(Some(&it)) == expected
        });
        return if same { over(now) } else { Some(change.clone()) };
    }
    if rest.starts_with("logs/") {
        return log(places, change, contents);
    }
    Some(change.clone())
}

/// A log of a ref: lines that came are put behind those that came meanwhile.
fn log(places: &Places, change: &Change, contents: &impl Contents) -> Option<Change> {
    let now = present(places, &change.path);
    let before = change.before.as_ref().and_then(Node::file);
    let digest = |it: &Option<Node>| it.as_ref().and_then(Node::file).map(|it| it.digest);
    if digest(&now) == before.map(|it| it.digest) {
        return Some(Change { before: now, ..change.clone() });
    }
    let (Some(Node::File(file)), Some(new)) = (&change.after, after(change, contents)) else {
        return Some(change.clone());
    };
    let length = before.map_or(0, |it| usize::try_from(it.size).unwrap_or(usize::MAX));
    let Some((old, lines)) = new.split_at_checked(length) else { return Some(change.clone()) };
    if before.is_some_and(|it| it.digest != ContentDigest::of(old)) {
        // It was cut in the run, or is taken back: nothing rests on it.
        return None;
    }
    let mut all = read_small(&places.at(&change.path), MAX_READ).unwrap_or_default();
    all.extend_from_slice(lines);
    let node = Node::File(FileNode::new(all, file.mode));
    Some(Change { before: now, after: Some(node), ..change.clone() })
}

/// The refs of a run, written loose. Those that are not where they were are left to conflict.
fn refs(places: &Places, changes: &Changes, run: &GitRun, all: &mut BTreeMap<PathBuf, Change>) {
    let packed_path = run.path("packed-refs");
    let packed = read_small(&places.at(&packed_path), MAX_READ);
    let text = packed.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let known = packed_refs(&text);
    let mut gone: BTreeSet<&str> = BTreeSet::new();
    for RefMove { name, old, new } in &run.refs {
        let path = run.path(name);
        let loose = present(places, &path);
        let said = read_small(&places.at(&path), MAX_READ);
        let said = said.map(|it| String::from_utf8_lossy(&it).trim().to_owned());
        let value = said.or_else(|| known.get(name).cloned());
        let before = match value == *old {
            true => loose,
            // Not where it was: what is expected is not there.
            false => Some(Node::File(FileNode::new(
                format!("{}\n", old.as_deref().unwrap_or_default()).into_bytes(),
                0o644,
            ))),
        };
        let after =
            new.as_ref().map(|id| match changes.get(&path).and_then(|it| it.after.clone()) {
                Some(Node::File(file)) if says(&file, id) => Node::File(file),
                _ => Node::File(FileNode::new(format!("{id}\n").into_bytes(), 0o644)),
            });
        if new.is_none() && known.contains_key(name) {
            gone.insert(name);
        }
        if before.is_some() || after.is_some() {
            all.insert(path.clone(), Change { path, from: None, before, after });
        }
    }
    if !gone.is_empty()
        && let before @ Some(Node::File(_)) = present(places, &packed_path)
    {
        let mode = before.as_ref().and_then(Node::file).map_or(0o644, |it| it.mode);
        let after = Some(Node::File(FileNode::new(without(&text, &gone).into_bytes(), mode)));
        let path = packed_path;
        all.insert(path.clone(), Change { path, from: None, before, after });
    }
}

/// What a run rests on besides what it changes, and is no longer so: told as conflicts.
fn spoiled(places: &Places, changes: &Changes, run: &GitRun) -> Vec<Change> {
    // Expected is another file than is there. What changes nothing is no change, so it is to have another mode.
    let expected = |rest: &str, text: &str| {
        let node = |mode| Some(Node::File(FileNode::new(text.as_bytes().to_vec(), mode)));
        Change { path: run.path(rest), from: None, before: node(0o644), after: node(0o600) }
    };
    let says = |rest: &str| {
        let text = read_small(&places.at(&run.path(rest)), MAX_READ)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let unchanged = |rest: &str| changes.get(&run.path(rest)).is_none();
    let mut found = Vec::new();
    if let Some(head) = &run.head
        && unchanged("HEAD")
        && says("HEAD").as_ref() != Some(head)
    {
        found.push(expected("HEAD", head));
    }
    if run.crossed {
        found.push(expected("HEAD", ""));
    }
    // Somebody works on a branch that goes: git lets nobody delete it then.
    let trees = fs::read_dir(places.at(&run.path("worktrees"))).into_iter().flatten().flatten();
    let trees = trees.filter_map(|it| it.file_name().into_string().ok());
    // Where the run itself was on it, it went by another way, which `head` holds.
    let own = run.head.is_none().then(|| "HEAD".to_owned());
    for head in trees.map(|it| format!("worktrees/{it}/HEAD")).chain(own) {
        let said = says(&head).unwrap_or_default();
        let branch = said.strip_prefix("ref:").map(str::trim);
        let goes = run.refs.iter().any(|it| it.new.is_none() && Some(it.name.as_str()) == branch);
        if goes && unchanged(&head) {
            found.push(expected(&head, ""));
        }
    }
    // Git may have thrown away by now what a ref is to name.
    // `.git` itself may be a file that names the repository.
    let objects = places.at(&run.path("objects"));
    let common = common_directory(objects.parent().unwrap_or(&objects));
    for id in run.refs.iter().filter_map(|it| it.new.as_deref()) {
        let comes = |it: &Change| {
            let rest = it.path.to_str().unwrap_or_default();
            let packed = rest.contains("/objects/pack/");
            it.after.is_some() && (packed || rest.ends_with(&object(id)))
        };
        if !changes.iter().any(comes) && !has_object(&common, id) {
            found.push(expected(&object(id), ""));
        }
    }
    found
}

/// Where an object lies by itself.
fn object(id: &str) -> String {
    let (first, rest) = id.split_at_checked(2).unwrap_or((id, ""));
    format!("objects/{first}/{rest}")
}

/// Whether this file is a ref that says this.
fn says(file: &FileNode, id: &str) -> bool {
    file.digest == ContentDigest::of(format!("{id}\n").as_bytes())
}

/// The text of packed refs without some of them, and without what those stand for.
fn without(text: &str, gone: &BTreeSet<&str>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut drops = false;
    for line in text.split_inclusive('\n') {
        if !line.starts_with('^') {
            let name = line.trim_end().split_once(' ').map_or("", |it| it.1);
            drops = !line.starts_with('#') && gone.contains(name);
        }
        if !drops {
            kept.push_str(line);
        }
    }
    kept
}

/// What is at a path of the workspace now, if it is a file.
fn present(places: &Places, path: &Path) -> Option<Node> {
    let at = places.at(path);
    let known = fs::symlink_metadata(&at).ok()?;
    if known.is_dir() {
        return Some(Node::Directory { mode: known.permissions().mode() & 0o7777 });
    }
    let bytes = read_small(&at, MAX_READ)?;
    Some(Node::File(FileNode {
        digest: ContentDigest::of(&bytes),
        size: bytes.len() as u64,
        mode: known.permissions().mode() & 0o7777,
        content: Content::InPlace,
        stamp: None,
    }))
}
