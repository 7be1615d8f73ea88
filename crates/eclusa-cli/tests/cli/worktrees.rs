//! Working trees whose `.git` is a file: git works in them as in the main checkout, what it does to the
//! repository is asked about, listed and undone, and nothing else of the repository can be changed.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::{
    pending::{QUEUE, park, yes},
    world::{Ran, World, flowing, run},
};

/// A script of the person, without the gate, in a directory of the world.
fn plainly(world: &World, directory: &str, script: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell set up the workspace")]
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]).current_dir(world.path(directory));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = shell.output().unwrap();
    assert!(ran.status.success(), "{script}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// With these two repositories have the same commits.
const DATES: &str = "export GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000";

/// `main` is a checkout, `workspace` a working tree of the same repository, on the branch `topic`.
fn linked() -> World {
    let world = World::new();
    world.write(
        "home/.gitconfig",
        "[user]\n\tname = Ana\n\temail = ana@example.org\n[protocol \"file\"]\n\tallow = always\n",
    );
    fs::create_dir(world.path("main")).unwrap();
    let make = "git init -q -b main . && echo one > a.txt && git add -A && git commit -qm first
                git worktree add -q -b topic ../workspace && git worktree add -q -b third ../third";
    plainly(&world, "main", &format!("{DATES}; {make}"));
    world
}

fn bash(world: &World, mode: &str, command: &str) -> Ran {
    let args = json!({"command": command}).to_string();
    world.eclusa(&["--mode", mode, "run", "bash", &args])
}

/// Everything that git and the files say of a directory, for a comparison with a plain run.
fn state(world: &World, directory: &str) -> String {
    let look = "git log --all --format='%D %s %an' && git status -sb && git stash list
                git branch -vv --format='%(refname) %(upstream)' && git fsck --strict 2>&1
                find . -name .git -prune -o -type f -print | sort | xargs cat";
    plainly(world, directory, look)
}

#[test]
fn every_call_of_a_day_in_a_working_tree_ends_as_without_the_gate() {
    eclusa_testing::needs!(Namespaces);
    let (gated, plain) = (linked(), linked());
    let day = [
        "git status -sb",
        "echo two >> a.txt && git add a.txt && git diff --cached --stat",
        "git commit -qm second && git log --format=%s",
        "git switch -qc further && git branch --show-current",
        "echo x > new.txt && git add -A && git stash -q && git stash list",
        "git stash pop -q && git status -s",
        "git commit -qm third && git tag v1 && git rev-list --count HEAD",
        "git switch -q topic && git merge -q further && git log -1 --format=%s",
        "git rebase -q main && git reset -q --hard && git status -s",
        "git branch -d further && git branch --format='%(refname:short)'",
        "git revert --no-edit HEAD && git show --stat --format=%s",
        "git commit --amend -qm amended && git log --format=%s",
        "git worktree list | wc -l && git rev-parse --abbrev-ref HEAD",
    ];
    for command in day {
        let ran = bash(&gated, "yolo", &format!("{DATES}; {command}"));
        let expected =
            plainly(&plain, "workspace", &format!("{DATES}; export GIT_EDITOR=true; {command}"));
        assert_eq!(ran.out.trim(), expected, "{command}: {ran:?}");
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        assert_eq!(state(&gated, "workspace"), state(&plain, "workspace"), "{command}");
        assert_eq!(state(&gated, "main"), state(&plain, "main"), "{command}");
    }
}

#[test]
fn a_commit_is_asked_about_listed_and_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = linked();
    world.write("workspace/a.txt", "two\n");
    let free = bash(&world, "confirm-sensitive", "git add a.txt && git status -s");
    assert_eq!((free.code, free.out.as_str()), (0, "M  a.txt\n"), "{free:?}");
    let head = |directory| plainly(&world, directory, "git rev-parse HEAD");
    let (before, main) = (head("workspace"), head("main"));
    let asked = bash(&world, "confirm-sensitive", "git commit -qm two");
    assert_eq!(asked.code, 3, "{asked:?}");
    assert!(flowing(&asked.err).contains("1 commit on `topic`: two"), "{asked:?}");
    assert_eq!(head("workspace"), before);
    world.write("config/eclusa/eclusa.toml", QUEUE);
    let parked = park(&world, "git commit -qm two && git rev-parse HEAD");
    let shown = parked["output"].as_str().unwrap().trim().to_owned();
    assert_eq!(yes(&world, &parked["approval"]).code, 0);
    assert_eq!((head("workspace"), head("main")), (shown.clone(), main.clone()));
    assert_eq!(plainly(&world, "workspace", "git status -s; git fsck --strict 2>&1"), "");
    let listed = world.eclusa(&["changes"]);
    assert!(listed.out.contains("1 commit on `topic`: two"), "{listed:?}");
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(undone.out.contains("branch topic taken back"), "{undone:?}");
    assert_eq!(head("workspace"), before);
    assert_eq!(plainly(&world, "workspace", "git status -s"), "M  a.txt");
    assert_eq!(world.eclusa(&["redo"]).code, 0);
    assert_eq!((head("workspace"), head("main")), (shown, main));
    // What somebody committed meanwhile is not taken back.
    plainly(&world, "workspace", "echo three > a.txt && git commit -qam three");
    let refused = world.eclusa(&["undo", "--last"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(plainly(&world, "workspace", "git log -1 --format=%s"), "three");
}

#[test]
fn the_rest_of_the_repository_cannot_be_changed() {
    eclusa_testing::needs!(Namespaces);
    let world = linked();
    let denied = |command: &str, why: &str| {
        let ran = bash(&world, "yolo", command);
        assert_eq!(ran.code, 3, "{command}: {ran:?}");
        assert!(flowing(&ran.err).contains(why), "{command}: {ran:?}");
    };
    let common = "\"$(git rev-parse --git-common-dir)\"";
    let by_itself = "what programs run by themselves";
    denied(&format!("echo 'touch /x' > {common}/hooks/post-commit"), by_itself);
    denied(&format!("printf '[core]\\n\\tpager = x\\n' >> {common}/config"), by_itself);
    let another = "belongs to another working tree";
    denied(&format!("echo 'ref: refs/heads/third' > {common}/HEAD"), another);
    denied(&format!("echo 'ref: refs/heads/topic' > {common}/worktrees/third/HEAD"), another);
    denied(&format!("rm {common}/worktrees/third/index"), another);
    denied(&format!("rm -f {common}/index && git add -A"), another);
    denied(&format!("echo x > {common}/worktrees/workspace/gitdir"), another);
    let replaced = bash(&world, "yolo", "rm .git && git init -q . && git add -A");
    assert_ne!(replaced.code, 0, "{replaced:?}");
    assert!(flowing(&replaced.err).contains("it replaces `.git`"), "{replaced:?}");
    assert!(world.path("workspace/.git").is_file());
    assert_eq!(plainly(&world, "main", "git status -sb"), "## main");
    assert_eq!(plainly(&world, "third", "git status -sb"), "## third");
    assert!(!world.path("main/.git/hooks/post-commit").exists());
}

#[test]
fn a_file_that_names_the_repository_of_somebody_else_opens_nothing() {
    eclusa_testing::needs!(Namespaces);
    let world = linked();
    let unchanged = || plainly(&world, "main", "find .git -type f | sort | xargs sha256sum");
    let before = unchanged();
    let git = |to: &Path| format!("gitdir: {}\n", to.display());
    plainly(
        &world,
        "workspace",
        "mkdir -p made/worktrees/w && echo ref: refs/heads/main > made/worktrees/w/HEAD",
    );
    let made = world.path("workspace/made/worktrees/w");
    world.write(
        "workspace/made/worktrees/w/commondir",
        &format!("{}\n", world.path("main/.git").display()),
    );
    world.write(
        "workspace/made/worktrees/w/gitdir",
        &format!("{}\n", world.path("workspace/.git").display()),
    );
    let places = [world.path("main/.git"), world.path("main/.git/worktrees/third"), made];
    for place in places {
        world.write("workspace/.git", &git(&place));
        for write in ["git add -A", "echo x > ../main/.git/planted", "git branch planted"] {
            let ran = bash(&world, "yolo", write);
            assert_ne!(ran.code, 0, "{}: {write}: {ran:?}", place.display());
        }
        assert_eq!(unchanged(), before, "{}", place.display());
    }
}

#[test]
fn a_working_tree_beside_the_workspace_leaves_no_branch_and_one_inside_works() {
    eclusa_testing::needs!(Namespaces);
    let world = linked();
    for mode in ["auto-approve", "yolo"] {
        let ran = bash(&world, mode, &format!("git worktree add -b beside ../beside-{mode}"));
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(flowing(&ran.err).contains("name a directory in the workspace"), "{ran:?}");
        assert_eq!(
            plainly(&world, "main", "git branch --list beside; git worktree list | wc -l"),
            "3"
        );
    }
    let ran =
        bash(&world, "yolo", "git worktree add -q -b inside ./inside && git -C inside status -sb");
    assert_eq!((ran.code, ran.out.as_str()), (0, "## inside\n"), "{ran:?}");
    assert_eq!(plainly(&world, "workspace/inside", "git status -sb"), "## inside");
}

#[test]
fn trust_and_answers_for_always_hold_in_every_working_tree() {
    let world = linked();
    let rules = "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n";
    world.write("main/eclusa.toml", rules);
    world.write("workspace/eclusa.toml", rules);
    let note = |directory: &str| {
        let mut command = world.command(&["run", "note", "text=hello"]);
        command.current_dir(world.path(directory));
        run(command, "").code
    };
    assert_eq!((note("main"), note("workspace")), (3, 3));
    let mut trust = world.command(&["config", "trust"]);
    trust.current_dir(world.path("main"));
    assert_eq!(run(trust, "").code, 0);
    assert_eq!((note("main"), note("workspace")), (0, 0));
    assert_eq!(world.eclusa(&["config", "untrust"]).code, 0);
    assert_eq!((note("main"), note("workspace")), (3, 3));
}

#[test]
fn a_git_directory_cannot_be_made_writable() {
    let world = linked();
    let git = world.path("main/.git");
    let text = format!("[commands]\nwritable = [\"{}\"]\n", git.display());
    world.write("config/eclusa/eclusa.toml", &text);
    let ran = world.eclusa(&["run", "bash", "command=true"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(flowing(&ran.err).contains("lies in a git directory"), "{ran:?}");
    // One by another name is left out, and that is told.
    plainly(&world, "main", "git clone -q --bare . ../shared");
    let bare = world.path("shared");
    let text = format!("[commands]\nwritable = [\"{}\"]\n", bare.display());
    world.write("config/eclusa/eclusa.toml", &text);
    let ran = bash(&world, "yolo", &format!("touch {}/planted", bare.display()));
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(flowing(&ran.err).contains("it lies in a git directory"), "{ran:?}");
    assert!(!ran.err.contains("allow another directory"), "{ran:?}");
    assert!(!bare.join("planted").exists());
}

#[test]
fn a_submodule_is_a_workspace_like_any_other() {
    eclusa_testing::needs!(Namespaces);
    let world = linked();
    let make = "rm -rf ../workspace && git worktree prune && mkdir ../above && cd ../above && git init -q -b main .
                git submodule add -q ../main sub && git commit -qm sub";
    plainly(&world, "main", make);
    let mut command = world.command(&[
        "--mode",
        "yolo",
        "run",
        "bash",
        "command=echo two >> a.txt && git commit -qam two && git log --format=%s",
    ]);
    command.current_dir(world.path("above/sub"));
    let ran = run(command, "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "two\nfirst\n"), "{ran:?}");
    assert_eq!(plainly(&world, "above/sub", "git status -s; git log -1 --format=%s"), "two");
    let mut undo = world.command(&["undo"]);
    undo.current_dir(world.path("above/sub"));
    assert_eq!(run(undo, "").code, 0);
    assert_eq!(plainly(&world, "above/sub", "git log -1 --format=%s; git status -s"), "first");
}

/// Where agents have their own working trees below the one that they share.
#[test]
fn agents_work_in_working_trees_inside_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    let make = |world: &World| {
        world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
        let make = "git init -q -b main . && printf '.trees/\\n' > .gitignore && echo one > a.txt && git add -A && git commit -qm first
                    for it in api ui; do git worktree add -q -b agent/$it .trees/$it; done";
        plainly(world, "workspace", &format!("{DATES}; {make}"));
    };
    let (gated, plain) = (World::new(), World::new());
    make(&gated);
    make(&plain);
    for command in [
        "cd .trees/api && echo two >> a.txt && git diff --stat",
        "cd .trees/api && git add -A && git commit -qm api && git log --format=%s",
        "cd .trees/ui && echo three > b.txt && git add -A && git stash -q && git stash pop -q && git commit -qm ui",
        "git merge -q --no-edit agent/api && git merge -q --no-edit agent/ui && git log --format=%s | sort",
        "cd .trees/ui && git rebase -q main && git status -sb",
        "git worktree add -q -b agent/fix .trees/fix && cd .trees/fix && echo x > x && git add x && git commit -qm fix",
        "cd .trees/fix && git commit -q --amend -m fixed && git log -1 --format=%s",
    ] {
        let ran = bash(&gated, "auto-approve", command);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        let output = plainly(&plain, "workspace", command);
        let said = ran
            .out
            .replace(&gated.path("").display().to_string(), &plain.path("").display().to_string());
        assert!(output.is_empty() || said.trim().contains(&output), "{command}: {output}: {ran:?}");
    }
    let look = "git log --all --format='%D %s' | sort; git status -sb; git -C .trees/api status -sb; git fsck --strict 2>&1 | grep -v dangling || true; cat .trees/ui/*";
    assert_eq!(plainly(&gated, "workspace", look), plainly(&plain, "workspace", look));
    // Where one stands is said by git alone.
    let moved = "echo /elsewhere/.git > .git/worktrees/api/gitdir";
    let ran = bash(&gated, "yolo", moved);
    assert_eq!(ran.code, 3, "{ran:?}");
}
