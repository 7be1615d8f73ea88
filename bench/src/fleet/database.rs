//! A PostgreSQL of the measurement's own: in a directory, on a Unix socket, as safe as it is by default, ended with it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use super::Outcome;

/// A running database.
pub(super) struct Postgres {
    dir: TempDir,
    guardian: Child,
}

#[expect(clippy::disallowed_methods, reason = "the measurement starts PostgreSQL")]
fn as_owner(program: &Path) -> Command {
    // PostgreSQL does not run as root.
    let mut command = match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    command.current_dir("/").stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|it| it.starts_with("Uid:\t0\t0"))
}

fn programs() -> Outcome<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")?.flatten();
    let numbered = versions.filter_map(|it| {
        let version: u32 = it.file_name().to_str()?.parse().ok()?;
        Some((version, it.path().join("bin"))).filter(|it| it.0 >= 15)
    });
    let newest = numbered.max().ok_or("install the distribution's package `postgresql`")?;
    Ok(newest.1)
}

impl Postgres {
    pub(super) fn start() -> Outcome<Postgres> {
        let (bin, dir) = (programs()?, tempfile::Builder::new().prefix("ecl").tempdir()?);
        if is_root() {
            let users = fs::read_to_string("/etc/passwd")?;
            let line = users.lines().find(|it| it.starts_with("postgres:"));
            let id = line.and_then(|it| it.split(':').nth(2)?.parse().ok());
            let id: u32 = id.ok_or("there is no user `postgres`")?;
            std::os::unix::fs::chown(dir.path(), Some(id), Some(id))?;
        }
        let mut initdb = as_owner(&bin.join("initdb"));
        initdb.args(["-A", "trust", "-U", "fleet", "--no-locale", "-E", "UTF8", "-D"]);
        let ran = initdb.arg(dir.path().join("data")).output()?;
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&ran.stderr).into());
        }
        // It ends when its input is closed: with this process, however that ends.
        let script = "\"$0\" -D \"$1/data\" -k \"$1\" -c listen_addresses= >>\"$1/log\" 2>&1 & \
                      cat >/dev/null; kill -INT $! 2>/dev/null; wait";
        let mut guard = as_owner(Path::new("sh"));
        guard.args(["-c", script]).arg(bin.join("postgres")).arg(dir.path());
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Postgres { guardian: guard.spawn()?, dir })
    }

    pub(super) fn address(&self, database: &str) -> String {
        format!("host={} user=fleet dbname={database}", self.dir.path().display())
    }

    /// A connection, once it takes any.
    pub(super) async fn connect(&self, database: &str) -> Outcome<Client> {
        let address = self.address(database);
        for _ in 0..600 {
            if let Ok((client, connection)) = tokio_postgres::connect(&address, NoTls).await {
                tokio::spawn(connection);
                return Ok(client);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err("PostgreSQL did not start within a minute".into())
    }

    /// How long its processes have worked, those that ended included.
    pub(super) fn worked(&self) -> Duration {
        let file = self.dir.path().join("data/postmaster.pid");
        let text = fs::read_to_string(file).unwrap_or_default();
        let Some(main) = text.lines().next().and_then(|it| it.parse().ok()) else {
            return Duration::ZERO;
        };
        let children = fs::read_dir("/proc").into_iter().flatten().flatten();
        let children = children.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        let children = children.filter_map(stat).filter(|it| it.parent == main);
        let own = stat(main).map_or(Duration::ZERO, |it| it.worked + it.of_ended);
        children.map(|it| it.worked).sum::<Duration>() + own
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        // It is gone in any case.
        drop(self.guardian.wait());
    }
}

/// What the kernel says of a process.
struct ProcessTimes {
    parent: u32,
    worked: Duration,
    of_ended: Duration,
}

/// The kernel counts in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

fn stat(process: u32) -> Option<ProcessTimes> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let worked = TICK * (ticks(11)? + ticks(12)?);
    Some(ProcessTimes { parent: ticks(1)?, worked, of_ended: TICK * (ticks(13)? + ticks(14)?) })
}

/// How long a process has worked.
pub(super) fn worked(process: u32) -> Duration {
    stat(process).map_or(Duration::ZERO, |it| it.worked)
}

/// Its memory in MB, now and at most.
pub(super) fn memory(process: u32) -> (f64, f64) {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = |name: &str| status.lines().find_map(|it| it.strip_prefix(name));
    let kib = |name: &str| line(name).and_then(|it| it.split_whitespace().next()?.parse().ok());
    let mb = |name: &str| kib(name).unwrap_or(0.0) * 1_024.0 / 1e6;
    (mb("VmRSS:"), mb("VmHWM:"))
}
