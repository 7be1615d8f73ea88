//! A place for one test: a workspace, something outside it, and the layers of a staged command.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use eclusa_sandbox::{Cell, Exit, Ground, Plan, Staging, probe};

/// What this machine can do. Found once.
pub(crate) fn ground() -> &'static Ground {
    static GROUND: OnceLock<Ground> = OnceLock::new();
    GROUND.get_or_init(|| {
        let state = tempfile::tempdir().unwrap();
        probe(state.path())
    })
}

/// A workspace with one file, a directory outside with one file, and room for layers.
pub(crate) struct World {
    root: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        let root = tempfile::tempdir().unwrap();
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
            lower: self.ws(),
            upper: self.path("state/upper"),
            work: self.path("state/work"),
            live: Vec::new(),
        }
    }

    /// A shell text that may only read.
    pub(crate) fn read_only(&self, text: &str) -> Plan {
        let mut plan = Plan::bash(text, self.ws());
        plan.read.push(self.ws());
        plan.read.push("/".into());
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

    pub(crate) fn has(&self, beneath: &str) -> bool {
        self.path(beneath).symlink_metadata().is_ok()
    }
}

impl Drop for World {
    /// The overlay leaves directories of mode 0, which an ordinary user can't enter to remove.
    fn drop(&mut self) {
        use std::os::unix::fs::PermissionsExt as _;
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
    Cell::spawn(plan, ground(), |_| {}).unwrap().wait().unwrap()
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
