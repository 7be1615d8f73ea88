//! A PostgreSQL of its own for `eclusa fleet dev`: in a directory, on a Unix socket, ended with this process.

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::{failure::Failure, read_text::read_text};

/// The oldest version that is used.
const OLDEST: u32 = 15;

/// The longest path of a directory in which a socket can be.
const MAX_SOCKET: usize = 90;

/// Starts the database, and ends it when its stdin is closed: when this process ends, however that happens.
const GUARD: &str = "\"$0\" -D \"$1/data\" -k \"$1\" -c listen_addresses= >>\"$1/log\" 2>&1 & \
                     cat >/dev/null; kill -INT $! 2>/dev/null; wait";

/// A running PostgreSQL.
pub(super) struct DevPostgres {
    dir: PathBuf,
    guardian: Child,
}

impl DevPostgres {
    /// Starts the one in this directory, which is made where it is not there.
    pub(super) fn start(dir: &Path) -> Result<DevPostgres, Failure> {
        let bin = programs()?;
        fs::create_dir_all(dir).map_err(Failure::failed)?;
        let dir = dir.canonicalize().map_err(Failure::failed)?;
        if dir.as_os_str().len() > MAX_SOCKET {
            return Err(Failure::usage(format!(
                "the path `{}` is too long for a socket",
                dir.display()
            ))
            .hint("name a directory with a shorter one"));
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).map_err(Failure::failed)?;
        if is_root() {
            let (user, group) = owner()?;
            std::os::unix::fs::chown(&dir, Some(user), Some(group)).map_err(Failure::failed)?;
        }
        if !dir.join("data/PG_VERSION").exists() {
            let mut initdb = as_owner(&bin.join("initdb"));
            initdb.args([
                "-A",
                "trust",
                "-U",
                "fleet",
                "--no-locale",
                "-E",
                "UTF8",
                "--no-sync",
                "-D",
            ]);
            let ran = initdb.arg(dir.join("data")).current_dir("/").stdin(Stdio::null()).output();
            let ran = ran.map_err(|err| Failure::failed(format!("cannot run initdb: {err}")))?;
            if !ran.status.success() {
                let said = String::from_utf8_lossy(&ran.stderr);
                let said =
                    said.lines().find(|it| it.contains("error")).unwrap_or("it says nothing");
                return Err(Failure::failed(format!("cannot make a database: {said}")).hint(
                    "as root it belongs to the user `postgres`: name a directory that this user can reach",
                ));
            }
        }
        let mut guard = as_owner(Path::new("sh"));
        guard.args(["-c", GUARD]).arg(bin.join("postgres")).arg(&dir).current_dir("/");
        // Ctrl-C is for this process, which ends the database when nothing needs it any more.
        guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guardian = guard.spawn().map_err(Failure::failed)?;
        Ok(DevPostgres { dir, guardian })
    }

    /// How it is reached.
    pub(super) fn address(&self) -> String {
        format!("host={} user=fleet dbname=postgres", self.dir.display())
    }

    /// Where it writes what goes wrong.
    pub(super) fn log(&self) -> PathBuf {
        self.dir.join("log")
    }
}

impl Drop for DevPostgres {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        // It is gone in any case.
        drop(self.guardian.wait());
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A program as the user that PostgreSQL runs as: it does not run as root.
#[expect(clippy::disallowed_methods, reason = "a service that outlives calls, for no tool")]
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

/// Numbers of the user `postgres` and its group.
fn owner() -> Result<(u32, u32), Failure> {
    let users = read_text(Path::new("/etc/passwd")).unwrap_or_default();
    let line = users.lines().find(|it| it.starts_with("postgres:"));
    let number = |at: usize| line.and_then(|it| it.split(':').nth(at)?.parse().ok());
    number(2).zip(number(3)).ok_or_else(|| {
        Failure::failed("PostgreSQL does not run as root, and there is no user `postgres`").hint(
            "call this as an ordinary user, or install the distribution's package `postgresql`",
        )
    })
}

/// Where the programs of PostgreSQL are: by `PATH`, or else the newest that a distribution put aside.
fn programs() -> Result<PathBuf, Failure> {
    let by_path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let aside = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"];
    let aside = aside.iter().flat_map(fs::read_dir).flatten().flatten();
    let mut aside: Vec<(u32, PathBuf)> =
        aside.filter_map(|it| version(it.path().join("bin"))).collect();
    aside.sort();
    let found = by_path.into_iter().filter_map(version).find(|it| it.0 >= OLDEST);
    let found = found.or_else(|| aside.pop().filter(|it| it.0 >= OLDEST));
    found.map(|it| it.1).ok_or_else(|| {
        Failure::failed("PostgreSQL 15 or newer is not installed here")
            .hint("install the distribution's package `postgresql`")
    })
}

/// The version of the programs in a directory, if they are there.
fn version(bin: PathBuf) -> Option<(u32, PathBuf)> {
    let has = |name: &str| bin.join(name).metadata().is_ok_and(|it| it.mode() & 0o111 != 0);
    if !has("initdb") || !has("postgres") {
        return None;
    }
    let ran = as_owner(&bin.join("initdb")).arg("--version").current_dir("/").output().ok()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    // `initdb (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`
    let number = said.split_whitespace().nth(2)?.split(|it: char| !it.is_ascii_digit()).next()?;
    Some((number.parse().ok()?, bin))
}
