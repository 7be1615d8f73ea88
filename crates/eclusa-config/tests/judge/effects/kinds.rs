//! What holds for changes by their kind, where no rule says anything.

use eclusa::Mode;

use super::*;

/// A shell text and what came of it, as git knew the paths before.
struct Case {
    text: &'static str,
    changes: Vec<(Change, PathFacts)>,
    refs: Vec<RefChange>,
    commits: Vec<NewCommit>,
}

fn case(text: &'static str, changes: Vec<(Change, PathFacts)>) -> Case {
    Case { text, changes, refs: vec![], commits: vec![] }
}

fn verdict(config: &str, case: &Case) -> Verdict {
    let rules = shipped(config);
    let args = json!({});
    let touches = [Touch::Run(case.text.to_owned())];
    let (name, aliases, server) = ("bash", &[][..], None);
    let author =
        Author { name, aliases, class: Shell, server, args: &args, touches: &touches, call: None };
    let changes = Changes::of(case.changes.iter().map(|it| it.0.clone()));
    let known = |it: &Change| case.changes.iter().find(|one| one.0.path == it.path).unwrap().1;
    let facts = RepositoryFacts {
        paths: changes.iter().map(known).collect(),
        refs: case.refs.clone(),
        commits: case.commits.clone(),
        ..RepositoryFacts::default()
    };
    let moment = JudgeContext::unknown();
    rules.judge_effects(&Effects {
        author,
        changes: &changes,
        lines: None,
        facts: &facts,
        moment,
        unruled: Ask,
    })
}

/// In `confirm-sensitive`, and in `auto-approve`.
fn decisions(case: &Case) -> (Decision, Decision) {
    let verdict = verdict("", case);
    let auto = Mode::AutoApprove.apply(verdict.clone());
    let yolo = Mode::Yolo.apply(verdict.clone()).decision;
    assert_eq!(yolo == Deny, verdict.decision == Deny, "yolo never asks");
    (verdict.decision, auto.decision)
}

fn ignored(change: Change) -> (Change, PathFacts) {
    (change, PathFacts { ephemeral: Some(1), ..PathFacts::default() })
}

fn tracked(change: Change, tracked: Tracked) -> (Change, PathFacts) {
    (change, PathFacts { tracked, ..PathFacts::default() })
}

fn unknown(change: Change) -> (Change, PathFacts) {
    (change, PathFacts::default())
}

fn program(path: &str) -> Change {
    change(path, None, file("#!/bin/sh\n", 0o755))
}

fn altered(path: &str) -> Change {
    change(path, file("a\n", 0o644), file("b\n", 0o644))
}

#[test]
fn what_git_ignores_is_applied_made_changed_or_deleted() {
    for changes in [
        vec![ignored(made("build/a.o")), ignored(program("build/demo"))],
        vec![ignored(altered("build/a.o"))],
        vec![ignored(gone("build/a.o")), ignored(change("build", directory(), None))],
        vec![ignored(made("target/x.lock"))],
    ] {
        assert_eq!(decisions(&case("make", changes)), (Allow, Allow));
    }
    let mixed = vec![ignored(made("build/a.o")), unknown(made("src/new.c"))];
    assert_eq!(decisions(&case("make", mixed)), (Ask, Allow));
    // A script of the project is an edit like another.
    let script = vec![unknown(program("scripts/run.sh"))];
    assert_eq!(decisions(&case("chmod +x scripts/run.sh", script)), (Ask, Allow));
}

/// A file that git ignores can be a secret, or run later.
#[test]
fn what_git_ignores_is_not_always_harmless() {
    let denied = [".env", "home/.bashrc", ".vscode/tasks.json", ".husky/pre-commit"];
    for path in denied {
        assert_eq!(decisions(&case("make", vec![ignored(made(path))])).0, Deny, "{path}");
    }
    for path in ["node_modules/.bin/eslint", ".venv/bin/pip", ".direnv/bin/x"] {
        let planted = case("cp x y", vec![ignored(program(path))]);
        assert_eq!(decisions(&planted), (Ask, Ask), "{path}");
    }
    let installed = vec![ignored(program("node_modules/.bin/eslint"))];
    assert_eq!(decisions(&case("npm ci", installed)), (Allow, Allow));
    let installed = vec![ignored(program(".venv/bin/pip"))];
    assert_eq!(decisions(&case("python3 -m venv .venv", installed)), (Allow, Allow));
    let as_root = change("build/x", None, file("", 0o4755));
    assert_eq!(decisions(&case("make", vec![ignored(as_root)])), (Deny, Deny));
    let out = change("build/l", None, link("/etc/passwd"));
    assert_eq!(decisions(&case("make", vec![ignored(out)])), (Deny, Deny));
}

/// Shows C33.
#[test]
fn deletions_are_asked_about_and_only_what_git_has_goes_unasked_in_auto_approve() {
    let committed = case("rm a.c", vec![tracked(gone("a.c"), Tracked::Clean)]);
    assert_eq!(decisions(&committed), (Ask, Allow));
    for lost in [tracked(gone("a.c"), Tracked::Dirty), unknown(gone("a.c"))] {
        let lost = case("rm a.c", vec![lost]);
        assert_eq!(decisions(&lost), (Ask, Ask));
        assert_eq!(verdict("[effects]\ndelete = 'deny'", &lost).decision, Deny);
        let allowed = verdict("[effects]\ndelete = 'allow'", &lost);
        assert_eq!(Mode::AutoApprove.apply(allowed).decision, Allow);
    }
    let built = case("make clean", vec![ignored(gone("build/a.o"))]);
    assert_eq!(verdict("[effects]\nallow_delete = false", &built).decision, Allow);
}

#[test]
fn work_that_is_not_committed_is_not_discarded_unasked() {
    let restored = PathFacts { tracked: Tracked::Dirty, restored: true, ..PathFacts::default() };
    let checkout = case("git checkout -- src", vec![(altered("src/a.c"), restored)]);
    assert_eq!(decisions(&checkout), (Ask, Ask));
    // A stash has it.
    let stash = RefChange { name: "refs/stash".into(), before: None, after: Some("1".into()) };
    let stashed = Case { text: "git stash", refs: vec![stash], ..checkout };
    assert_eq!(decisions(&stashed), (Ask, Allow));
    for text in ["git reset --hard HEAD~1", "git branch -D x", "git filter-branch --all"] {
        let moved = vec![unknown(altered(".git/refs/heads/x"))];
        assert_eq!(decisions(&case(text, moved)).1, Ask, "{text}");
    }
}

#[test]
fn git_is_told_in_its_own_words() {
    let own = |path| unknown(altered(path));
    let index = case("git add -A", vec![own(".git/index"), unknown(made(".git/objects/ab/cd"))]);
    assert_eq!(decisions(&index), (Allow, Allow));
    let by_others = case("python3 x.py", vec![own(".git/index")]);
    assert_eq!(decisions(&by_others), (Ask, Allow));
    let after = |name: &str, id: &str| RefChange {
        name: name.into(),
        before: None,
        after: Some(id.into()),
    };
    let branch = vec![unknown(made(".git/refs/heads/topic")), own(".git/HEAD")];
    let branch =
        Case { refs: vec![after("refs/heads/topic", "1")], ..case("git switch -c topic", branch) };
    assert_eq!(decisions(&branch), (Allow, Allow));
    let commit = NewCommit { id: "2".into(), parents: vec!["1".into()], subject: "a: b".into() };
    let text = "git commit -m 'a: b'";
    let refs = vec![after("refs/heads/topic", "2")];
    let commit = Case { text, refs, commits: vec![commit], ..branch };
    assert_eq!(decisions(&commit), (Ask, Allow));
    assert!(verdict("", &commit).why().contains("1 commit on `topic`: a: b"));
    for path in [".git/config", ".git/hooks/pre-commit", ".git/info/attributes"] {
        assert_eq!(decisions(&case("git commit -m x", vec![own(path)])).0, Deny, "{path}");
    }
    let removed =
        case("rm -rf .git/objects; git status", vec![unknown(gone(".git/objects/ab/cd"))]);
    assert_eq!(decisions(&removed), (Ask, Ask));
}

#[test]
fn files_of_a_build_server_are_asked_about_in_every_mode_but_yolo() {
    let edited = case("sed -i s/a/b/ x", vec![unknown(altered(".github/workflows/ci.yml"))]);
    assert_eq!(decisions(&edited), (Ask, Ask));
}

#[test]
fn a_secret_is_told_by_its_file_and_its_pattern_and_public_material_is_none() {
    let path = ".venv/lib/python3/site-packages/certifi/roots.pem";
    let named = case("python3 -m venv .venv", vec![ignored(made(path))]);
    let why = verdict("", &named).why().into_owned();
    assert!(why.contains(path) && why.contains("`*.pem`"), "{why}");
    let public = PathFacts { ephemeral: Some(1), public: true, ..PathFacts::default() };
    let public = case("python3 -m venv .venv", vec![(made(path), public)]);
    assert_eq!(decisions(&public), (Allow, Allow));
    // What a person has named stays named.
    let named = verdict("[files]\nblocked = ['roots.pem']", &public);
    assert_eq!(named.decision, Deny);
}
