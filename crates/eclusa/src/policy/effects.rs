//! What rules say of changes that a call has made but that are not real yet.
//!
//! The rules about paths are matched once more, now over what the call does instead of what it
//! said: each change writes its path. Beside them stand the limits of `[effects]` and a few
//! things that no rule can loosen. Pure: nothing here looks at a disk.

use std::{
    borrow::Cow,
    cell::LazyCell,
    collections::{BTreeSet, HashSet},
    path::Path,
};

use super::{
    Access, Author, JudgeContext, PathLocation, Rule, Rules, Script, Subject, plainly, reason,
    without_excepted,
};
use crate::{Change, Changes, Decision, Node, Reason, Source, Touch, Verdict};

mod classify;
mod counts;
mod defaults;
mod excused;
mod floors;
mod fold;
mod kind;
mod layers;
mod links;
#[cfg(test)]
mod tests;

pub use classify::EffectKinds;
pub use counts::ChangeTotals;
use counts::{budget, effect_counts, limits};
pub use fold::{EffectGroup, FoldedChanges};
pub use kind::{EffectKind, GitFile};

pub use crate::repository::{
    GitAction, GitActionKind, NewCommit, PathFacts, RefChange, RepositoryFacts, SettingChange,
    SettingKind, Tracked,
};
use links::{Way, resolve_link};

/// How many paths a reason names.
const MAX_LISTED: usize = 3;
/// The bits that let a program run as somebody else.
const SET_ID: u32 = 0o6000;
/// The bits that let a file be run.
const EXECUTE: u32 = 0o111;

/// Directories with files in them that programs run by themselves.
const TRUSTED: [&str; 6] = [".git", ".github", ".gitea", ".forgejo", ".gitlab", ".config"];

/// How much may change, whoever changes it and whichever way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectLimits {
    /// How many files; one that changes twice or is moved counts once. `None`: any number.
    pub max_files: Option<u64>,
    /// How many lines may come and go. `None`: any number.
    pub max_lines: Option<u64>,
    /// How many bytes may be in the files that are written. `None`: any number.
    pub max_bytes: Option<u64>,
    /// What becomes of deleting, on any route (C25, C33). A thing that is moved is not deleted, one
    /// that is moved onto is; an emptied file is still there. `Allow`: as of any other change;
    /// `Ask`: asked about, unless git ignores it, or has committed it; `Deny`: refused, unless git
    /// ignores it.
    pub delete: Decision,
    /// What becomes of changes that make files executable.
    pub executable: Decision,
    /// How much may change in a session before a person is asked again.
    pub budget: Budget,
}

/// How much may change in a session, by however many calls, before a person is asked again.
/// A yes to the changes begins it anew. `None`: any number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    /// How many things may be deleted.
    pub deleted: Option<u64>,
    /// How many files may change.
    pub files: Option<u64>,
    /// How many lines may come and go.
    pub lines: Option<u64>,
    /// How many bytes may be written.
    pub bytes: Option<u64>,
}

impl EffectLimits {
    /// True when lines must be counted for it.
    pub(super) fn counts_lines(&self) -> bool {
        self.max_lines.is_some() || self.budget.lines.is_some()
    }
}

impl Default for EffectLimits {
    fn default() -> EffectLimits {
        EffectLimits {
            max_files: None,
            max_lines: None,
            max_bytes: None,
            delete: Decision::Ask,
            executable: Decision::Ask,
            budget: Budget::default(),
        }
    }
}

/// Changes that wait to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Effects<'a> {
    /// Who made them.
    pub author: Author<'a>,
    /// What they are.
    pub changes: &'a Changes,
    /// How many lines come and go, see [`Diff::lines`](crate::Diff::lines). Looked at only where
    /// there is a limit; `None` says that nobody could count them.
    pub lines: Option<u64>,
    /// What git knew of the paths.
    pub facts: &'a RepositoryFacts,
    /// When it was done. What was changed in the session before is in it.
    pub moment: &'a JudgeContext,
    /// What holds where no rule allows: `Allow` for what was permitted before it ran, `Ask` for
    /// what ran so that its changes could be judged.
    pub unruled: Decision,
}

impl Rules {
    /// The same rules with these limits on effects.
    pub fn with_effects(self, effects: EffectLimits) -> Rules {
        Rules { effects, ..self }
    }

    /// The limits on effects.
    pub fn effects(&self) -> &EffectLimits {
        &self.effects
    }

    /// Judges changes: `Allow` commits them, `Ask` shows them to a person first, `Deny` discards
    /// them. Same changes, same verdict.
    pub fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        if effects.changes.is_empty() {
            let text = "it changes nothing";
            return Verdict::from_reasons(vec![reason(
                Decision::Allow,
                Source::Default,
                "effects",
                text,
            )]);
        }
        let scripts = effects.author.scripts();
        let kinds = self.kinds(effects, &scripts);
        let mut because = self.effect_reasons(effects, &scripts);
        let allowed = because.iter().any(|it| it.decision == Decision::Allow);
        let outside = |it: &Script| it.names_outside("git worktree add", &self.root);
        let of_git = || kinds.iter().any(|it| matches!(it, EffectKind::Git(_)));
        if effects.facts.tree_outside || (scripts.iter().any(outside) && of_git()) {
            let text = "a working tree outside the workspace cannot be made from the sandbox, so its branch \
                        is not made either; name a directory in the workspace, or run it in a terminal";
            because.push(reason(Decision::Deny, Source::Floor, "workspace", text));
        }
        self.effect_floors(effects, &kinds, &scripts, &mut because);
        // What can be made again uses nothing up.
        let counts = |kind| !matches!(kind, EffectKind::Ephemeral | EffectKind::Git(_));
        let counted = effects.changes.iter().zip(kinds.iter()).filter(|it| counts(it.1));
        let counted = Changes::of(counted.map(|it| it.0.clone()));
        let counted = Effects { changes: &counted, ..*effects };
        limits(&self.effects, &counted, &mut because);
        budget(&self.effects.budget, &counted, &mut because);
        if !allowed {
            match effects.unruled {
                Decision::Allow => {
                    let text = "already approved before it ran";
                    because.push(reason(Decision::Allow, Source::Default, "defaults", text));
                }
                Decision::Stage | Decision::Ask => {
                    self.defaults(effects, &kinds, &scripts, &mut because);
                }
                Decision::Deny => {
                    let text = "no rule allows all that it changes";
                    because.push(reason(Decision::Deny, Source::Default, "defaults", text));
                }
            }
        }
        Verdict::from_reasons(because)
    }

    /// The reasons of all rules about paths or effects that apply. Those about anything else were
    /// matched before the call ran, and what a rule wanted staged is staged by now.
    fn effect_reasons(&self, effects: &Effects<'_>, scripts: &[Script]) -> Vec<Reason> {
        let author = &effects.author;
        let paths = self.written_paths(effects.changes);
        // What is no secret although its name is like one. A link gives more than its own name.
        let linked = |it: &Change| matches!(it.after, Some(Node::Link { .. }));
        let numbered = effects.changes.iter().enumerate();
        let own = |it: &Change| {
            let known = PathFacts { public: true, ..PathFacts::default() };
            let mut blocking = self.rules.iter().filter(|it| it.is_about_blocked());
            blocking.any(|rule| rule.protects(&it.path, known))
        };
        let public = numbered.filter(|it| effects.facts.path(it.0).public);
        let public = public.filter(|it| !linked(it.1) && !own(it.1));
        let public: HashSet<Cow<'_, str>> = public.map(|it| it.1.path.to_string_lossy()).collect();
        let secret: Vec<(Access, Cow<'_, str>)> =
            paths.iter().filter(|it| !public.contains(&it.1)).cloned().collect();
        // What the call said it would touch is behind it: these are all its effects on files.
        let tight = self.effect_subject(effects, author.touches, &paths);
        let loose = self.effect_subject(effects, &[], &paths);
        let secrets = self.effect_subject(effects, author.touches, &secret);
        let numbered = effects.changes.iter().enumerate();
        let excused = numbered.filter(|it| excused::is_excused(effects, scripts, it.0, it.1));
        let excused: HashSet<Cow<'_, str>> =
            excused.filter(|it| !linked(it.1)).map(|it| it.1.path.to_string_lossy()).collect();
        let kept: Vec<(Access, Cow<'_, str>)> =
            paths.iter().filter(|it| !excused.contains(&it.1)).cloned().collect();
        let kept = self.effect_subject(effects, author.touches, &kept);
        let results = LazyCell::new(|| effect_counts(effects, scripts));
        let applies = |rule: &&Rule| {
            let (subject, doubt) = match rule.decision() {
                Decision::Allow => (&loose, false),
                Decision::Ask | Decision::Deny if rule.is_about_blocked() => (&secrets, true),
                Decision::Deny if rule.is_about_persistence() => (&kept, true),
                Decision::Ask | Decision::Deny => (&tight, true),
                Decision::Stage => return false,
            };
            rule.effect_conditions().is_none_or(|it| it.hold(&results, doubt))
                && (!rule.is_about_commands() || scripts.iter().any(|it| it.fits(rule, subject)))
                && rule.applies(subject)
        };
        let about = |it: &&Rule| {
            (it.is_about_paths() && !it.is_named_only()) || it.effect_conditions().is_some()
        };
        let matched = self.rules.iter().filter(about).filter(applies).collect();
        let named = |rule: &Rule| {
            if rule.is_about_blocked() {
                rule.reason_naming(&secrets)
            } else if rule.is_about_persistence() {
                rule.reason_naming(&kept)
            } else {
                rule.reason_naming(&tight)
            }
        };
        without_excepted(matched).into_iter().map(named).collect()
    }

    fn effect_subject<'a>(
        &'a self,
        effects: &Effects<'a>,
        touches: &'a [Touch],
        paths: &'a [(Access, Cow<'a, str>)],
    ) -> Subject<'a> {
        Subject {
            author: effects.author,
            touches,
            paths,
            root: &self.root,
            moment: effects.moment,
            changed: true,
        }
    }

    /// Every path that is written, and what new links lead to: it gets a further name.
    fn written_paths<'a>(&self, changes: &'a Changes) -> Vec<(Access, Cow<'a, str>)> {
        let mut paths = Vec::with_capacity(changes.len());
        for change in changes {
            paths.push((Access::Write, change.path.to_string_lossy()));
            if let Some(Node::Link { target }) = &change.after
                && let PathLocation::Inside(target) =
                    self.root.place(&resolve_link(&change.path, target))
            {
                paths.push((Access::Write, Cow::Owned(target.into_owned())));
            }
        }
        paths
    }
}

/// True when a path is what a change says it is: relative, and each part a name. Looked at byte
/// by byte, because globs see it that way too.
fn is_clean(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.split(|it| *it == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
}

/// True when something that was there is nowhere afterwards.
fn deletes(changes: &Changes, left: &BTreeSet<&Path>, change: &Change) -> bool {
    let Some(was) = &change.before else { return false };
    match &change.after {
        None => !left.contains(change.path.as_path()),
        Some(is) => !was.same_kind(is) || changes.source(change).is_some(),
    }
}

/// True when a file runs as its owner or group, or a directory begins to hand down its own.
fn sets_id(change: &Change) -> bool {
    match (&change.before, &change.after) {
        (_, Some(Node::File(file))) => file.mode & SET_ID != 0,
        (Some(Node::Directory { mode: old }), Some(Node::Directory { mode: new })) => {
            new & SET_ID & !old != 0
        }
        _ => false,
    }
}

/// True when a file can be run that could not be run before, here or where it came from.
fn makes_executable(changes: &Changes, change: &Change) -> bool {
    let Some(Node::File(new)) = &change.after else { return false };
    let before = changes.source(change).map_or(&change.before, |it| &it.before);
    let old = before.as_ref().and_then(Node::file).map_or(0, |it| it.mode);
    new.mode & EXECUTE & !old != 0
}

/// True when a file or a link takes the place of a directory whose files programs trust: what it
/// names would be trusted instead, and its path would not show.
fn replaces_trusted_dir(change: &Change) -> bool {
    let name = change.path.file_name().unwrap_or_default();
    TRUSTED.iter().any(|it| name.eq_ignore_ascii_case(it))
        && matches!(change.after, Some(Node::File(_) | Node::Link { .. }))
}

/// `a`, `b` and 2 more
fn listed(paths: &[&Path]) -> String {
    let name = |path: &&Path| format!("`{}`", plainly(&path.to_string_lossy()));
    let named: Vec<String> = paths.iter().take(MAX_LISTED).map(name).collect();
    match paths.len().saturating_sub(MAX_LISTED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
