//! What no rule can loosen of what a call would change.

use std::path::Path;

use super::{
    EffectKind, EffectKinds, Effects, GitFile, Rules, Script, SettingKind, Way,
    classify::is_program, deletes, excused::installs_hooks, is_clean, listed, makes_executable,
    plainly, replaces_trusted_dir, sets_id,
};
use crate::{Change, Decision, Reason, Source, workspace::is_git_hook};

impl Rules {
    /// What no rule can loosen.
    pub(super) fn effect_floors(
        &self,
        effects: &Effects<'_>,
        kinds: &EffectKinds,
        scripts: &[Script],
        because: &mut Vec<Reason>,
    ) {
        let changes = effects.changes;
        for setting in effects.facts.settings.values().flatten() {
            if setting.kind != SettingKind::Plain {
                let text = format!("changes a setting of git: {}", plainly(&setting.text)).into();
                let (decision, source) = (Decision::Ask, Source::Rule);
                because.push(Reason { decision, source, origin: "effects".into(), text });
            }
        }
        let mut floor = |decision, source, origin: &'static str, text: &str, paths: Vec<&Path>| {
            if !paths.is_empty() {
                let text = format!("{text} {}", listed(&paths)).into();
                because.push(Reason { decision, source, origin: origin.into(), text });
            }
        };
        let paths = |holds: &dyn Fn(&Change) -> bool| -> Vec<&Path> {
            changes.iter().filter(|it| holds(it)).map(|it| it.path.as_path()).collect()
        };
        // Those of some kinds alone.
        let of = |kind: &dyn Fn(EffectKind) -> bool, holds: &dyn Fn(&Change) -> bool| {
            let all = changes.iter().zip(kinds.iter());
            let all = all.filter(|(change, it)| kind(*it) && holds(change));
            all.map(|it| it.0.path.as_path()).collect::<Vec<&Path>>()
        };
        let (deny, fixed) = (Decision::Deny, Source::Floor);
        let outside = paths(&|it| !is_clean(&it.path));
        floor(deny, fixed, "workspace", "it would change files outside the workspace:", outside);
        if self.effects.delete == Decision::Deny {
            let left = changes.left();
            let text =
                "deleting is switched off (`effects.delete = \"deny\"`), and it would delete";
            let own = |it| match it {
                EffectKind::Ephemeral => false,
                EffectKind::Git(file) => file == GitFile::Other,
                _ => true,
            };
            let deleted = of(&own, &|it| deletes(changes, &left, it));
            floor(deny, fixed, "effects.delete", text, deleted);
        }
        let text = "sets setuid or setgid bits:";
        floor(deny, fixed, "effects", text, paths(&sets_id));
        let text = "it would make a link that leads out of the workspace:";
        floor(deny, fixed, "workspace", text, paths(&|it| self.way_out(it) == Some(Way::Out)));
        let text = "it would make a link to a program that was installed outside the workspace:";
        let installed = paths(&|it| self.way_out(it) == Some(Way::Toolchain));
        floor(Decision::Ask, fixed, "workspace", text, installed);
        if installs_hooks(scripts) {
            let hooks = paths(&|it| is_git_hook(&it.path));
            floor(Decision::Ask, Source::Rule, "effects", "installs hooks that git runs:", hooks);
        }
        let text =
            "belongs to another working tree of the repository, which only that one changes:";
        let foreign = of(&|it| it == EffectKind::Git(GitFile::Foreign), &|_| true);
        floor(deny, fixed, "workspace", text, foreign);
        let worktree = |it: &(usize, &Change)| effects.facts.path(it.0).worktree;
        let standing = changes.iter().enumerate().filter(|it| replaces_trusted_dir(it.1));
        let (trees, others): (Vec<_>, Vec<_>) = standing.partition(worktree);
        let only = |all: Vec<(usize, &'_ Change)>| -> Vec<&Path> {
            changes
                .iter()
                .enumerate()
                .filter(|it| all.iter().any(|one| one.0 == it.0))
                .map(|it| it.1.path.as_path())
                .collect()
        };
        let text = "it would put something else in the place of a directory that programs trust:";
        floor(deny, fixed, "effects", text, only(others));
        floor(
            Decision::Ask,
            fixed,
            "effects",
            "it would make a further working tree:",
            only(trees),
        );
        if self.effects.executable > Decision::Stage {
            let text = "it would make executable:";
            let kept = |it| it != EffectKind::Ephemeral;
            let decision = self.effects.executable;
            // What would be run by its name later is asked about in every mode that asks. Any other
            // is an edit, and a mode that answers for a person answers it too.
            let edits = if decision == Decision::Ask { Source::Default } else { Source::Rule };
            for (planted, source) in [(true, Source::Rule), (false, edits)] {
                let made = |it: &Change| {
                    makes_executable(changes, it) && is_program(changes, it) == planted
                };
                floor(decision, source, "effects.executable", text, of(&kept, &made));
            }
        }
    }
}
