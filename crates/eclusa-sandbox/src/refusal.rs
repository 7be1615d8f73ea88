//! What a sandbox refused, read from what the command complained about, and the smallest grant that
//! would allow it.
//!
//! The kernel tells the command, not us, so this reads messages and compares them with the plan.
//! It names what it is sure of and stays silent otherwise; nothing is decided by it. Attempts on
//! the network through the proxy are reported by the proxy, exactly.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::plan::Plan;

/// Something that the sandbox did not let the command do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Writing outside of what the plan makes writable.
    Write(PathBuf),
    /// Reading what the plan doesn't let be read.
    Read(PathBuf),
    /// Seeing what the plan hides.
    Hidden(PathBuf),
    /// The network; the host where it was named.
    Network(Option<String>),
    /// More memory, processes, file size or room in `/tmp` than the plan gives.
    Limit(&'static str),
    /// Changing a file that belongs to a user or group which the user namespace does not know; the
    /// file where it was named.
    Owner(Option<PathBuf>),
    /// A system call that no sandbox has, as the command named it.
    Call(String),
}

impl Refusal {
    /// The smallest grant that would allow it, where there is one.
    #[must_use]
    pub fn grant(&self) -> Option<String> {
        match self {
            Refusal::Write(path) => {
                let directory = path.parent().unwrap_or(path);
                Some(format!("make `{}` writable", directory.display()))
            }
            Refusal::Read(path) => Some(format!("let `{}` be read", path.display())),
            Refusal::Hidden(path) => Some(format!("no longer hide `{}`", path.display())),
            Refusal::Network(Some(host)) => Some(format!("allow the host `{host}`")),
            Refusal::Network(None) => Some("allow the host that it needs".to_owned()),
            Refusal::Limit(what) => Some(format!("raise the limit on {what}")),
            Refusal::Owner(_) | Refusal::Call(_) => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Write(path) => write!(f, "writing `{}` was refused", path.display()),
            Refusal::Read(path) => write!(f, "reading `{}` was refused", path.display()),
            Refusal::Hidden(path) => write!(f, "`{}` is hidden", path.display()),
            Refusal::Network(Some(host)) => write!(f, "`{host}` can't be reached"),
            Refusal::Network(None) => f.write_str("there is no network"),
            Refusal::Limit(what) => write!(f, "the limit on {what} was reached"),
            Refusal::Owner(file) => {
                let file = file.as_ref().map(|it| format!("`{}`", it.display()));
                let file = file.as_deref().unwrap_or("a file");
                write!(
                    f,
                    "changing {file} was refused: its owner or its group is not yours, and the \
                     sandbox knows no other (`Value too large for defined data type`)"
                )
            }
            Refusal::Call(what) => write!(f, "`{what}` is not possible in a sandbox"),
        }
    }
}

/// The most that are told, so that a command can't flood whoever reads them.
const MAX_REFUSALS: usize = 20;

/// What the messages of a command say was refused, each once, in the order of its output.
#[must_use]
pub fn refusals(output: &str, plan: &Plan) -> Vec<Refusal> {
    let mut found: Vec<Refusal> = Vec::new();
    for line in output.lines().filter(|line| line.len() < 4096) {
        if let Some(refusal) = read(line, plan)
            && !found.contains(&refusal)
        {
            found.push(refusal);
        }
        if found.len() == MAX_REFUSALS {
            break;
        }
    }
    found
}

fn read(line: &str, plan: &Plan) -> Option<Refusal> {
    let says = |text: &str| line.contains(text);
    if says("Read-only file system") || says("EROFS") {
        let path = path_in(line, plan)?;
        return (!writable(&path, plan)).then_some(Refusal::Write(path));
    }
    if says("Permission denied") || says("EACCES") {
        return denied(path_in(line, plan)?, plan);
    }
    // What the kernel says where an id has no counterpart in the user namespace.
    if says("Value too large for defined data type") || says("EOVERFLOW") {
        return match path_in(line, plan) {
            Some(path) => writable(&path, plan).then_some(Refusal::Owner(Some(path))),
            None => Some(Refusal::Owner(None)),
        };
    }
    if let Some(host) = unresolved(line) {
        return Some(Refusal::Network(Some(host)));
    }
    if [
        "Network is unreachable",
        "ENETUNREACH",
        "Temporary failure in name resolution",
        "EAI_AGAIN",
    ]
    .into_iter()
    .any(says)
    {
        return Some(Refusal::Network(None));
    }
    if says("File too large") || says("EFBIG") || says("File size limit exceeded") {
        return Some(Refusal::Limit("the size of a file"));
    }
    if says("No space left on device")
        && path_in(line, plan).is_some_and(|at| at.starts_with("/tmp"))
    {
        return Some(Refusal::Limit("the size of /tmp"));
    }
    if says("Cannot allocate memory") || says("ENOMEM") {
        return Some(Refusal::Limit("memory"));
    }
    if says("fork") && says("Resource temporarily unavailable") {
        return Some(Refusal::Limit("the number of processes"));
    }
    let first = line.split(':').next().unwrap_or_default().trim();
    let known = ["unshare", "mount", "umount", "chroot", "strace", "gdb", "bwrap", "nsenter"];
    (says("Operation not permitted") && known.contains(&first))
        .then(|| Refusal::Call(first.to_owned()))
}

/// What a denied path was denied for, if it was the plan that denied it.
fn denied(path: PathBuf, plan: &Plan) -> Option<Refusal> {
    if let Some(hidden) = plan.hide.iter().find(|hidden| path.starts_with(hidden)) {
        return Some(Refusal::Hidden(hidden.clone()));
    }
    let read = plan.read.iter().any(|root| path.starts_with(root));
    (!plan.read.is_empty() && !read && !writable(&path, plan)).then_some(Refusal::Read(path))
}

fn writable(path: &Path, plan: &Plan) -> bool {
    plan.write.iter().any(|root| path.starts_with(root))
        || plan.stage.iter().any(|one| path.starts_with(&one.lower))
}

/// The path that a message is about: in quotes, or between colons.
fn path_in(line: &str, plan: &Plan) -> Option<PathBuf> {
    let quoted = line.split(['\'', '"', '`', '\u{2018}', '\u{2019}']).skip(1).step_by(2);
    let quoted = quoted
        .filter(|part| !part.is_empty())
        .find(|part| part.contains('/') || !part.contains(' '));
    // The first part is the program that complains.
    let parts = || line.split(": ").skip(1).map(str::trim);
    let whole = || parts().filter(|part| part.contains('/') && !part.contains(' ')).last();
    let word =
        || parts().flat_map(str::split_whitespace).filter(|word| word.starts_with('/')).last();
    let path = Path::new(quoted.or_else(whole).or_else(word)?);
    let mut whole = PathBuf::new();
    for part in plan.cwd.join(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    Some(whole)
}

/// The host in a message that says it has no address.
fn unresolved(line: &str) -> Option<String> {
    let marks = [
        "Could not resolve host: ",
        "getaddrinfo ENOTFOUND ",
        "getaddrinfo EAI_AGAIN ",
        "unable to resolve host address ",
    ];
    let rest = marks.into_iter().find_map(|mark| line.split_once(mark).map(|(_, rest)| rest))?;
    let name = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let rest = rest.trim_start_matches(|letter| !name(letter));
    let host: String = rest.chars().take_while(|letter| name(*letter)).collect();
    let host = host.trim_end_matches('.').to_owned();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests;
