//! What the processes of a sandbox listen on.

use std::collections::BTreeSet;
use std::fs;

use super::survivors;

/// The processes beneath the first one of a sandbox.
#[must_use]
pub fn processes_of(first: i32) -> Vec<i32> {
    survivors::beneath(first)
}

/// The ports that the processes beneath the first one of a sandbox listen on, in order.
#[must_use]
pub fn listening_ports(first: i32) -> Vec<u16> {
    let all = survivors::beneath(first);
    let sockets: BTreeSet<u64> = all.iter().flat_map(|pid| sockets(*pid)).collect();
    let Some(some) = all.first().filter(|_| !sockets.is_empty()) else { return Vec::new() };
    let mut ports = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{some}/net/{table}")).unwrap_or_default();
        let listens = text.lines().filter_map(listener);
        ports.extend(listens.filter(|it| sockets.contains(&it.1)).map(|it| it.0));
    }
    ports.into_iter().collect()
}

/// The sockets that a process has open, by their numbers.
fn sockets(pid: i32) -> Vec<u64> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let number = |target: std::path::PathBuf| -> Option<u64> {
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    open.filter_map(|it| fs::read_link(it.path()).ok()).filter_map(number).collect()
}

/// The port and the number of a socket that listens, of one line of the kernel's table.
fn listener(line: &str) -> Option<(u16, u64)> {
    const LISTENS: &str = "0A";
    let words: Vec<&str> = line.split_whitespace().collect();
    let (local, state) = (words.get(1)?, words.get(3)?);
    let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
    let socket = words.get(9)?.parse().ok()?;
    (*state == LISTENS).then_some((port, socket))
}
