//! Rules over effects: the shipped rules and the limits, over changes made by hand.

use eclusa::{
    Change, Changes,
    Decision::{self, *},
    Node,
    PermissionClass::{self, *},
    Rules, Touch, Verdict,
    policy::{
        Author, EffectLimits, Effects, JudgeContext, NewCommit, PathFacts, RefChange,
        RepositoryFacts, Tracked,
    },
};
use eclusa_config::{Config, Layer};
use serde_json::json;

use nodes::{change, directory, file, link, moved};

mod kinds;
mod limits;
mod nodes;
mod rules;

/// Judges changes of a tool of this class, where nothing was permitted before.
fn judged_as(class: PermissionClass, rules: &Rules, changes: &Changes) -> Verdict {
    let args = json!({});
    let author = Author {
        name: "tool",
        aliases: &[],
        class,
        server: None,
        args: &args,
        touches: &[],
        call: None,
    };
    let effects = Effects {
        author,
        changes,
        lines: Some(0),
        facts: RepositoryFacts::unknown(),
        moment: JudgeContext::unknown(),
        unruled: Allow,
    };
    rules.judge_effects(&effects)
}

fn judged(rules: &Rules, changes: impl IntoIterator<Item = Change>) -> Verdict {
    judged_as(Shell, rules, &Changes::of(changes))
}

/// The shipped rules, and this file on top.
fn shipped(text: &str) -> Rules {
    let config = Config::load(&[Layer::of_person("eclusa.toml", text)]).unwrap();
    Rules::new(config.rules.clone(), "/home/me/ws".as_ref()).with_effects(config.effects)
}

fn made(path: &str) -> Change {
    change(path, None, file("x\n", 0o644))
}

fn gone(path: &str) -> Change {
    change(path, file("x\n", 0o644), None)
}

#[test]
fn nothing_changed_needs_no_question() {
    let verdict = judged(&shipped(""), []);
    assert_eq!((verdict.decision, &*verdict.why()), (Allow, "it changes nothing (effects)"));
}

#[test]
fn plain_changes_are_what_was_permitted() {
    let altered = change("src/a.rs", file("a", 0o644), file("b", 0o644));
    assert_eq!(judged(&shipped(""), [made("src/b.rs"), altered]).decision, Allow);
}

/// What ran so that its changes could be judged is asked about, unless a rule allows them all.
#[test]
fn staged_changes_are_allowed_by_rules_or_asked_about() {
    let rules = shipped("[[rules]]\ndecision = 'allow'\npath = 'docs/**'\n");
    let args = json!({});
    let touches = [Touch::Run("make docs".to_owned())];
    let author = Author {
        name: "bash",
        aliases: &[],
        class: Shell,
        server: None,
        args: &args,
        touches: &touches,
        call: None,
    };
    let judge = |changes: Vec<Change>| {
        let changes = &Changes::of(changes);
        rules.judge_effects(&Effects {
            author,
            changes,
            lines: None,
            facts: RepositoryFacts::unknown(),
            moment: JudgeContext::unknown(),
            unruled: Ask,
        })
    };
    assert_eq!(judge(vec![made("docs/a.md"), made("docs/b/c.md")]).decision, Allow);
    let more = judge(vec![made("docs/a.md"), made("src/a.rs")]);
    assert_eq!(
        &*more.why(),
        "changes are reviewed before they are applied: `docs/a.md`, `src/a.rs` (defaults)"
    );
    assert_eq!(more.decision, Ask);
    assert_eq!(judge(vec![made("docs/.env")]).decision, Deny);
    assert_eq!(judge(vec![made("Cargo.lock")]).decision, Ask);
}

/// C25, C33, S4.8: `allow_delete = false`, which is `delete = "deny"`, governs every route.
/// Shows C25.
#[test]
fn allow_delete_governs_every_route() {
    let node = file("x\n", 0o644);
    let over = |old: Option<Node>| {
        let to = Change { from: Some("a".into()), ..change("b", old, node.clone()) };
        vec![change("a", node.clone(), None), to]
    };
    let table: [(&str, Vec<Change>, bool); 12] = [
        ("delete", vec![gone("a")], true),
        ("deletion of a directory", vec![change("d", directory(), None)], true),
        ("deletion of a link", vec![change("l", link("a"), None)], true),
        ("overwriting by a move", over(file("y", 0o644)), true),
        ("file to link", vec![change("a", node.clone(), link("b"))], true),
        ("link to file", vec![change("a", link("b"), node.clone())], true),
        ("file to directory", vec![change("a", node.clone(), directory())], true),
        (
            "move of another file",
            [moved("a", "b", node.clone(), link("c")).to_vec()].concat(),
            true,
        ),
        ("move", moved("a", "b", node.clone(), node.clone()).to_vec(), false),
        ("move and edit", moved("a", "b", node.clone(), file("y", 0o644)).to_vec(), false),
        ("emptying", vec![change("a", node.clone(), file("", 0o644))], false),
        ("overwriting", vec![change("a", node.clone(), file("y", 0o644))], false),
    ];
    for (route, changes, deletes) in table {
        let verdict = judged(&shipped("[effects]\nallow_delete = false"), changes.clone());
        assert_eq!(verdict.decision == Deny, deletes, "{route}: {verdict:?}");
        assert!(!deletes || verdict.why().contains("effects.delete"), "{route}");
        let allowed = judged(&shipped("[effects]\nallow_delete = true"), changes);
        assert_eq!(allowed.decision, Allow, "{route}");
    }
}

#[test]
fn files_that_run_as_somebody_else_are_denied() {
    let rules = shipped("[effects]\nexecutable = 'allow'");
    for mode in [0o4755, 0o2755, 0o6711, 0o4644] {
        assert_eq!(judged(&rules, [change("a", None, file("", mode))]).decision, Deny);
        let altered = change("a", file("", mode), file("x", mode));
        assert_eq!(judged(&rules, [altered]).decision, Deny);
    }
    let at = |mode| Some(Node::Directory { mode });
    assert_eq!(judged(&rules, [change("d", at(0o755), at(0o2755))]).decision, Deny);
    assert_eq!(judged(&rules, [change("d", None, at(0o2775))]).decision, Allow, "inherited");
    assert_eq!(judged(&rules, [change("a", file("", 0o4755), file("", 0o755))]).decision, Allow);
}

#[test]
fn files_that_become_executable_are_asked_about() {
    let (plain, script) = (file("x", 0o644), file("x", 0o755));
    let table = [
        (vec![change("a", None, script.clone())], Ask),
        (vec![change("a", plain.clone(), script.clone())], Ask),
        (vec![change("a", script.clone(), file("y", 0o755))], Allow),
        (vec![change("a", script.clone(), plain.clone())], Allow),
        (moved("a", "b", script.clone(), script.clone()).to_vec(), Allow),
        (moved("a", "b", plain, script.clone()).to_vec(), Ask),
        (vec![change("a", file("x", 0o700), script)], Ask),
    ];
    for (changes, decision) in table {
        let verdict = judged(&shipped(""), changes.clone());
        assert_eq!(verdict.decision, decision, "{changes:?}");
        let deny = judged(&shipped("[effects]\nexecutable = 'deny'"), changes.clone());
        assert_eq!(deny.decision == Deny, decision == Ask, "{changes:?}");
        let allow = judged(&shipped("[effects]\nexecutable = 'allow'"), changes);
        assert_eq!(allow.decision, Allow);
    }
}

/// F: a symlink out of the workspace, judged from where it stands.
#[test]
fn links_that_leave_the_workspace_are_denied() {
    let table = [
        ("l", "/etc/passwd", true),
        ("l", "..", true),
        ("l", "../ws2/a", true),
        ("a/b/l", "../../../x", true),
        ("a/b/l", "../../x", false),
        ("a/l", "./../b/c", false),
        ("l", "/home/me/ws/src", false),
        ("l", "/home/me/ws/../x", true),
        ("l", "/home/me/wsx", true),
        ("l", "~root", false),
        ("l", "$HOME", false),
        ("l", ".", false),
        ("l", "a/../../ws/b", false),
        ("l", "../../../../../..", true),
    ];
    for (path, target, out) in table {
        let verdict = judged(&shipped(""), [change(path, None, link(target))]);
        assert_eq!(verdict.decision == Deny, out, "{path} -> {target}: {verdict:?}");
    }
    // What everybody has and nobody writes is a change like any other; what a person has installed
    // is asked about, whatever rules allow.
    let allowing = "[[rules]]\ndecision = \"allow\"\npath = [\"**\"]";
    for (target, plainly, allowed) in [
        ("/usr/bin/python3", Allow, Allow),
        ("/usr/local/bin/python3.12", Allow, Allow),
        ("/nix/store/abc-python/bin/python3", Allow, Allow),
        ("/home/me/.pyenv/versions/3.12.1/bin/python3", Ask, Ask),
        ("/home/me/.local/share/uv/python/cpython-3.12/bin/python", Ask, Ask),
        ("/home/me/.pyenv/versions/3.12.1/secret", Deny, Deny),
        ("/usr", Deny, Deny),
        ("/usr/../etc/passwd", Deny, Deny),
        ("/usr/bin/../../root/.ssh/id_rsa", Deny, Deny),
        ("/usrx/bin/python3", Deny, Deny),
        ("../../../usr/bin/python3", Deny, Deny),
        ("/home/me/.pyenv/versions/../../bin/x", Deny, Deny),
    ] {
        let made = || [change("env/bin/python", None, link(target))];
        assert_eq!(judged(&shipped(""), made()).decision, plainly, "{target}");
        assert_eq!(judged(&shipped(allowing), made()).decision, allowed, "{target}");
    }
    let alter = judged(&shipped(""), [change("l", link("a"), link("/etc"))]);
    assert_eq!(alter.decision, Deny);
    let gone = judged(&shipped("[effects]\nallow_delete = true"), [change("l", link("/x"), None)]);
    assert_eq!(gone.decision, Allow, "what leads out may go");
    let secret = judged(&shipped(""), [change("docs/l", None, link("../.env"))]);
    assert_eq!(secret.decision, Deny, "a link is a further name of what it leads to");
}

#[test]
fn protected_files_are_refused_even_when_missing() {
    let paths = [
        ".git/hooks/pre-commit",
        "sub/.git/hooks/post-checkout",
        ".GIT/Config",
        ".git/modules/x/config",
        ".envrc",
        ".vscode/settings.json",
        "a/b/.VSCode/tasks.json",
        ".idea/workspace.xml",
        ".cursor/mcp.json",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".mcp.json",
        "eclusa.toml",
        "Eclusa.TOML",
        ".bashrc",
        ".zshenv",
        ".husky/pre-commit",
    ];
    let rules = shipped("[effects]\nallow_delete = true\nexecutable = 'allow'");
    let node = file("x", 0o755);
    for path in paths {
        let ways = [
            vec![change(path, None, node.clone())],
            vec![change(path, node.clone(), file("y", 0o755))],
            vec![change(path, node.clone(), None)],
            vec![change(path, None, directory())],
            vec![change(path, None, link("src"))],
            vec![change("l", None, link(path))],
            moved("x", path, node.clone(), node.clone()).to_vec(),
            moved(path, "x", node.clone(), node.clone()).to_vec(),
            vec![made("src/a"), made(path), made("z")],
        ];
        for changes in ways {
            assert_eq!(judged(&rules, changes.clone()).decision, Deny, "{changes:?}");
        }
    }
    let inside = [change(".vscode", None, directory()), made(".vscode/deep/er/x")];
    assert_eq!(judged(&rules, inside).decision, Deny);
    for path in ["src/hooks/a", ".gitignore", "docs/git/config", ".github/CODEOWNERS", "a.envrc"] {
        assert_eq!(judged(&rules, [made(path)]).decision, Allow, "{path}");
    }
}

#[test]
fn files_of_build_servers_are_shown_even_when_missing() {
    let rules = shipped("[effects]\nallow_delete = true\nexecutable = 'allow'");
    for path in [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/new.yaml",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        ".circleci/config.yml",
    ] {
        let node = file("x", 0o644);
        for changes in [vec![made(path)], moved(path, "x", node.clone(), node).to_vec()] {
            assert_eq!(judged(&rules, changes).decision, Ask, "{path}");
        }
    }
}

/// Git writes its own files; a file tool does not.
#[test]
fn git_may_commit() {
    let changes = Changes::of([made(".git/objects/ab/cd"), made(".git/refs/heads/main")]);
    assert_eq!(judged_as(Shell, &shipped(""), &changes).decision, Allow);
    assert_eq!(judged_as(File, &shipped(""), &changes).decision, Deny);
}

/// A rule for other tools says nothing of this one.
#[test]
fn rules_are_heard_with_all_their_conditions() {
    let rules = shipped(
        "[[rules]]\ndecision = 'deny'\ntool = 'other'\npath = 'a'\n\
         [[rules]]\ndecision = 'deny'\nclass = 'web'\npath = 'a'\n\
         [[rules]]\ndecision = 'deny'\naccess = 'read'\npath = 'a'\n\
         [[rules]]\ndecision = 'ask'\ntool = 'tool'\n",
    );
    assert_eq!(judged(&rules, [made("a")]).decision, Allow);
    let mine = shipped("[[rules]]\ndecision = 'ask'\ntool = 'to*'\npath = 'a'\n");
    assert_eq!(judged(&mine, [made("a")]).decision, Ask);
}
