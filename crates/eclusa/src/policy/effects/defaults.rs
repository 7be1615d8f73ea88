//! What holds for changes that no rule allows, by their kind.
//!
//! What can be made again is applied; so is what git notes for itself. Edits and commits are
//! asked about, and the mode `auto-approve` answers for them. What would be lost is asked about in
//! every mode but `yolo`.

use std::path::Path;

use super::{
    EffectKind, EffectKinds, Effects, GitActionKind, GitFile, Rules, SettingKind, Tracked, listed,
    plainly,
};
use crate::{Change, Decision, Reason, Source, policy::Script};

/// Words of git that lose what nobody else has.
const LOSING: [(&str, &[&str], &str); 9] = [
    ("git reset", &["--hard"], "it resets files and discards commits or changes"),
    ("git branch", &["-D"], "it deletes a branch, merged or not"),
    ("git stash drop", &[], "it drops stashed changes"),
    ("git stash clear", &[], "it drops all stashed changes"),
    ("git filter-branch", &[], "it rewrites history"),
    ("git filter-repo", &[], "it rewrites history"),
    ("git reflog expire", &[], "deletes reflog entries"),
    ("git reflog delete", &[], "deletes reflog entries"),
    ("git prune", &[], "it removes what no branch leads to"),
];

impl Rules {
    /// What holds where no rule allows the changes.
    pub(super) fn defaults(
        &self,
        effects: &Effects<'_>,
        kinds: &EffectKinds,
        scripts: &[Script],
        because: &mut Vec<Reason>,
    ) {
        let mut say = |decision, source, origin: &'static str, text: String| {
            because.push(Reason { decision, source, origin: origin.into(), text: text.into() });
        };
        let (ask, asked, lost) = (Decision::Ask, Source::Default, Source::Rule);
        let by_git = scripts.iter().any(Script::runs_git);
        let of = |holds: &dyn Fn(EffectKind, &Change, usize) -> bool| -> Vec<&Path> {
            let all = effects.changes.iter().zip(kinds.iter()).enumerate();
            let all = all.filter(|(number, (change, kind))| holds(*kind, change, *number));
            all.map(|(_, (change, _))| change.path.as_path()).collect()
        };
        let edits = of(&|kind, _, _| match kind {
            EffectKind::Edit | EffectKind::Delete { saved: true } => true,
            EffectKind::Delete { saved: false } => self.effects.delete == Decision::Allow,
            _ => false,
        });
        if !edits.is_empty() {
            let text = format!("changes are reviewed before they are applied: {}", listed(&edits));
            say(ask, asked, "defaults", text);
        }
        // A stash or a commit of the same call has what is gone from the files.
        let saves = |it: &crate::policy::GitAction| {
            matches!(it.kind, GitActionKind::Stash | GitActionKind::Commit)
        };
        let actions = effects.facts.actions();
        let saved = by_git && actions.iter().any(saves);
        let deleted = of(&|kind, change, number| {
            let unmerged = effects.facts.path(number).tracked == Tracked::Unmerged;
            kind == EffectKind::Delete { saved: false }
                && !saved
                && !unmerged
                && change.before.is_some()
        });
        if !deleted.is_empty() && self.effects.delete == Decision::Ask {
            let text = format!("deletes files that are not in git: {}", listed(&deleted));
            say(ask, lost, "effects.delete", text);
        }
        let discarded = of(&|kind, _, number| {
            kind == EffectKind::Edit && by_git && !saved && effects.facts.path(number).restored
        });
        if !discarded.is_empty() {
            let text =
                format!("it discards changes that are not committed: {}", listed(&discarded));
            say(ask, lost, "effects.uncommitted", text);
        }
        let saved_delete = of(&|kind, _, _| kind == EffectKind::Delete { saved: false });
        if saved && !saved_delete.is_empty() {
            let text = format!("it deletes {}", listed(&saved_delete));
            say(ask, asked, "defaults", text);
        }
        for (words, flags, text) in LOSING {
            if scripts.iter().any(|it| it.runs_command(words, flags)) {
                say(ask, lost, "effects.uncommitted", text.to_owned());
            }
        }
        for setting in effects.facts.settings.values().flatten() {
            if setting.kind == SettingKind::Plain {
                let text = format!("changes a setting of git: {}", plainly(&setting.text));
                say(ask, asked, "defaults", text);
            }
        }
        if effects.facts.plans_commands {
            let text = "leaves an unfinished rebase that will run commands";
            say(ask, lost, "effects", text.to_owned());
        }
        for action in actions.iter().filter(|it| !(by_git && it.is_free())) {
            let dropped = action.kind == GitActionKind::DropStash && edits.is_empty();
            say(ask, if dropped { lost } else { asked }, "defaults", action.to_string());
        }
        let others = of(&|kind, change, _| match kind {
            EffectKind::Git(GitFile::Other) => true,
            EffectKind::Git(GitFile::Sequence | GitFile::Worktree) => true,
            EffectKind::Git(GitFile::Ref) => !by_git && change.path.ends_with("packed-refs"),
            EffectKind::Git(GitFile::Index | GitFile::Object | GitFile::Note) => !by_git,
            _ => false,
        });
        if !others.is_empty() {
            let gone = of(&|kind, change, _| {
                kind == EffectKind::Git(GitFile::Other) && change.after.is_none()
            });
            let text = format!("it changes files of git: {}", listed(&others));
            say(ask, if gone.is_empty() { asked } else { lost }, "defaults", text);
        }
        // A rule or a floor has said what becomes of these; nothing else allows them.
        let apart = of(&|kind, _, _| matches!(kind, EffectKind::Outside | EffectKind::Protected));
        if !apart.is_empty() {
            say(ask, asked, "defaults", format!("no rule allows {}", listed(&apart)));
        }
        if !because.iter().any(|it| it.decision >= Decision::Ask) {
            let ephemeral = of(&|kind, _, _| kind == EffectKind::Ephemeral);
            let text = match ephemeral.is_empty() {
                true => "it changes nothing but what git notes for itself".to_owned(),
                false => {
                    format!("it changes only caches and what git ignores: {}", listed(&ephemeral))
                }
            };
            because.push(Reason {
                decision: Decision::Allow,
                source: Source::Default,
                origin: "defaults".into(),
                text: text.into(),
            });
        }
    }
}
