//! `[commands]`: what shell commands may use and reach, and how well they must be held.

use std::{path::PathBuf, time::Duration};

use eclusa::settings::RequiredEnforcement;
use eclusa_net::HostPattern;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Trust,
    source::LayerReader,
    spanned::{Keyword, KeywordSet, Spanned},
    tighten::{set_list, set_tightening},
    units::{self, Most, Size},
};

/// What shell commands may use and reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// Hosts that may be reached: `example.org`, `*.example.org`, `example.org:8080`.
    pub hosts: Vec<String>,
    /// Directories of the workspace, relative to it, that are written at once and not staged.
    pub live: Vec<PathBuf>,
    /// Directories outside the workspace that are written at once: absolute, or `~/` and a path.
    pub writable: Vec<String>,
    /// Memory, in bytes; `None`: as much as there is.
    pub memory: Option<u64>,
    /// Processes at once.
    pub processes: Option<u32>,
    /// Processes that may go on as one job.
    pub job_processes: Option<u32>,
    /// By how many bytes the disk may fill.
    pub disk: Option<u64>,
    /// How long a command may run, where the call does not say.
    pub time: Duration,
    /// What must hold a command.
    pub least: RequiredEnforcement,
    /// Name and address of whoever commits, where a repository does not say.
    pub identity: Option<(String, String)>,
}

impl Default for CommandSettings {
    fn default() -> CommandSettings {
        CommandSettings {
            hosts: Vec::new(),
            live: Vec::new(),
            writable: Vec::new(),
            memory: Some(8 << 30),
            processes: Some(1024),
            job_processes: Some(64),
            disk: Some(8 << 30),
            time: Duration::from_secs(120),
            least: RequiredEnforcement::default(),
            identity: None,
        }
    }
}

impl KeywordSet for RequiredEnforcement {
    const WORDS: &'static [(&'static str, RequiredEnforcement)] = &[
        ("full", RequiredEnforcement::Full),
        ("full-or-ask", RequiredEnforcement::FullOrAsk),
        ("snapshot", RequiredEnforcement::Snapshot),
        ("partial", RequiredEnforcement::Partial),
    ];
}

/// What shell commands may use and reach.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Commands {
    /// Hosts that commands may reach: "example.org", "*.example.org", "example.org:8080". Without
    /// any there is no network.
    pub(super) hosts: Option<Spanned<Vec<Spanned<String>>>>,
    /// Directories of the workspace that are written at once: not shown before, not undone.
    pub(super) live: Option<Spanned<Vec<Spanned<String>>>>,
    /// Memory, in bytes or as a size, or "none".
    pub(super) memory: Option<Spanned<Size>>,
    /// Processes at once, or "none".
    pub(super) processes: Option<Spanned<Most>>,
    /// Processes that may go on as one job after a call, or "none".
    pub(super) job_processes: Option<Spanned<Most>>,
    /// By how much the disk may fill, in bytes or as a size, or "none".
    pub(super) disk: Option<Spanned<Size>>,
    /// How long a command may run, where the call does not say.
    pub(super) time: Option<Spanned<String>>,
    /// The least that must hold a command.
    pub(super) least: Option<Spanned<Keyword<RequiredEnforcement>>>,
    /// Who commits, where a repository does not say: "Ada <ada@example.org>", or "" for nobody.
    pub(super) identity: Option<Spanned<String>>,
    /// Directories outside the workspace that are written at once, where they exist:
    /// "~/.local/bin".
    pub(super) writable: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Puts what is said in the place of what was said below.
pub(super) fn merge(source: &mut LayerReader<'_>, commands: &mut CommandSettings, file: &Commands) {
    if let Some(written) = &file.hosts {
        let hosts = written.it.iter().filter_map(|it| {
            let read = HostPattern::parse(&it.it);
            let text = |err| format!("`{}` is not a host: {err}", it.it);
            source.keep(&it.span, read.map_err(text)).map(|_| it.it.clone())
        });
        let hosts = hosts.collect();
        set_list(source, &written.span, &mut commands.hosts, hosts);
    }
    if let Some(written) = &file.live {
        let live = written.it.iter().filter_map(|it| {
            let read = directory(&it.it);
            source.keep(&it.span, read)
        });
        let live = live.collect();
        set_list(source, &written.span, &mut commands.live, live);
    }
    if let Some(written) = &file.writable {
        let places = written.it.iter().filter_map(|it| source.keep(&it.span, outside(&it.it)));
        let places = places.collect();
        set_list(source, &written.span, &mut commands.writable, places);
    }
    for (written, below) in [(&file.memory, &mut commands.memory), (&file.disk, &mut commands.disk)]
    {
        let Some(written) = written else { continue };
        let size = match &written.it {
            Size::Bytes(bytes) => Ok(Some(*bytes as u64)),
            Size::Text(text) if text == "none" => Ok(None),
            Size::Text(text) => units::size(text).map(|it| Some(it as u64)),
        };
        if let Some(size) = source.keep(&written.span, size) {
            set_tightening(source, &written.span, below, size, is_more);
        }
    }
    let processes = [
        (&file.processes, &mut commands.processes),
        (&file.job_processes, &mut commands.job_processes),
    ];
    for (written, below) in processes {
        let Some(written) = written else { continue };
        let most = match written.it {
            Most::Number(most) => Some(u32::try_from(most).unwrap_or(u32::MAX)),
            Most::Any(_) => None,
        };
        set_tightening(source, &written.span, below, most, is_more);
    }
    if let Some(written) = &file.time
        && let Some(time) = units::positive_time(source, written)
    {
        set_tightening(source, &written.span, &mut commands.time, time, |new, old| new > old);
    }
    if let Some(written) = &file.least {
        let rank = |it: &RequiredEnforcement| {
            RequiredEnforcement::WORDS.iter().position(|(_, word)| word == it)
        };
        let looser = |new: &RequiredEnforcement, old: &RequiredEnforcement| rank(new) > rank(old);
        set_tightening(source, &written.span, &mut commands.least, written.it.0, looser);
    }
    if let Some(written) = &file.identity
        && let Some(identity) = source.keep(&written.span, identity(&written.it))
    {
        // None is stricter than another, so that the administrator's stands and a project has none.
        let project = source.trust == Trust::Project;
        set_tightening(source, &written.span, &mut commands.identity, identity, |new, old| {
            project && new != old
        });
    }
}

/// A name and an address, as git writes them.
fn identity(written: &str) -> Result<Option<(String, String)>, String> {
    if written.is_empty() {
        return Ok(None);
    }
    let plain = |it: &str| !it.is_empty() && !it.contains(['<', '>', '\n', '\0']);
    let parts = written.strip_suffix('>').and_then(|it| it.split_once(" <"));
    match parts.filter(|(name, email)| plain(name) && plain(email)) {
        Some((name, email)) => Ok(Some((name.to_owned(), email.to_owned()))),
        None => Err(format!("`{written}` is not an identity; write `Ada <ada@example.org>`")),
    }
}

/// True when the new limit is beyond the old one; none is beyond every number.
fn is_more<T: PartialOrd>(new: &Option<T>, old: &Option<T>) -> bool {
    match (new, old) {
        (Some(new), Some(old)) => new > old,
        (None, old) => old.is_some(),
        (Some(_), None) => false,
    }
}

/// A directory outside the workspace as it is written: below the home or from the root on, and
/// neither of them itself.
fn outside(written: &str) -> Result<String, String> {
    let plain = written.trim_end_matches('/');
    let below = plain.strip_prefix("~/").or_else(|| plain.strip_prefix('/'));
    let named = |part: &str| !part.is_empty() && part != "." && part != "..";
    match below.filter(|it| it.split('/').all(named) && !it.contains(['*', '?', '[', '\0'])) {
        Some(below) if below.split('/').any(|it| it.eq_ignore_ascii_case(".git")) => Err(format!(
            "`{written}` lies in a git directory, where nothing is written without review; take it out: \
             git works in every working tree without it"
        )),
        Some(_) => Ok(plain.to_owned()),
        None => Err(format!(
            "`{written}` is not a directory outside the workspace; write `~/.local/bin` or \
             `/srv/out`"
        )),
    }
}

/// A directory of the workspace as it is written: `target`, `target/` or `target/**`.
fn directory(written: &str) -> Result<PathBuf, String> {
    let plain = written.strip_suffix("**").unwrap_or(written).trim_end_matches('/');
    let mut parts = plain.split('/');
    let named = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !parts.all(named) || plain.contains(['*', '?', '[', '\0']) {
        return Err(format!(
            "`{written}` is not a directory of the workspace; write `target` or `target/**`"
        ));
    }
    if plain.split('/').any(|part| part == ".git") {
        return Err(format!("`{written}` must stay staged: its files decide what git runs"));
    }
    Ok(PathBuf::from(plain))
}
