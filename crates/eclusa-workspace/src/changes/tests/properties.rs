//! What holds for all changes.

use std::collections::BTreeMap;

use proptest::{prelude::*, sample::select};

use super::{trees::*, *};

/// What the changes say, spelt out: equal if and only if they are the same changes.
fn spelt(changes: &Changes) -> Vec<String> {
    let node = |node: &Option<Node>| match node {
        None => "nothing".to_owned(),
        Some(Node::File(it)) => format!("file {:?} {} {}", it.digest, it.size, it.mode),
        Some(other) => format!("{other:?}"),
    };
    let one = |it: &Change| {
        format!("{:?} {:?} {} {}", it.path, it.from, node(&it.before), node(&it.after))
    };
    changes.iter().map(one).collect()
}

/// The same changes, with one thing about them otherwise.
fn tweaked(changes: &Changes, at: usize, how: u8) -> Changes {
    let mut all: Vec<Change> = changes.iter().cloned().collect();
    let count = all.len();
    let Some(change) = all.get_mut(at % count.max(1)) else { return changes.clone() };
    match (how, &mut change.after) {
        (0, _) => change.path.as_mut_os_string().push("x"),
        (1, _) => change.from = Some("elsewhere".into()),
        (2, after) => *after = None,
        (3, Some(Node::File(file))) => file.mode ^= 0o4000,
        (4, Some(Node::File(file))) => file.digest.0[31] ^= 1,
        (5, Some(Node::Link { target })) => target.as_mut_os_string().push("x"),
        (6, after) => *after = directory(),
        (7, _) => std::mem::swap(&mut change.before, &mut change.after),
        _ => drop(all.pop()),
    }
    Changes::of(all)
}

/// The same changes with contents that lie elsewhere.
fn elsewhere(changes: &Changes) -> Changes {
    let mut all: Vec<Change> = changes.iter().cloned().collect();
    let files = all.iter_mut().flat_map(|it| [&mut it.before, &mut it.after]);
    for file in files.flatten() {
        if let Node::File(file) = file {
            file.content = Content::InPlace;
            file.stamp =
                Some(Stamp { device: 1, inode: 2, size: file.size, modified: 3, changed: 4 });
        }
    }
    Changes::of(all)
}

proptest! {
    /// What an approval binds to tells any two changes apart, and nothing else.
    #[test]
    fn the_digest_is_that_of_what_the_changes_say(
        (_, _, one) in worlds(), (_, _, other) in worlds(), at in any::<usize>(), how in 0u8..9,
    ) {
        prop_assert_eq!(one.digest() == other.digest(), spelt(&one) == spelt(&other));
        let other = tweaked(&one, at, how);
        prop_assert_eq!(one.digest() == other.digest(), spelt(&one) == spelt(&other));
        prop_assert_eq!(elsewhere(&one).digest(), one.digest());
    }

    /// The changes of a walk are those between its ends, whatever happened on the way.
    #[test]
    fn changes_lead_from_one_tree_to_the_other((before, after, changes) in worlds()) {
        let mut tree = before;
        for change in &changes {
            let was = match &change.after {
                Some(node) => tree.insert(change.path.clone(), node.clone()),
                None => tree.remove(&change.path),
            };
            prop_assert_eq!(&was, &change.before);
        }
        prop_assert_eq!(tree, after);
        prop_assert_eq!(Changes::of(changes.iter().cloned()), changes.clone());
        let backwards = Changes::of(changes.iter().rev().cloned());
        prop_assert_eq!(backwards, changes);
    }

    /// The numbers of the summary are those of an obvious count.
    #[test]
    fn the_summary_counts_right((before, after, changes) in worlds()) {
        let told = Diff::of(&changes, &InlineContents, Bounds::default()).summary();
        let moves: BTreeMap<&Path, &Path> = (changes.iter())
            .filter_map(|it| Some((it.path.as_path(), it.from.as_deref()?)))
            .filter(|(to, from)| {
                let (Some(was), Some(is)) = (before.get(*from), after.get(*to)) else {
                    return false;
                };
                !after.contains_key(*from) && was.same_kind(is)
            })
            .collect();
        let (mut files, mut made, mut deleted, mut links) = (0, 0, 0, 0);
        for path in before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>() {
            let (was, is) = (before.get(path), after.get(path));
            if was == is || moves.values().any(|it| *it == path.as_path()) {
                continue;
            }
            files += 1;
            let arrived = moves.contains_key(path.as_path());
            let replaced = was.zip(is).is_some_and(|(was, is)| !was.same_kind(is));
            made += u64::from(!arrived && (was.is_none() || replaced));
            deleted += u64::from(was.is_some() && (is.is_none() || replaced || arrived));
            links += u64::from([was, is].iter().flatten().any(|it| it.kind() == "link"));
        }
        prop_assert_eq!((told.files, told.made), (files, made));
        prop_assert_eq!((told.deleted, told.moved), (deleted, moves.len() as u64));
        prop_assert_eq!((told.links, told.uncounted, told.binary, told.directories), (links, 0, 0, 0));
        let patch = unified(&changes);
        let (mut added, mut removed, mut left) = (0, 0, (0, 0));
        for line in patch.split('\n') {
            if left == (0, 0) {
                left = range(line).unwrap_or_default();
                continue;
            }
            match line.chars().next() {
                Some('+') => (added, left.1) = (added + 1, left.1 - 1),
                Some('-') => (removed, left.0) = (removed + 1, left.0 - 1),
                Some(' ') => left = (left.0 - 1, left.1 - 1),
                _ => {}
            }
        }
        prop_assert_eq!((told.added, told.removed), (added, removed));
    }

    /// A person sees every line that comes or goes, and nothing that they do not see.
    #[test]
    fn what_is_shown_is_plain((_, _, changes) in worlds()) {
        let text = shown(&changes);
        let strange = |c: &char| c.is_control() && *c != '\n';
        prop_assert_eq!(text.chars().find(strange), None);
    }

    /// No line of a file passes for one of ours.
    #[test]
    fn no_line_passes_for_a_heading(line in select(vec![
        "-- a/x", "++ b/x", "@@ -1 +1 @@", "# left out", "deleted a", "made x, +1 -0",
    ])) {
        let text = shown(&Changes::of([change("x", None, file(&format!("{line}\n"), 0o644))]));
        let lines: Vec<&str> = text.lines().collect();
        prop_assert_eq!(lines, ["made x, mode 0644, +1 -0", "@@ -0,0 +1 @@", &format!("+ {line}")]);
    }
}

/// How many lines a hunk has on both sides.
fn range(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let new = rest.strip_suffix(" @@")?;
    let count = |side: &str| side.split_once(',').map_or(1, |it| it.1.parse().unwrap());
    Some((count(old), count(new)))
}
