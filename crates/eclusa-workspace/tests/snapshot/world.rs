//! A workspace on disk, commands that run on it, and everything that can be told of it by looking.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    process::Command,
};

use eclusa_workspace::{PutBack, Snapshot, SnapshotError, SnapshotOptions, Workspace};

/// What can be told of a node by looking at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) what: String,
    pub(crate) mode: u32,
    modified: (i64, i64),
    attributes: Vec<u8>,
    names: u64,
}

/// Everything below a directory, and itself.
pub(crate) type Tree = BTreeMap<PathBuf, Look>;

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) workspace: Workspace,
}

impl World {
    /// A workspace that this script has made.
    pub(crate) fn new(start: &str) -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        let (workspace, _) =
            Workspace::open(dir.path().join("ws"), dir.path().join("state")).unwrap();
        let world = World { dir, workspace };
        world.run(start);
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    /// Runs a shell text on the files, with what holds a command being nobody's business here.
    pub(crate) fn run(&self, script: &str) {
        run(&self.root(), script);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.workspace.snapshot(&SnapshotOptions::default()).unwrap()
    }

    /// An empty directory that changes are moved to.
    pub(crate) fn layer(&self) -> PathBuf {
        let count = fs::read_dir(self.dir.path()).unwrap().count();
        let layer = self.dir.path().join(format!("layer-{count}"));
        fs::create_dir(&layer).unwrap();
        layer
    }

    /// Runs a shell text, and puts back what it did.
    pub(crate) fn stage(&self, script: &str) -> Result<PutBack, SnapshotError> {
        self.stage_with(|| self.run(script))
    }

    pub(crate) fn stage_with(&self, act: impl FnOnce()) -> Result<PutBack, SnapshotError> {
        let snapshot = self.snapshot();
        act();
        snapshot.put_back(&self.layer())
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(&self.root())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Whoever is no superuser could not remove it.
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.dir.path()).status();
    }
}

pub(crate) fn run(root: &Path, script: &str) {
    let script = format!("umask 022; set -e\n{script}");
    let output = Command::new("bash").args(["-c", &script]).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What has a place in changes, for comparing with a plain run.
pub(crate) fn plain(tree: &Tree) -> BTreeMap<PathBuf, (String, u32)> {
    let held = tree
        .iter()
        .filter(|(path, look)| !path.as_os_str().is_empty() && !look.what.starts_with("special"));
    held.map(|(path, look)| (path.clone(), (look.what.clone(), look.mode))).collect()
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(root, Path::new(""), &mut tree);
    tree
}

fn walk(root: &Path, below: &Path, tree: &mut Tree) {
    let path = root.join(below);
    let about = fs::symlink_metadata(&path).unwrap();
    let mode = about.permissions().mode() & 0o7777;
    let kind = about.file_type();
    // What is shut is opened for a look, by whoever is no superuser.
    let shut = !kind.is_symlink() && mode & 0o500 != 0o500 && !kind.is_fifo();
    if shut && fs::File::open(&path).is_err() {
        let was = (about.modified().unwrap(), about.permissions());
        fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o700)).unwrap();
        walk(root, below, tree);
        let look = tree.get_mut(below).unwrap();
        look.mode = mode;
        fs::set_permissions(&path, was.1).unwrap();
        return;
    }
    let what = if kind.is_symlink() {
        format!("link {:?}", fs::read_link(&path).unwrap())
    } else if kind.is_dir() {
        "directory".to_owned()
    } else if kind.is_file() {
        let content = fs::read(&path).unwrap();
        let long = content.len() > 100;
        let text = String::from_utf8_lossy(&content[..content.len().min(100)]).into_owned();
        format!(
            "file {} {text:?}{}",
            content.len(),
            if long { digest(&content) } else { "".into() }
        )
    } else {
        format!("special {}", about.mode() & 0o170_000)
    };
    let mut attributes = vec![0; 4096];
    let listed = match kind.is_symlink() {
        true => Ok(0),
        false => rustix::fs::listxattr(&path, &mut attributes),
    };
    attributes.truncate(listed.unwrap_or(0));
    let names = if kind.is_file() { about.nlink() } else { 1 };
    let modified = (about.mtime(), about.mtime_nsec());
    tree.insert(below.to_owned(), Look { what, mode, modified, attributes, names });
    if kind.is_dir() {
        for entry in fs::read_dir(&path).unwrap() {
            walk(root, &below.join(entry.unwrap().file_name()), tree);
        }
    }
}

fn digest(content: &[u8]) -> String {
    eclusa_workspace::ContentDigest::of(content).to_string()
}

/// The paths of changes, with what became of each.
pub(crate) fn told(outcome: &PutBack) -> Vec<String> {
    let told = outcome.changes.iter().map(|it| {
        let path = String::from_utf8_lossy(it.path.as_os_str().as_bytes()).into_owned();
        let what = match (&it.before, &it.after) {
            (None, _) => "made",
            (_, None) => "gone",
            _ => "altered",
        };
        let from = it.from.as_ref().map(|it| format!(" from {}", it.display()));
        format!("{what} {path}{}", from.unwrap_or_default())
    });
    told.collect()
}
