//! `eclusa doctor`: what holds shell commands on this machine, found by trying it, and how to get
//! what is missing.

use std::{os::unix::fs::MetadataExt, path::Path, time::Duration};

use eclusa::settings::Endpoint;
use eclusa_config::NotificationSettings;
use eclusa_connect::commands::agents;
use eclusa_sandbox::{Cap, HostCapabilities};
use eclusa_tools::{CommandOrder, Sandboxes, Writes, running_jobs, unreaped_owners};
use serde_json::{Value, json};

use super::policy::lint::{self, LintFinding};
use crate::{
    config_layers,
    context::AppContext,
    failure::{Exit, Failure},
    fleet,
    global::Global,
    paths::Paths,
    screen::{Screen, Style, sanitize},
};

mod parts;

use parts::{CheckedPart, parts};

/// Check how well this machine can sandbox commands
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 the sandbox is complete, 1 something is missing.")]
pub(crate) struct DoctorArgs;

/// Runs in a sandbox: what it prints proves that one can be made, and says what is in it.
const LOOK: &str = "echo \"bash ${BASH_VERSION}\"; git --version 2>&1 | head -n 1";

pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let (ctx, broken) = AppContext::open_anyway(global)?;
    let sandboxes = ctx.sandboxes(&[])?;
    let looked = sandboxes.clone();
    let findings = tokio::task::spawn_blocking(move || look(&looked, &paths, &ctx));
    let mut findings = findings.await.map_err(Failure::failed)??;
    findings.watched = agents::watched_lines(global);
    findings.broken = broken.map(|it| it.lines()).unwrap_or_default();
    let mut screen = Screen::stdout();
    match global.json {
        true => screen.json(&findings.as_json())?,
        false => findings.print(&mut screen)?,
    }
    screen.flush()?;
    let whole = findings.is_held;
    Ok(if whole && findings.broken.is_empty() { Exit::Done } else { Exit::Failed })
}

/// What was found.
struct Findings {
    kernel: String,
    root: bool,
    capabilities: HostCapabilities,
    /// How a command that writes is held, in words.
    level: String,
    /// Whether commands run unasked by default.
    is_held: bool,
    /// What a command in a sandbox said, or why there was none.
    inside: Result<Vec<String>, String>,
    caps: Option<(Cap, Cap)>,
    same_filesystem: Option<bool>,
    state: String,
    /// Where layers lie, and whether that is on the workspace's filesystem.
    layers: Option<(String, Option<bool>)>,
    workspace: String,
    store: String,
    /// What holds of answers, and against whom it does not.
    approvals: String,
    /// Who is told of questions that wait, and what would keep it from arriving.
    notifications: Vec<String>,
    files: Vec<String>,
    /// The fleet that this machine is in, what is in force of it, and who can change that.
    fleet: Vec<String>,
    /// Jobs that run in this workspace, and who holds them.
    jobs: Vec<String>,
    /// Agents that are watched and not held.
    watched: Vec<String>,
    /// Why the configuration cannot be used, if it cannot.
    broken: Vec<String>,
    /// How many rules are the person's own, and what `policy lint` says of them.
    rules: (usize, Vec<LintFinding>),
}

fn look(sandboxes: &Sandboxes, paths: &Paths, ctx: &AppContext) -> Result<Findings, Failure> {
    let system = rustix::system::uname();
    let text = |it: &std::ffi::CStr| it.to_string_lossy().into_owned();
    let kernel = [system.sysname(), system.release(), system.machine()].map(text).join(" ");
    // Whoever asks wants to know how it is now.
    eclusa_sandbox::forget(&paths.undo());
    let capabilities = sandboxes.capabilities().clone();
    let order = CommandOrder {
        command: LOOK.to_owned(),
        cwd: paths.workspace.clone(),
        writes: Writes::Refused,
        time: Duration::from_secs(20),
        session: None,
        background: false,
        hidden: eclusa::policy::HiddenPaths::nothing(),
        hosts: Default::default(),
        program: None,
        signing: None,
        bound: Vec::new(),
    };
    let ran = sandboxes.start(&order, |_| {}).and_then(eclusa_tools::Running::wait);
    let caps = ran.as_ref().ok().map(|it| (it.exit.caps.memory, it.exit.caps.processes));
    let inside = ran.map_err(|err| err.to_string());
    let inside = inside.map(|it| it.exit.output.text().lines().map(str::to_owned).collect());
    // One that cannot be read is told as such.
    let layers = config_layers::layers(paths).unwrap_or_default();
    let here = |it: &Path| (it.display().to_string(), same_filesystem(&paths.workspace, it));
    Ok(Findings {
        layers: capabilities.layers().map(here),
        kernel,
        root: rustix::process::geteuid().is_root(),
        capabilities,
        level: sandboxes.level(),
        is_held: sandboxes.capabilities().holds_commands() || sandboxes.holds_snapshots(),
        inside,
        caps,
        same_filesystem: same_filesystem(&paths.workspace, &paths.undo()),
        state: paths.undo().display().to_string(),
        workspace: paths.workspace.display().to_string(),
        store: log(paths, ctx),
        approvals: approvals(paths),
        notifications: notifications(ctx),
        files: layers.into_iter().map(|it| it.name).collect(),
        fleet: fleet::lines(paths),
        jobs: jobs(paths),
        watched: Vec::new(),
        broken: Vec::new(),
        rules: lint::lint(ctx)?,
    })
}

/// The jobs that run, and owners of jobs that have ended and are still there.
fn jobs(paths: &Paths) -> Vec<String> {
    let mut jobs = running_jobs(&paths.undo());
    match unreaped_owners() {
        0 => {}
        count => jobs.push(format!(
            "job owners that ended and are zombies now: {count}; start the container with `--init`"
        )),
    }
    jobs
}

/// The log, in a few words.
fn log(paths: &Paths, ctx: &AppContext) -> String {
    let path = paths.store.display();
    if !paths.store.exists() {
        return format!("{path}: none yet");
    }
    match paths.log() {
        Ok(_) => format!("{path}: can be read, survives {}", ctx.config.durability.as_str()),
        Err(failure) => format!("{path}: {}", failure.lines().join("; ")),
    }
}

/// What keeps an agent from answering its own questions, said plainly.
fn approvals(paths: &Paths) -> String {
    let (keys, user) = (paths.people(), rustix::process::geteuid().as_raw());
    format!(
        "sandboxed commands cannot answer them, nor read the keys of people ({}); other programs of \
        this user (id {user}), such as an agent's own shell, can, except with a passkey: run the agent \
        as another user to prevent it",
        keys.display()
    )
}

/// Who is told of questions that wait, and what would keep it from arriving.
fn notifications(ctx: &AppContext) -> Vec<String> {
    let told = |it: &NotificationSettings| {
        let headers = match &it.reach {
            Endpoint::Url { headers, .. } => headers.values().cloned().collect(),
            Endpoint::Command(_) => Vec::new(),
        };
        let missing: Vec<String> =
            headers.into_iter().filter(|it| std::env::var_os(it).is_none()).collect();
        let secret = it.secret.as_deref().map(crate::notifications::secrets);
        match (missing.first(), secret) {
            (Some(name), _) => format!("{}: the variable `{name}` is not set", it.name),
            (None, Some(Err(why))) => format!("{}: {why}", it.name),
            (None, _) => format!("{}: configured at {}", it.name, it.origin),
        }
    };
    ctx.config.notifications.iter().map(told).collect()
}

/// Whether old and new contents are renamed, and not copied.
fn same_filesystem(workspace: &Path, state: &Path) -> Option<bool> {
    let there = state.ancestors().find(|it| it.exists())?;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|it| it.dev());
    Some(device(workspace)? == device(there)?)
}

impl Findings {
    fn held(cap: Cap) -> &'static str {
        match cap {
            Cap::Sandbox => "per command (all processes)",
            Cap::Open => "not held",
        }
    }

    fn print(&self, screen: &mut Screen) -> Result<(), Failure> {
        let style = if self.is_held { Style::Good } else { Style::Bad };
        screen.styled(style, &format!("level: {}", self.level))?;
        screen.line(&format!("sandbox: {}", self.capabilities.staging_method()))?;
        let user = if self.root { "root" } else { "an ordinary user" };
        screen.line(&format!("kernel: {}, as {user}", sanitize(&self.kernel)))?;
        screen.line("")?;
        let word = |holds: bool| if holds { "yes" } else { "no" };
        let row = |it: &CheckedPart| {
            let detail =
                if it.holds { it.detail.clone() } else { format!("missing: {}", it.detail) };
            vec![format!("  {}", it.name), word(it.holds).to_owned(), detail]
        };
        let parts = parts(&self.capabilities);
        screen.table(&parts.iter().map(row).collect::<Vec<_>>())?;
        if let Some((memory, processes)) = self.caps {
            screen.line(&format!("  memory limit: {}", Self::held(memory)))?;
            screen.line(&format!("  process limit: {}", Self::held(processes)))?;
        }
        for part in parts.iter().filter(|it| !it.holds) {
            if let Some(error) = &part.error {
                screen.line(&format!("{}: {}", part.name, sanitize(error)))?;
            }
            if let Some(fix) = part.fix {
                screen.styled(Style::Warn, &format!("to get {}: {fix}", part.name))?;
            }
        }
        screen.line("")?;
        match &self.inside {
            Ok(lines) => screen.line(&format!("in a sandbox: {}", sanitize(&lines.join(", "))))?,
            Err(why) => screen.styled(Style::Bad, &format!("no sandbox: {}", sanitize(why)))?,
        }
        screen.line(&format!("workspace: {}", sanitize(&self.workspace)))?;
        for agent in &self.watched {
            screen.styled(Style::Warn, &sanitize(&format!("watched, not enforced: {agent}")))?;
        }
        for job in &self.jobs {
            screen.line(&sanitize(job))?;
        }
        let place = |path: &str, same: Option<bool>| {
            let renamed = match same {
                Some(true) => "on the workspace's filesystem: contents are renamed",
                Some(false) => {
                    "on another filesystem than the workspace: contents are copied, which is slower"
                }
                None => "cannot be looked at",
            };
            format!("{}, {renamed}", sanitize(path))
        };
        let undo = place(&self.state, self.same_filesystem);
        match &self.layers {
            Some((layers, same)) if *layers != self.state => {
                screen.line(&format!("undo: {undo}"))?;
                let layers = place(layers, *same);
                screen.line(&format!(
                    "layers: {layers} (the state's filesystem cannot carry them)"
                ))?;
            }
            Some(_) => screen.line(&format!("undo and layers: {undo}"))?,
            None => screen.line(&format!("undo: {undo}"))?,
        }
        screen.line(&format!("log: {}", sanitize(&self.store)))?;
        screen.line(&format!("approvals: {}", sanitize(&self.approvals)))?;
        for it in &self.notifications {
            screen.line(&format!("notification {}", sanitize(it)))?;
        }
        for line in &self.fleet {
            screen.line(&sanitize(line))?;
        }
        for file in &self.files {
            screen.line(&format!("configuration: {}", sanitize(file)))?;
        }
        for line in &self.broken {
            screen.styled(Style::Bad, line)?;
        }
        let (own, found) = &self.rules;
        screen.line(&match (*own, found.len()) {
            (0, 0) => "your rules: none".to_owned(),
            (own, 0) => format!("your rules: {own}, no findings"),
            (own, 1) => format!("your rules: {own}, 1 finding (`eclusa policy lint`)"),
            (own, count) => format!("your rules: {own}, {count} findings (`eclusa policy lint`)"),
        })?;
        for finding in found {
            screen.styled(Style::Warn, &format!("  {}", sanitize(&finding.to_string())))?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let parts = parts(&self.capabilities).into_iter().map(|it| {
            json!({
                "name": it.name, "holds": it.holds, "detail": it.detail, "error": it.error,
                "fix": it.fix,
            })
        });
        let parts: Vec<Value> = parts.collect();
        json!({
            "level": self.level,
            "staging": self.capabilities.staging_method().to_string(),
            "kernel": self.kernel,
            "root": self.root,
            "parts": parts,
            "because": self.capabilities.because(),
            "memory": self.caps.map(|it| Self::held(it.0)),
            "processes": self.caps.map(|it| Self::held(it.1)),
            "inside": self.inside.as_ref().ok(),
            "no_sandbox": self.inside.as_ref().err(),
            "workspace": self.workspace,
            "state": self.state,
            "layers": self.layers.as_ref().map(|it| &it.0),
            "same_filesystem": self.same_filesystem,
            "log": self.store,
            "approvals": self.approvals,
            "notifications": self.notifications,
            "jobs": self.jobs,
            "watched": self.watched,
            "fleet": self.fleet,
            "configuration": self.files,
            "configuration_errors": self.broken,
            "rules": self.rules.0,
            "lint": self.rules.1.iter().map(LintFinding::as_json).collect::<Vec<_>>(),
        })
    }
}
