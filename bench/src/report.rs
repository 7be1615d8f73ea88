//! A report: what was measured, on which machine, of which commit. Reports are kept by both, so that
//! two of them can be compared.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::measure::Figure;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Where reports are kept, from the root of the repository.
const RESULTS: &str = "workshop/bench";

/// What one run of the benchmarks has seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The form of this report.
    pub(crate) v: u32,
    /// The processor and how many of them.
    pub(crate) machine: String,
    /// The operating system.
    pub(crate) system: String,
    /// What was built.
    pub(crate) commit: String,
    /// True when files were changed since.
    pub(crate) changed: bool,
    /// How it was built: `release`, `dist` or `debug`.
    pub(crate) profile: String,
    /// When it was measured, in seconds since 1970.
    pub(crate) at: u64,
    /// The load of the machine when it began: numbers of a busy one mean little.
    pub(crate) load: String,
    /// The numbers.
    pub(crate) figures: Vec<Figure>,
}

impl Report {
    /// A report of these numbers, here and now.
    pub(crate) fn new(load: String, figures: Vec<Figure>) -> Report {
        let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
        let changed = git(&["status", "--porcelain"]).is_none_or(|it| !it.is_empty());
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |it| it.as_secs());
        Report {
            v: 1,
            machine: machine(),
            system: read("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".into()),
            commit,
            changed,
            profile: profile(),
            at: now,
            load,
            figures,
        }
    }

    /// Keeps it, and says where.
    pub(crate) fn keep(&self) -> Outcome<PathBuf> {
        let directory = Path::new(RESULTS).join(slug(&self.machine));
        fs::create_dir_all(&directory)?;
        let changed = if self.changed { "-changed" } else { "" };
        let file = directory.join(format!("{}-{}{changed}.json", self.commit, self.profile));
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::File::create(&file)?.write_all(text.as_bytes())?;
        Ok(file)
    }

    /// A report by its file, or by the beginning of its commit on this machine.
    pub(crate) fn load(name: &str) -> Outcome<Report> {
        let path = Path::new(name);
        let path = if path.is_file() { path.to_owned() } else { kept(name)? };
        let text = fs::read_to_string(&path)?;
        serde_json::from_str(&text).map_err(|err| format!("{}: {err}", path.display()).into())
    }
}

fn kept(commit: &str) -> Outcome<PathBuf> {
    let directory = Path::new(RESULTS).join(slug(&machine()));
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|it| it.path()).collect();
    found.retain(|it| it.file_stem().is_some_and(|it| it.to_string_lossy().starts_with(commit)));
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            Err(format!("`{commit}` is no file, and no report in {}", directory.display()).into())
        }
        _ => {
            Err(format!("`{commit}` is the beginning of several reports; write more of it").into())
        }
    }
}

/// The load of the machine, over one and five minutes.
pub(crate) fn load() -> String {
    let all = read("/proc/loadavg").unwrap_or_default();
    all.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

fn machine() -> String {
    let info = read("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|it| it.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, it)| it.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores")
}

/// The profile is the directory that the program was built in.
fn profile() -> String {
    let program = std::env::current_exe().ok();
    let directory = program.as_deref().and_then(Path::parent).and_then(Path::file_name);
    directory.map_or_else(|| "unknown".into(), |it| it.to_string_lossy().into_owned())
}

fn slug(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().map(plain).collect();
    text.split('-').filter(|it| !it.is_empty()).collect::<Vec<_>>().join("-")
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|it| it.trim().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "git knows which commit was built")]
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|it| it.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
