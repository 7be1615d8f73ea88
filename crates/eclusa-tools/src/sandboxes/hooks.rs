//! Hooks of git: they run in the sandbox like any script of the project, but for those that a call has changed.
//! That these did not run is told.

use eclusa::{Workspace, workspace::ChangedHook};
use eclusa_sandbox::Hooks;

use super::{SandboxSettings, Writes};

/// Commands of git, and the hooks that they run.
const RUN_BY: [(&str, &[&str]); 10] = [
    ("pre-commit", &["commit", "merge"]),
    ("prepare-commit-msg", &["commit", "merge", "rebase", "cherry-pick", "revert"]),
    ("commit-msg", &["commit", "merge", "rebase", "cherry-pick", "revert"]),
    ("post-commit", &["commit", "merge", "rebase", "cherry-pick", "revert"]),
    ("pre-push", &["push"]),
    ("pre-rebase", &["rebase", "pull"]),
    ("post-checkout", &["checkout", "switch", "clone", "worktree", "rebase"]),
    ("post-merge", &["merge", "pull"]),
    ("post-rewrite", &["commit", "rebase"]),
    ("pre-merge-commit", &["merge", "pull"]),
];

/// Whether hooks run, and what to tell of those that do not.
pub(super) fn hooks(
    settings: &SandboxSettings,
    command: &str,
    writes: Writes,
) -> (Hooks, Vec<String>) {
    if matches!(writes, Writes::Refused | Writes::Outside) {
        return (Hooks::Skip, Vec::new());
    }
    let workspace = Workspace::named(&settings.root, &settings.state);
    let changed = workspace.map(|it| it.changed_hooks()).unwrap_or_default();
    if changed.is_empty() {
        return (Hooks::Run, Vec::new());
    }
    let words = || command.split(|it: char| !it.is_alphanumeric() && it != '-');
    let runs = |hook: &str| {
        let by = RUN_BY.iter().find(|it| it.0 == hook).map(|it| it.1);
        by.is_some_and(|by| words().any(|it| by.contains(&it)))
    };
    let mut told: Vec<String> =
        changed.iter().filter(|it| runs(&it.name())).map(did_not_run).collect();
    // The others are not run either.
    if told.is_empty() && RUN_BY.iter().any(|it| runs(it.0)) {
        told.extend(
            changed
                .first()
                .map(|it| format!("no hook of git ran: `{}` {}", it.name(), changed_by(it))),
        );
    }
    (Hooks::Skip, told)
}

fn did_not_run(hook: &ChangedHook) -> String {
    format!("hook `{}` did not run: it {}", hook.name(), changed_by(hook))
}

fn changed_by(hook: &ChangedHook) -> String {
    let call = hook.call;
    format!(
        "was changed by call {call}; hooks run here again when a person has edited it or undone the call"
    )
}
