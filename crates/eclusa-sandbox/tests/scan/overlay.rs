//! Runs a shell script over an overlay of a workspace.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use eclusa_sandbox::scan::{Effect, Effects, LayerScan, Moment};
use tempfile::TempDir;

/// Who mounts the overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mounter {
    /// The superuser, in the namespace of the machine.
    Root,
    /// Whoever runs the tests, in a user namespace.
    Anybody,
}

/// Those who can mount one here: nobody, where the machine allows no namespaces.
pub(crate) fn mounters() -> &'static [Mounter] {
    if !eclusa_testing::is_here(eclusa_testing::Need::Namespaces) {
        &[]
    } else if rustix::process::geteuid().is_root() {
        &[Mounter::Root, Mounter::Anybody]
    } else {
        &[Mounter::Anybody]
    }
}

/// A workspace with a place for its layers.
pub(crate) struct World {
    dir: TempDir,
    mounter: Mounter,
    pub(crate) began: Moment,
}

impl World {
    /// A workspace made by a script.
    pub(crate) fn new(mounter: Mounter, script: &str) -> World {
        let dir = TempDir::new().unwrap();
        for name in ["lower", "stage", "stage/upper", "stage/work", "merged"] {
            fs::DirBuilder::new().mode(0o755).create(dir.path().join(name)).unwrap();
        }
        shell(&dir.path().join("lower"), script);
        let mode = fs::metadata(dir.path().join("lower")).unwrap().permissions().mode();
        let upper = dir.path().join("stage/upper");
        fs::set_permissions(&upper, fs::Permissions::from_mode(mode)).unwrap();
        let began = Moment::on(fs::File::open(&upper).unwrap()).unwrap();
        World { dir, mounter, began }
    }

    /// The same with whoever can mount one, if anybody can.
    pub(crate) fn with_any(script: &str) -> Option<World> {
        mounters().first().map(|mounter| World::new(*mounter, script))
    }

    pub(crate) fn lower(&self) -> PathBuf {
        self.dir.path().join("lower")
    }

    pub(crate) fn upper(&self) -> PathBuf {
        self.dir.path().join("stage/upper")
    }

    /// Where the overlay is seen by a script.
    pub(crate) fn merged(&self) -> PathBuf {
        self.dir.path().join("merged")
    }

    /// The directory that holds both the upper layer and the work directory.
    pub(crate) fn stage(&self) -> PathBuf {
        self.dir.path().join("stage")
    }

    /// Runs a script over the workspace.
    pub(crate) fn run(&self, script: &str) -> &World {
        let mount = "mount -t overlay -o userxattr,volatile,lowerdir=lower,upperdir=stage/upper,workdir=stage/work overlay merged";
        let inner = format!("{mount} && cd merged && exec sh -e \"$1\"");
        let file = self.dir.path().join("script");
        fs::File::create(&file)
            .and_then(|mut it| std::io::Write::write_all(&mut it, script.as_bytes()))
            .unwrap();
        let flags: &[&str] = match self.mounter {
            Mounter::Root => &["-m"],
            Mounter::Anybody => &["-U", "-r", "-m"],
        };
        let mut command = program("unshare");
        command.args(flags).args(["sh", "-c", &inner, "sh"]).arg(&file);
        let done = command.current_dir(self.dir.path()).env("LC_ALL", "C").output().unwrap();
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        self
    }

    pub(crate) fn layer(&self) -> LayerScan {
        LayerScan::open(&self.lower(), &self.upper(), self.began).unwrap()
    }

    pub(crate) fn scan(&self) -> Effects {
        self.layer().scan().unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        eclusa_sandbox::scan::discard(&self.stage()).unwrap();
        let _ = eclusa_sandbox::scan::discard(&self.lower());
    }
}

/// Runs a script in a directory.
pub(crate) fn shell(dir: &Path, script: &str) {
    let mut command = program("sh");
    let done = command.args(["-e", "-c", script]).current_dir(dir).env("LC_ALL", "C").output();
    let done = done.unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

#[expect(clippy::disallowed_methods, reason = "tests run real programs")]
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    let mut command = std::process::Command::new(name);
    // Wrappers that a developer has on their path are slow, and none of our business.
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command
}

/// The effect on a path.
pub(crate) fn on<'a>(effects: &'a Effects, path: &str) -> &'a Effect {
    effects.get(path.as_ref()).unwrap_or_else(|| panic!("no effect on {path}: {effects:?}"))
}

/// The effects as words, one for each path.
pub(crate) fn words(effects: &Effects) -> Vec<String> {
    let word = |it: &Effect| {
        let from = it.from.as_ref().map(|it| format!(" from {}", it.display())).unwrap_or_default();
        format!("{:?} {}{from}", it.kind(), it.path.display())
    };
    effects.entries.iter().map(word).collect()
}
