//! What git knows, beside what git itself says of the same directory.
#![expect(clippy::disallowed_methods, reason = "the test makes a repository and asks git")]

use std::{fs, path::Path, process::Command};

use super::*;
use crate::FileNode;

fn change(path: &str, before: Option<Node>, after: Option<Node>) -> Change {
    Change { path: path.into(), from: None, before, after }
}

/// A repository with one commit, and git run in it without anybody's settings.
struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        fs::create_dir(world.root()).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world.write(".gitignore", "build/\n*.log\n!keep.log\n/data/*.db\n");
        world.write("src/a.c", "int a;\n");
        world.write("src/b.c", "int b;\n");
        world.write("tracked.log", "kept\n");
        world.git(&["add", "-f", "."]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("ws")
    }

    fn workspace(&self) -> Workspace {
        Workspace::named(self.root(), self.0.path().join("state")).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.root()).args(args).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.0.path());
        git.envs(["AUTHOR", "COMMITTER"].map(|it| (format!("GIT_{it}_NAME"), "Ada")));
        git.envs(["AUTHOR", "COMMITTER"].map(|it| (format!("GIT_{it}_EMAIL"), "ada@example.org")));
        let done = git.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What is there now, as a change would have it.
    fn node(&self, path: &str) -> Option<Node> {
        let content = fs::read(self.root().join(path)).ok()?;
        Some(Node::File(FileNode::new(content, 0o644)))
    }

    /// The facts of one path that becomes this.
    fn becomes(&self, path: &str, text: Option<&str>) -> PathFacts {
        let after = text.map(|it| Node::File(FileNode::new(it.as_bytes().to_vec(), 0o644)));
        let before = self.node(path);
        let changes = Changes::of([change(path, before, after)]);
        facts(&self.workspace(), &changes).path(0)
    }
}

#[test]
fn what_git_ignores_is_ephemeral_and_what_it_tracks_never_is() {
    let world = World::new();
    world.write("build/old.o", "o");
    let at = |path| world.becomes(path, Some("new\n")).ephemeral;
    assert_eq!(at("build/a/b.o"), Some(1));
    assert_eq!(at("build/old.o"), Some(1));
    assert_eq!(at("sub/x.log"), Some(2));
    assert_eq!(at("data/x.db"), Some(2));
    for path in ["src/new.c", "keep.log", "tracked.log", "deep/data/x.db", ".gitignore"] {
        assert_eq!(at(path), None, "{path}");
    }
    // Git agrees.
    for (path, ignored) in [("build/a/b.o", true), ("sub/x.log", true), ("src/new.c", false)] {
        let said = world.git(&["ls-files", "-o", "-i", "--exclude-standard", "--directory"]);
        let said = said.lines().any(|it| Path::new(path).starts_with(it.trim_end_matches('/')));
        assert!(said <= ignored, "{path}");
    }
}

/// Many a small repository has no `.gitignore`, and its tests are to run all the same.
#[test]
fn a_cache_of_a_tool_is_ephemeral_unless_git_tracks_something_in_it() {
    let world = World::new();
    let at = |path| world.becomes(path, Some("new\n")).ephemeral;
    assert_eq!(at("src/__pycache__/a.pyc"), Some(2));
    assert_eq!(at(".pytest_cache/README.md"), Some(1));
    assert_eq!(at("target/a.o"), None, "somebody may have written it");
    world.write("src/__pycache__/kept.pyc", "k");
    world.git(&["add", "-f", "src/__pycache__/kept.pyc"]);
    assert_eq!(at("src/__pycache__/a.pyc"), None);
    assert_eq!(at("src/__pycache__/kept.pyc"), None);
    assert_eq!(at("other/__pycache__/a.pyc"), Some(2));
}

#[test]
fn what_is_committed_is_told_from_what_is_not() {
    let world = World::new();
    assert_eq!(world.becomes("src/a.c", None).tracked, Tracked::Clean);
    world.write("src/a.c", "int a = 1;\n");
    assert_eq!(world.becomes("src/a.c", None).tracked, Tracked::Dirty);
    assert!(world.becomes("src/a.c", Some("int a;\n")).restored, "as git checkout does it");
    assert!(!world.becomes("src/a.c", Some("int a = 2;\n")).restored, "as an editor does it");
    // Staged is not committed.
    world.git(&["add", "src/a.c"]);
    assert_eq!(world.becomes("src/a.c", None).tracked, Tracked::Dirty);
    world.git(&["commit", "-q", "-m", "second"]);
    assert_eq!(world.becomes("src/a.c", None).tracked, Tracked::Clean);
    assert_eq!(world.becomes("untracked.c", Some("x")).tracked, Tracked::No);
    world.git(&["update-index", "--index-version", "4"]);
    assert_eq!(world.becomes("src/b.c", None).tracked, Tracked::Clean, "in the other format");
}

#[test]
fn commits_and_names_are_read_from_what_changes() {
    let world = World::new();
    let before: Vec<(PathBuf, Vec<u8>)> = files(&world.root().join(".git"));
    world.git(&["switch", "-q", "-c", "topic"]);
    world.write("src/a.c", "int a = 3;\n");
    world.git(&["commit", "-q", "-am", "a: three\n\nBecause."]);
    world.git(&["tag", "v1"]);
    let after = files(&world.root().join(".git"));
    let node = |it: Option<&(PathBuf, Vec<u8>)>| {
        it.map(|it| Node::File(FileNode::new(it.1.clone(), 0o644)))
    };
    let changed = after.iter().map(|now| {
        let then = before.iter().find(|it| it.0 == now.0);
        let path = now.0.strip_prefix(world.root()).unwrap();
        change(path.to_str().unwrap(), node(then), node(Some(now)))
    });
    let changes = Changes::of(changed);
    let facts = facts(&world.workspace(), &changes);
    let said: Vec<String> = facts.actions().iter().map(ToString::to_string).collect();
    assert_eq!(said, ["1 commit on `topic`: a: three", "tag `v1`"]);
    assert_eq!(facts.commits.len(), 1);
}

#[test]
fn without_git_the_names_of_caches_say_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ws")).unwrap();
    let workspace = Workspace::named(dir.path().join("ws"), dir.path().join("state")).unwrap();
    let file = || Some(Node::File(FileNode::new(b"x".to_vec(), 0o644)));
    let at = |path: &str| {
        facts(&workspace, &Changes::of([change(path, None, file())])).path(0).ephemeral
    };
    // The temporary directory may itself lie in somebody's repository; then git says it.
    if git_directory_above(&dir.path().join("ws")) {
        return;
    }
    assert_eq!(at("a/__pycache__/x.pyc"), Some(2));
    assert_eq!(at("node_modules/x/y.js"), Some(1));
    assert_eq!(at("src/main.py"), None);
}

#[test]
fn names_alone_make_no_secret_of_public_material() {
    let world = World::new();
    let key = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n";
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n";
    let public = |path, text| world.becomes(path, Some(text)).public;
    assert!(public("build/lib/site-packages/certifi/cacert.pem", certificate));
    assert!(public("src/credentials.py", "def load(): ...\n"));
    assert!(!public("build/site-packages/x/key.pem", key));
    assert!(!public(".env", "A=1\n"));
    assert!(!public("id_rsa", "A=1\n"));
}

fn git_directory_above(path: &Path) -> bool {
    path.ancestors().any(|it| git_directory(it).is_some())
}

fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
    let all = entries.flat_map(|it| match it.is_dir() {
        true => files(&it),
        false => vec![(it.clone(), fs::read(&it).unwrap())],
    });
    all.collect()
}
