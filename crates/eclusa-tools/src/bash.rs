//! `bash`: a shell command in a sandbox. What it would do to the workspace is staged.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::{
    Decision, Facts, Files, Job, Mode, Output, PermissionClass, Scene, ToolError, Touch, TypedTool,
    policy::only_reads_files, settings::RequiredEnforcement,
};
use eclusa_sandbox::How;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::sandboxes::{CommandOrder, Sandboxes, WriteTracking, Writes};

mod background;
mod directories;
mod foreground;
mod hosts;
mod job_start;
mod job_view;
mod long_output;
mod messages;
mod offers;
mod own_machine;
mod program;
mod report;
mod run_time;
mod signing;
mod unsigned;

#[cfg(test)]
mod tests;

pub use background::{Jobs, JobsArgs};
pub use job_view::{JobView, jobs_of, lost_jobs, running_jobs};
pub use program::{ProgramRun, run_program};

use background::Background;
use directories::Directories;
use foreground::{Watcher, last_line};
use hosts::run_with_hosts;
use long_output::LongOutput;
use report::Wording;
use run_time::{MARGIN, TIME, time_for, time_left};
use signing::{CommandSigning, SigningGrants};

/// Runs shell commands.
pub struct Bash {
    sandboxes: Sandboxes,
    files: Files,
    time: Duration,
    directories: Directories,
    background: Arc<Background>,
    watch: Option<Watcher>,
    grants: SigningGrants,
}

impl std::fmt::Debug for Bash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bash").field("sandboxes", &self.sandboxes).finish_non_exhaustive()
    }
}

/// A command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashArgs {
    /// The command, as you would type it into bash.
    #[schemars(length(min = 1))]
    command: String,
    /// How long it may run, in milliseconds, at most 600000. Default 120000, and
    /// 600000 for what builds, tests or installs.
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u64>,
    /// Another name for `timeout_ms`.
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
    /// The directory to start in, inside the workspace. Later commands start there too.
    cwd: Option<String>,
    /// True to leave it running, such as a server; `jobs` reads its output and ends it. Its changes to the
    /// workspace are not applied.
    background: Option<bool>,
    /// What it is for, in a few words, for the person who may be asked.
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Bash {
    /// True when the sandbox of this command lacks nothing. Its text is read only where it matters:
    /// on a machine that holds everything there is nothing to find out.
    fn is_held(&self, command: &str) -> bool {
        let held = |only_reads| self.sandboxes.is_held(writes(only_reads));
        match (held(true), held(false)) {
            (true, true) => true,
            (false, false) => false,
            _ => held(only_reads_files(command)),
        }
    }

    /// Runs commands in these sandboxes. `files` says which directories there are.
    pub fn new(sandboxes: Sandboxes, files: Files) -> Bash {
        let background = Arc::new(Background::new(sandboxes.clone()));
        let directories = Directories::default();
        let grants = SigningGrants::default();
        Bash { sandboxes, files, time: TIME, directories, background, watch: None, grants }
    }

    /// Lets somebody see the output as it comes, byte for byte, before anybody has read it over:
    /// for the person who typed the command.
    pub fn watched(self, watch: impl Fn(&[u8]) + Send + Sync + 'static) -> Bash {
        let watch = move |bytes: &[u8]| {
            watch(bytes);
            Some((0.0, last_line(bytes)))
        };
        Bash { watch: Some(Arc::new(watch)), ..self }
    }

    /// Lets commands run this long where the call does not say.
    pub fn time(self, time: Duration) -> Bash {
        Bash { time, ..self }
    }

    /// The tool that reads and ends what was started in the background.
    pub fn jobs(&self) -> Jobs {
        Jobs::new(self.background.clone())
    }

    /// The sandboxes that commands run in.
    pub fn sandboxes(&self) -> &Sandboxes {
        &self.sandboxes
    }

    /// Where a command starts, as an absolute path. The arguments were completed before the call
    /// was judged: they say where, or it is the workspace. A directory that has become a link to
    /// another since then is not the one that was judged.
    fn start(&self, session: &str, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
        let Some(cwd) = cwd else { return Ok(self.files.root().to_owned()) };
        let there = self.files.directory(cwd).map_err(|err| ToolError::new(err.to_string()))?;
        let path = self.files.root().join(&there.path);
        if self.in_words(&there.path) != cwd {
            let text = format!("`{cwd}` leads to another directory than when the call was judged");
            return Err(ToolError::new(text));
        }
        self.directories.set(session, &path);
        Ok(path)
    }

    /// A directory of the workspace as arguments name it.
    fn in_words(&self, path: &Path) -> String {
        match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => path.to_string_lossy().into_owned(),
        }
    }
}

impl TypedTool for Bash {
    type Args = BashArgs;
    const NAME: &'static str = "bash";

    fn description(&self, _: &Scene) -> String {
        "Runs a bash command in a sandbox, in the workspace. It has no network unless a person \
         allowed hosts, but commands of the conversation reach each other on localhost. What it \
         changes in the workspace is judged afterwards and applied all together or not at all. \
         `/tmp` lasts for the conversation; elsewhere nothing can be written but tools' caches. A \
         `cd` holds for one command; give `cwd` to move. With `background` it goes on (a server, \
         a watcher), and so does what a command leaves running; what a job writes to the workspace is seen by \
         later commands, and kept for a person at its end. Example: {\"command\": \"cargo test -q 2>&1 | tail -20\", \"timeout_ms\": 120000}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            destructive: true,
            aliases: vec!["Bash".to_owned(), "run_command".to_owned()],
            search_hint: "shell command terminal run execute script".to_owned(),
            class: Some(PermissionClass::Shell),
            audit_operation: "execute".to_owned(),
            stages: true,
            ..Facts::default()
        }
    }

    fn touches(&self, args: &BashArgs) -> Vec<Touch> {
        let mut touches = vec![Touch::Run(args.command.clone())];
        // A sandbox that lacks something may not be what the rules count on. In the background
        // there is always a layer.
        let held = match args.background == Some(true) {
            true => self.sandboxes.is_held(Writes::Staged),
            false => self.is_held(&args.command),
        };
        if !held {
            touches.push(self.sandboxes.unheld());
        }
        touches
    }

    /// The directory that the call names, by its own name, or the one that the last call of the
    /// session started in.
    fn completed(&self, args: &Value, session: &str) -> Option<Value> {
        let said = args.get("cwd").and_then(Value::as_str);
        let there = match said {
            // What cannot be opened is told when it runs.
            Some(said) => self.files.directory(said).ok()?.path,
            None => {
                let tracked = self.directories.of(session)?;
                // By its path from the workspace, in which no link has come to stand since.
                let inside = tracked.strip_prefix(self.files.root()).ok()?;
                self.files.directory(inside).ok().map(|it| it.path).filter(|it| it == inside)?
            }
        };
        let there = self.in_words(&there);
        if said.unwrap_or(".") == there {
            return None;
        }
        let mut args = args.clone();
        args.as_object_mut()?.insert("cwd".to_owned(), there.into());
        Some(args)
    }

    fn directory(&self, args: &Value) -> Option<String> {
        let cwd = args.get("cwd").and_then(Value::as_str);
        cwd.filter(|it| *it != ".").map(str::to_owned)
    }

    fn time(&self, args: &Value) -> Option<Duration> {
        let said = |name: &str| args.get(name).and_then(Value::as_u64);
        let asked = said("timeout_ms").or(said("timeout")).map(Duration::from_millis);
        let command = args.get("command").and_then(Value::as_str).unwrap_or_default();
        Some(asked.unwrap_or_else(|| time_for(command, self.time)) + MARGIN)
    }

    fn session_ended(&self, session: &str) {
        self.directories.forget(session);
        self.grants.forget(session);
        self.sandboxes.end_session(session);
    }

    async fn run(&self, args: BashArgs, job: &Job) -> Result<Output, ToolError> {
        let cwd = self.start(job.session(), args.cwd.as_deref())?;
        let usual = time_for(&args.command, self.time);
        let asked = args.timeout_ms.or(args.timeout).map_or(usual, Duration::from_millis);
        let (time, limit) = time_left(asked, job);
        let command = args.command;
        let session = Some(job.session().to_owned());
        // What a rule wants a person asked about was asked about, as far as the text tells.
        let hidden = job.hidden().from(Decision::Deny).beside(&self.files);
        let hosts = job.host_access();
        if args.background == Some(true) {
            can_be_reviewed(&self.sandboxes, Writes::Staged, job.mode())?;
            let order = CommandOrder {
                command,
                cwd,
                writes: Writes::Staged,
                time: Duration::MAX,
                session,
                background: true,
                hidden,
                hosts,
                bound: job.bound_files()?,
                program: None,
                signing: None,
            };
            return self.start_job(order, job).await;
        }
        let writes = match self.sandboxes.settings().read_only {
            true => Writes::Outside,
            false => writes(job.only_reads_files()),
        };
        can_be_reviewed(&self.sandboxes, writes, job.mode())?;
        let signals = looks_for_processes(&command);
        let why = hidden.clone();
        let order = CommandOrder {
            writes,
            command,
            cwd,
            time,
            session,
            background: false,
            hidden,
            hosts,
            bound: job.bound_files()?,
            program: None,
            signing: None,
        };
        let signer = CommandSigning::new(&self.sandboxes, self.grants.clone(), &order.cwd);
        let watch = self.watch.clone();
        let ran = run_with_hosts(&self.sandboxes, watch, order, job, signer).await?;
        let (mut ran, long, opened) = ran;
        ran.notes.extend(own_machine::notes(job, &self.sandboxes));
        if ran.exit.how != How::Code(0) {
            ran.notes.extend(job.needs_service());
        }
        ran.notes.extend(self.background.news(job.session()));
        self.take_offers(&ran.changes, job).await;
        self.keep_left(&mut ran, job).await;
        if signals && self.background.is_busy(job.session()) {
            ran.notes.push(ELSEWHERE.to_owned());
        }
        let root = self.files.root();
        let ruled_out = |it: &Path| why.why(it.strip_prefix(root).unwrap_or(it));
        let wording = Wording::command(limit);
        Ok(report::output(ran, &wording, &long, &opened, ruled_out))
    }
}

/// Where changes cannot be staged no rule can judge them, so that a person must have said yes to
/// the command: no mode answers for one, unless the settings say that less will do.
fn can_be_reviewed(sandboxes: &Sandboxes, writes: Writes, mode: Mode) -> Result<(), ToolError> {
    let nothing = matches!(writes, Writes::Refused | Writes::Outside);
    let staged = nothing || sandboxes.write_tracking() != WriteTracking::Nothing;
    let less_will_do = sandboxes.settings().least == RequiredEnforcement::Partial;
    if staged || less_will_do || !matches!(mode, Mode::AutoApprove | Mode::Yolo) {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "not run: this machine cannot stage changes, so they cannot be reviewed, and in mode \
         `{mode}` no person is asked before. `eclusa doctor` says how to get staging; \
         `commands.least = \"partial\"` lets commands change the workspace without review"
    )))
}

/// Told to a command that looks for processes, where some run that it cannot see.
const ELSEWHERE: &str = "a job in the background has a sandbox of its own and is not visible here: the \
tool `jobs` lists it, reads its output and ends it";

/// True when a command names a program that finds or ends processes.
fn looks_for_processes(command: &str) -> bool {
    let programs = ["kill", "pkill", "killall", "pgrep", "pidof", "fuser", "lsof", "ps"];
    command.split(|it: char| !it.is_alphanumeric()).any(|it| programs.contains(&it))
}

/// What becomes of what a command writes. One that only reads gets a workspace that cannot be
/// written: it needs no layer, and if it was misread the kernel says no.
fn writes(only_reads: bool) -> Writes {
    if only_reads { Writes::Refused } else { Writes::Staged }
}
