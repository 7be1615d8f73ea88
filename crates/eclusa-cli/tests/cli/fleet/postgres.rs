//! A PostgreSQL of the tests' own, in a temporary directory, on a Unix socket, ended with the process that started it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use tempfile::TempDir;

use crate::world::until;

/// A running PostgreSQL.
pub(super) struct Postgres {
    dir: TempDir,
    bin: PathBuf,
    /// Ends the server when its stdin is closed, and with it when this process ends.
    guardian: Child,
}

/// A database in it.
pub(super) struct TestDatabase {
    pub(super) postgres: &'static Postgres,
    pub(super) name: String,
}

#[expect(clippy::disallowed_methods, reason = "the test starts PostgreSQL")]
fn as_owner(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    // PostgreSQL does not run as root.
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

/// Where the newest PostgreSQL is, of version 15 or later.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let numbered = versions.filter_map(|it| {
        let version: u32 = it.file_name().to_str()?.parse().ok()?;
        Some((version, it.path().join("bin")))
            .filter(|it| it.0 >= 15 && it.1.join("initdb").exists())
    });
    numbered.max().map(|it| it.1)
}

impl Postgres {
    /// Starts one; `None` where there is none to start.
    pub(super) fn start() -> Option<Postgres> {
        let Some(bin) = programs() else {
            eprintln!("not checked: no PostgreSQL 15 or later is installed here");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        if rustix::process::geteuid().is_root() {
            let id = fs::read_to_string("/etc/passwd").unwrap();
            let line = id.lines().find(|it| it.starts_with("postgres:")).unwrap().to_owned();
            let id: u32 = line.split(':').nth(2).unwrap().parse().unwrap();
            std::os::unix::fs::chown(dir.path(), Some(id), Some(id)).unwrap();
        }
        let ran = as_owner(&bin.join("initdb"))
            .args(["-A", "trust", "-U", "fleet", "--no-locale", "-E", "UTF8", "--no-sync", "-D"])
            .arg(dir.path().join("data"))
            .current_dir("/")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let guardian = guard(&bin, dir.path());
        let postgres = Postgres { dir, bin, guardian };
        postgres.wait();
        Some(postgres)
    }

    /// The one that all tests share that do not end it.
    pub(super) fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(Postgres::start).as_ref()
    }

    fn wait(&self) {
        until("PostgreSQL answers", || {
            let ran = self.psql("postgres", "select 1");
            ran.status.success().then_some(())
        });
    }

    fn psql(&self, database: &str, sql: &str) -> std::process::Output {
        #[expect(clippy::disallowed_methods, reason = "the test asks PostgreSQL")]
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "fleet", "-d", database, "-c", sql]);
        psql.arg("-h").arg(self.dir.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// What a statement says.
    pub(super) fn query(&self, database: &str, sql: &str) -> String {
        let ran = self.psql(database, sql);
        assert!(ran.status.success(), "{sql}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn address(&self, database: &str) -> String {
        format!("host={} user=fleet dbname={database}", self.dir.path().display())
    }

    /// Ends it as a power cut would.
    pub(super) fn kill(&mut self) {
        let pid = fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        let pid: i32 = pid.lines().next().unwrap().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        drop(self.guardian.stdin.take());
        self.guardian.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        self.guardian = guard(&self.bin, self.dir.path());
        self.wait();
    }
}

/// Starts the server and whoever ends it.
fn guard(bin: &Path, dir: &Path) -> Child {
    let script = "\"$0\" -D \"$1/data\" -k \"$1\" -c listen_addresses= -c fsync=off -c shared_buffers=32MB \
                  >>\"$1/log\" 2>&1 & cat >/dev/null; kill -INT $! 2>/dev/null; wait";
    as_owner(Path::new("sh"))
        .args(["-c", script])
        .arg(bin.join("postgres"))
        .arg(dir)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

impl TestDatabase {
    /// A new database; `None` where there is no PostgreSQL.
    pub(super) fn new() -> Option<TestDatabase> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let postgres = Postgres::shared()?;
        let name = format!("fleet_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        postgres.query("postgres", &format!("create database {name}"));
        Some(TestDatabase { postgres, name })
    }

    pub(super) fn address(&self) -> String {
        self.postgres.address(&self.name)
    }

    pub(super) fn query(&self, sql: &str) -> String {
        self.postgres.query(&self.name, sql)
    }
}
