//! A place for one test: a workspace, something outside it, and the layers of a staged command.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use eclusa_sandbox::{Exit, HostCapabilities, Plan, Sandbox, Staging, probe};

/// What this machine can do. Found once.
pub(crate) fn capabilities() -> &'static HostCapabilities {
    static GROUND: OnceLock<HostCapabilities> = OnceLock::new();
    GROUND.get_or_init(|| {
        let state = tempfile::tempdir_in(test_root()).unwrap();
        probe(state.path())
    })
}

/// A directory for tests that no sandbox covers with one of its own. Tests that run as another user
/// are given one.
pub(crate) fn test_root() -> PathBuf {
    let given = std::env::var_os("ECLUSA_TEST_ROOT").map(PathBuf::from);
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // A checkout in /tmp is covered itself.
    let covered = ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|it| target.starts_with(it));
    // One that somebody else has built is only read.
    let covered = covered || tempfile::tempdir_in(&target).is_err();
    let elsewhere = || match is_root() {
        true => PathBuf::from("/var/cache/eclusa-tests"),
        false => std::env::var_os("HOME").unwrap().into(),
    };
    let root = given.unwrap_or_else(|| if covered { elsewhere() } else { target });
    std::fs::create_dir_all(&root).unwrap();
    root
}

/// A workspace with one file, a directory outside with one file, and room for layers.
pub(crate) struct World {
    root: tempfile::TempDir,
}

impl World {
    /// Where a sandbox can see it, so that what is outside can be attacked.
    pub(crate) fn new() -> World {
        World::beneath(&test_root())
    }

    /// Where a sandbox has a directory of its own instead.
    pub(crate) fn in_tmp() -> World {
        World::beneath(Path::new("/tmp"))
    }

    fn beneath(root: &Path) -> World {
        let root = tempfile::tempdir_in(root).unwrap();
        let path = root.path();
        for name in ["ws", "outside", "state", "state/upper", "state/work"] {
            std::fs::create_dir(path.join(name)).unwrap();
        }
        std::fs::write(path.join("ws/in.txt"), "inside\n").unwrap();
        std::fs::write(path.join("outside/out.txt"), "outside\n").unwrap();
        World { root }
    }

    pub(crate) fn path(&self, beneath: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(beneath)
    }

    pub(crate) fn ws(&self) -> PathBuf {
        self.path("ws")
    }

    pub(crate) fn staging(&self) -> Staging {
        Staging {
            covers: Vec::new(),
            lower: self.ws(),
            upper: self.path("state/upper"),
            work: self.path("state/work"),
            live: Vec::new(),
        }
    }

    /// A shell text that may only read.
    pub(crate) fn read_only(&self, text: &str) -> Plan {
        let plan = Plan::bash(text, self.ws());
        with_path(plan)
    }

    /// A shell text whose changes are staged.
    pub(crate) fn staged(&self, text: &str) -> Plan {
        let mut plan = Plan::bash(text, self.ws());
        plan.stage.push(self.staging());
        with_path(plan)
    }

    /// A shell text whose changes are real at once.
    pub(crate) fn in_place(&self, text: &str) -> Plan {
        let mut plan = Plan::bash(text, self.ws());
        plan.write.push(self.ws());
        with_path(plan)
    }

    pub(crate) fn read(&self, beneath: &str) -> String {
        std::fs::read_to_string(self.path(beneath)).unwrap()
    }

    /// Everything about what is outside that a command could change.
    pub(crate) fn outside(&self) -> Vec<String> {
        let look = |path: PathBuf| {
            let at = path.symlink_metadata().unwrap();
            let (mode, owner) = (at.permissions().mode(), (at.uid(), at.gid()));
            let times = (at.mtime_nsec(), at.mtime(), at.ctime_nsec(), at.ctime());
            let text = if at.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            format!("{path:?} {mode:o} {owner:?} {times:?} {} {text:?}", at.nlink())
        };
        let mut all = vec![look(self.path("outside")), look(self.path(""))];
        let entries = std::fs::read_dir(self.path("outside")).unwrap();
        all.extend(entries.map(|entry| look(entry.unwrap().path())));
        all.sort();
        all
    }

    pub(crate) fn has(&self, beneath: &str) -> bool {
        self.path(beneath).symlink_metadata().is_ok()
    }
}

impl Drop for World {
    /// The overlay leaves directories of mode 0, which an ordinary user can't enter to remove.
    fn drop(&mut self) {
        let open = |path: &Path| {
            let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
        };
        let mut at = self.root.path().join("state/work");
        for name in ["work", "incompat", "volatile"] {
            at.push(name);
            open(&at);
        }
    }
}

fn with_path(mut plan: Plan) -> Plan {
    plan.env.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
    plan
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Plan) -> Exit {
    Sandbox::spawn(plan, capabilities(), |_| {}).unwrap().wait().unwrap()
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
