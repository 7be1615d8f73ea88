//! How much changes: in one call, and in a session.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use super::{Budget, EffectLimits, Effects, deletes, layers::Layers};
use crate::{
    Changes, Decision, Node, Reason, Source, Touch,
    policy::{Script, effect_conditions::EffectCounts},
};

/// What was changed before, where limits are meant for more than one call. What was refused is
/// never added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeTotals {
    files: Layers,
    deleted: u64,
    lines: u64,
    bytes: u64,
    /// Nobody can tell what there was besides: all of it may be used up.
    unknown: bool,
}

impl ChangeTotals {
    /// Nothing was changed.
    pub(crate) fn nothing() -> Arc<ChangeTotals> {
        static NOTHING: LazyLock<Arc<ChangeTotals>> = LazyLock::new(Arc::default);
        NOTHING.clone()
    }

    /// What was changed cannot be told.
    pub(crate) fn unknown() -> Arc<ChangeTotals> {
        Arc::new(ChangeTotals { unknown: true, ..ChangeTotals::default() })
    }

    /// The files that were changed, and how many deletions, lines and bytes there were.
    pub(crate) fn parts(&self) -> (impl Iterator<Item = &Path>, [u64; 3]) {
        (self.files.iter(), [self.deleted, self.lines, self.bytes])
    }

    /// What [`parts`](ChangeTotals::parts) gave.
    pub(crate) fn from_parts(files: &[PathBuf], [deleted, lines, bytes]: [u64; 3]) -> ChangeTotals {
        let mut totals = ChangeTotals { deleted, lines, bytes, ..ChangeTotals::default() };
        totals.files.add(files.iter().map(PathBuf::as_path));
        totals
    }

    /// Adds changes that became real, and how many lines of them came and went.
    pub fn add(&mut self, changes: &Changes, lines: u64) {
        self.files.add(counted(changes));
        self.deleted = self.deleted.saturating_add(deletions(changes));
        self.lines = self.lines.saturating_add(lines);
        self.bytes = self.bytes.saturating_add(written(changes));
    }
}

impl Budget {
    /// What was used of each part that is bounded, and how much that is.
    pub(in crate::policy) fn spent(
        &self,
        spent: &ChangeTotals,
    ) -> BTreeMap<&'static str, [u64; 2]> {
        let all = [
            ("bytes", self.bytes, spent.bytes),
            ("deleted", self.deleted, spent.deleted),
            ("files", self.files, spent.files.len() as u64),
            ("lines", self.lines, spent.lines),
        ];
        all.into_iter().filter_map(|(part, most, used)| Some((part, [used, most?]))).collect()
    }
}

pub(super) fn limits(limits: &EffectLimits, effects: &Effects<'_>, because: &mut Vec<Reason>) {
    let files = || Some(counted(effects.changes).count() as u64);
    let bytes = || Some(written(effects.changes));
    let all: [(_, _, _, &dyn Fn() -> Option<u64>); 3] = [
        (limits.max_files, "effects.max_files", "files", &files),
        (limits.max_lines, "effects.max_lines", "lines", &|| effects.lines),
        (limits.max_bytes, "effects.max_bytes", "bytes", &bytes),
    ];
    for (most, origin, unit, count) in all {
        let Some(most) = most else { continue };
        let text = match count() {
            Some(count) if count <= most => continue,
            Some(count) => format!("{count} {unit} would have changed, and the limit is {most}"),
            None => format!("the {unit} that change cannot be counted, and the limit is {most}"),
        };
        let (decision, source) = (Decision::Deny, Source::Floor);
        because.push(Reason { decision, source, origin: origin.into(), text: text.into() });
    }
}

/// Asks again where a session has used up what it may change without a question.
pub(super) fn budget(budget: &Budget, effects: &Effects<'_>, because: &mut Vec<Reason>) {
    let spent = &effects.moment.spent;
    let mut all = (**spent).clone();
    all.add(effects.changes, effects.lines.unwrap_or_default());
    let known = |count: u64| (!all.unknown).then_some(count);
    let lines = effects.lines.and_then(|_| known(all.lines));
    let counts = [
        (budget.deleted, "effects.budget.deleted", "deletions", known(all.deleted)),
        (budget.files, "effects.budget.files", "files", known(all.files.len() as u64)),
        (budget.lines, "effects.budget.lines", "lines", lines),
        (budget.bytes, "effects.budget.bytes", "bytes", known(all.bytes)),
    ];
    for (most, origin, unit, count) in counts {
        let Some(most) = most else { continue };
        let text = match count {
            Some(count) if count <= most => continue,
            Some(count) => format!(
                "it would be {count} {unit} in this session since a person was last asked, and the limit is {most}"
            ),
            None => format!("the {unit} cannot be counted, and more than {most} need a question"),
        };
        let (decision, source) = (Decision::Ask, Source::Rule);
        because.push(Reason { decision, source, origin: origin.into(), text: text.into() });
    }
}

/// What was changed, counted for rules.
pub(super) fn effect_counts<'a>(effects: &Effects<'a>, scripts: &[Script]) -> EffectCounts<'a> {
    let changes = effects.changes;
    let fetches = |it: &Touch| matches!(it, Touch::Fetch(_));
    let nexts = changes.iter().skip(1).map(Some).chain([None]);
    // A directory that comes or goes with what is in it is on the way, and nothing of its own.
    let paths = changes.iter().zip(nexts).filter_map(|(change, next)| {
        let inner = next.is_some_and(|it| it.path.starts_with(&change.path));
        let passes = matches!(
            (&change.before, &change.after),
            (None, Some(Node::Directory { .. })) | (Some(Node::Directory { .. }), None)
        );
        (!(inner && passes)).then_some(change.path.as_path())
    });
    EffectCounts {
        deleted: deletions(changes),
        files: counted(changes).count() as u64,
        lines: effects.lines,
        bytes: written(changes),
        network: effects.author.touches.iter().any(fetches) || scripts.iter().any(Script::talks),
        paths: paths.collect(),
    }
}

/// How many things are nowhere afterwards. A directory counts where nothing in it does.
fn deletions(changes: &Changes) -> u64 {
    let left = changes.left();
    let nexts = changes.iter().skip(1).map(Some).chain([None]);
    let gone = changes.iter().zip(nexts).filter(|(change, next)| {
        let inner = next.is_some_and(|it| it.path.starts_with(&change.path));
        let directory = matches!(change.before, Some(Node::Directory { .. }));
        deletes(changes, &left, change) && !(inner && directory)
    });
    gone.count() as u64
}

/// The paths that count as files: each thing once, and directories only where nothing in them
/// counts.
fn counted(changes: &Changes) -> impl Iterator<Item = &Path> {
    let left = changes.left();
    let nexts = changes.iter().skip(1).map(Some).chain([None]);
    changes.iter().zip(nexts).filter_map(move |(change, next)| {
        let inner = next.is_some_and(|it| it.path.starts_with(&change.path));
        let is_directory = |it: &Node| matches!(it, Node::Directory { .. });
        let only = [&change.before, &change.after].into_iter().flatten().all(is_directory);
        let path = change.path.as_path();
        let apart = left.contains(path) || (inner && only);
        (!apart).then_some(path)
    })
}

/// How many bytes are in the files that are written.
fn written(changes: &Changes) -> u64 {
    let sizes = changes.iter().filter_map(|it| {
        let new = it.after.as_ref()?.file()?;
        let old = it.before.as_ref().and_then(Node::file);
        (old.map(|it| it.digest) != Some(new.digest)).then_some(new.size)
    });
    sizes.fold(0, u64::saturating_add)
}
