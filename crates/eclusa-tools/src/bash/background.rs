//! Commands that run while the session goes on, and the tool `jobs` that looks after them.
//!
//! What they write to the workspace goes to a layer, and is thrown away at their end. They end with
//! their session, and with the program at the latest.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool, one_line};
use eclusa_sandbox::{Cancel, How, Sent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sandboxes::{CommandOrder, RunError, Sandboxes};

/// Output that is kept of each job: its last part.
const MAX_KEPT_OUTPUT: usize = 1 << 20;
/// Jobs of one session, ended ones included.
const MAX_JOBS: usize = 32;

/// Every job of this program.
#[derive(Debug)]
pub(super) struct Background {
    sandboxes: Sandboxes,
    next: AtomicU64,
    jobs: Mutex<BTreeMap<u64, StartedJob>>,
}

#[derive(Debug)]
struct StartedJob {
    session: String,
    command: String,
    began: Instant,
    cancel: Cancel,
    seen: Arc<Mutex<JobOutput>>,
    /// Waits for its end, and throws away what it wrote.
    watch: JoinHandle<()>,
}

/// What a job has written, and how it ended.
#[derive(Debug, Default)]
struct JobOutput {
    /// The last bytes.
    kept: Vec<u8>,
    /// All bytes.
    total: u64,
    /// How much was read by the session.
    read: u64,
    ended: Option<String>,
}

impl JobOutput {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let fresh = bytes.get(bytes.len().saturating_sub(MAX_KEPT_OUTPUT)..).unwrap_or_default();
        let over = (self.kept.len() + fresh.len()).saturating_sub(MAX_KEPT_OUTPUT);
        self.kept.drain(..over);
        self.kept.extend_from_slice(fresh);
    }

    /// What came since the last look, and how many bytes of it are gone.
    fn fresh(&mut self) -> (String, u64) {
        let first = self.total - self.kept.len() as u64;
        let from = usize::try_from(self.read.saturating_sub(first)).unwrap_or(usize::MAX);
        let lost = first.saturating_sub(self.read);
        self.read = self.total;
        let text = String::from_utf8_lossy(self.kept.get(from..).unwrap_or_default());
        (text.into_owned(), lost)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    pub(super) fn new(sandboxes: Sandboxes) -> Background {
        Background { sandboxes, next: AtomicU64::new(1), jobs: Mutex::default() }
    }

    /// Starts a command and goes on.
    pub(super) fn start(&self, session: &str, order: CommandOrder) -> Result<u64, RunError> {
        self.make_room(session)?;
        let seen = Arc::new(Mutex::new(JobOutput::default()));
        let heard = seen.clone();
        let command = order.command.clone();
        // A year is as good as no limit, and can be added to any clock.
        let order =
            CommandOrder { time: order.time.min(Duration::from_secs(365 * 86_400)), ..order };
        let running = self.sandboxes.start(&order, move |bytes| locked(&heard).add(bytes))?;
        let (cancel, ending) = (running.canceller(), seen.clone());
        let watch = move || {
            let ended = match running.wait_and_discard() {
                Ok(exit) => match exit.how {
                    How::Code(code) => format!("ended with exit code {code}"),
                    How::Signal(signal) => format!("ended by signal {signal}"),
                },
                Err(err) => err.to_string(),
            };
            locked(&ending).ended = Some(ended);
        };
        let watch = std::thread::Builder::new().name("job".to_owned()).spawn(watch);
        let watch =
            watch.map_err(|err| RunError::Effects(format!("no thread can be started: {err}")))?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let session = session.to_owned();
        let started = StartedJob { session, command, began: Instant::now(), cancel, seen, watch };
        locked(&self.jobs).insert(id, started);
        Ok(id)
    }

    /// Forgets the oldest job that has ended, if there are too many.
    fn make_room(&self, session: &str) -> Result<(), RunError> {
        let mut jobs = locked(&self.jobs);
        let ours = |job: &StartedJob| job.session == session;
        if jobs.values().filter(|it| ours(it)).count() < MAX_JOBS {
            return Ok(());
        }
        let ended = |job: &StartedJob| locked(&job.seen).ended.is_some();
        let oldest = jobs.iter().find(|(_, it)| ours(it) && ended(it)).map(|(id, _)| *id);
        match oldest {
            Some(id) => drop(jobs.remove(&id)),
            None => {
                let text = format!("{MAX_JOBS} jobs run already; end one with `jobs` first");
                return Err(RunError::Effects(text));
            }
        }
        Ok(())
    }

    /// True when a job of this session still runs.
    pub(super) fn is_busy(&self, session: &str) -> bool {
        let runs = |it: &StartedJob| locked(&it.seen).ended.is_none();
        locked(&self.jobs).values().any(|it| it.session == session && runs(it))
    }

    /// Ends every job of a session.
    pub(super) fn end(&self, session: &str) {
        let ours = |job: &StartedJob| job.session == session;
        let ended: Vec<StartedJob> =
            locked(&self.jobs).extract_if(.., |_, job| ours(job)).map(|(_, job)| job).collect();
        end_all(ended);
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let jobs = self.jobs.get_mut().unwrap_or_else(PoisonError::into_inner);
        end_all(std::mem::take(jobs).into_values().collect());
    }
}

/// Ends these jobs, and waits until nothing of them is left.
fn end_all(jobs: Vec<StartedJob>) {
    jobs.iter().for_each(|it| it.cancel.cancel());
    for job in jobs {
        // An error means that it panicked.
        let _ = job.watch.join();
    }
}

/// Looks after commands in the background.
#[derive(Debug)]
pub struct Jobs(Arc<Background>);

/// What to do with which job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsArgs {
    /// `list` all jobs, `read` what one has written since the last look, send one a `signal`, or
    /// `end` one: politely, and for sure two seconds later.
    action: Action,
    /// Which job, for all but `list`.
    id: Option<u64>,
    /// Which signal, by its name: `INT`, `HUP`, `USR1`, `STOP`, `CONT`, `TERM`, `KILL` and others.
    signal: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Action {
    List,
    Read,
    Signal,
    End,
}

impl Jobs {
    pub(super) fn new(background: Arc<Background>) -> Jobs {
        Jobs(background)
    }

    /// Ends every job of a session that is over.
    pub fn end_session(&self, session: &str) {
        self.0.end(session);
    }
}

impl TypedTool for Jobs {
    type Args = JobsArgs;
    const NAME: &'static str = "jobs";

    fn description(&self, _: &Scene) -> String {
        "Looks after commands that `bash` started in the background: lists them, reads what one \
         has written since the last look, sends one a signal, ends one (politely first). They end \
         with the conversation. Example: {\"action\": \"read\", \"id\": 1}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            aliases: vec!["BashOutput".to_owned(), "KillShell".to_owned()],
            search_hint: "background job process output kill stop list".to_owned(),
            class: Some(PermissionClass::ReadOnly),
            audit_operation: "jobs".to_owned(),
            ..Facts::default()
        }
    }

    // Its jobs are its own: what they may do was decided when they were started.
    fn touches(&self, _: &JobsArgs) -> Vec<Touch> {
        Vec::new()
    }

    fn session_ended(&self, session: &str) {
        self.end_session(session);
    }

    async fn run(&self, args: JobsArgs, job: &Job) -> Result<Output, ToolError> {
        let jobs = locked(&self.0.jobs);
        let mine = |it: &&StartedJob| it.session == job.session();
        if args.action == Action::List {
            let all = jobs.iter().filter(|(_, it)| mine(it));
            let (lines, data): (Vec<String>, Vec<Value>) =
                all.map(|(id, it)| line(*id, it)).unzip();
            let text = if lines.is_empty() { "no jobs".to_owned() } else { lines.join("\n") };
            return Ok(Output { data: Some(json!({"jobs": data})), ..Output::text(text) });
        }
        let id = args.id.ok_or_else(|| ToolError::new("say which job: `id` is missing"))?;
        let Some(found) = jobs.get(&id).filter(mine) else {
            let text = format!("there is no job {id}; {{\"action\": \"list\"}} lists them");
            return Err(ToolError::new(text));
        };
        if args.signal.is_some() && args.action != Action::Signal {
            return Err(ToolError::new("`signal` goes with {\"action\": \"signal\"}"));
        }
        if args.action == Action::Signal {
            return signalled(id, found, args.signal.as_deref());
        }
        if args.action == Action::End {
            found.cancel.cancel();
            return Ok(Output::text(format!("job {id} is being ended")));
        }
        let mut seen = locked(&found.seen);
        let (mut text, lost) = seen.fresh();
        if lost > 0 {
            text = format!("[{lost} bytes came and went before this look]\n{text}");
        }
        let state = seen.ended.clone().unwrap_or_else(|| "runs".to_owned());
        let data = json!({"job": id, "state": state, "total_bytes": seen.total});
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(Output { data: Some(data), ..Output::text(format!("{text}[job {id} {state}]")) })
    }
}

/// Sends a signal to a job that runs.
fn signalled(id: u64, job: &StartedJob, name: Option<&str>) -> Result<Output, ToolError> {
    let name = name.ok_or_else(|| ToolError::new("say which: `signal` is missing"))?;
    let sent: Sent = name.parse().map_err(ToolError::new)?;
    if let Some(ended) = &locked(&job.seen).ended {
        return Err(ToolError::new(format!("job {id} {ended}")));
    }
    job.cancel.signal(sent);
    Ok(Output::text(format!("sent {sent} to job {id}")))
}

fn line(id: u64, job: &StartedJob) -> (String, Value) {
    let seen = locked(&job.seen);
    let state = seen.ended.clone().unwrap_or_else(|| "runs".to_owned());
    let seconds = job.began.elapsed().as_secs();
    let command = one_line(&job.command);
    let text = format!("{id}  {state}, started {seconds} s ago, {} bytes: {command}", seen.total);
    let data = json!({
        "job": id, "state": state, "command": job.command, "total_bytes": seen.total,
        "started_s_ago": seconds,
    });
    (text, data)
}
