//! Which servers of an agent stand behind a gateway of ours right now, for the hooks of that agent: a
//! call that the gateway judges is not put to a person by the hook as well.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use eclusa::{Durability, workspace::private_file};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{paths::Paths, tickets::remove};

/// A gateway in front of one server. It counts while its process holds the file.
#[derive(Debug, Serialize, Deserialize)]
struct GatewayLease {
    /// The process.
    pid: u32,
    /// The server, by the name that rules know.
    server: String,
    /// Whose rules it judges by.
    workspace: PathBuf,
}

/// Tells the hooks of the agent that started us that calls of this server are judged here, until this
/// process ends.
pub fn hold(paths: &Paths, server: &str) -> io::Result<()> {
    let directory = directory(paths);
    private_file::make_directory(&directory)?;
    leases(&directory).for_each(drop);
    let pid = std::process::id();
    let (server, workspace) = (server.to_owned(), paths.workspace.clone());
    let text = serde_json::to_vec(&GatewayLease { pid, server, workspace })?;
    let lock = |file: &File| Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?);
    let file = directory.join(pid.to_string());
    let file = private_file::write_with(&file, text, Durability::Crash, lock)?;
    // The lock goes with the process, however that ends.
    std::mem::forget(file);
    Ok(())
}

/// Whether the process `agent` has started a gateway of ours for this server, which is still there.
pub fn is_held(paths: &Paths, agent: u32, server: &str) -> bool {
    let fits = |it: &GatewayLease| it.server == server && it.workspace == paths.workspace;
    leases(&directory(paths)).any(|it| fits(&it) && parent(it.pid) == Some(agent))
}

fn directory(paths: &Paths) -> PathBuf {
    paths.agents().join("gateways")
}

/// Those that are held. Files of processes that have ended are removed.
fn leases(directory: &Path) -> impl Iterator<Item = GatewayLease> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path());
    files.filter(|it| !private_file::is_part(it)).filter_map(|path| {
        let file = File::open(&path).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Somebody else may have removed it.
            let _ = remove(&path);
            return None;
        }
        let lease: GatewayLease = serde_json::from_reader(file).ok()?;
        (path.file_name()?.to_str()? == lease.pid.to_string()).then_some(lease)
    })
}

/// The process that started another.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses, and may be anything.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}
