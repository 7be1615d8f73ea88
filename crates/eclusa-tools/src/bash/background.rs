//! Commands that run while the session goes on, and the tool `jobs` that looks after them.
//!
//! What they write to the workspace goes to a layer. They are held by the owner of their session and end with it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool, one_line};
use eclusa_sandbox::Sent;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::job_view::{JobView, ended_since, jobs_of};
use crate::{
    owner::{HeldJob, JobHome, JobRecords, OwnerClient, OwnerError, OwnerHere, start_owner},
    sandboxes::Sandboxes,
};

/// How long a job is looked at when it begins: it may end at once, or begin to listen.
const BEGINS: Duration = Duration::from_millis(500);
/// How often.
const STEP: Duration = Duration::from_millis(20);

/// The jobs of this program, and of its sessions elsewhere.
#[derive(Debug)]
pub(super) struct Background {
    sandboxes: Sandboxes,
    /// The owners that live in this process.
    here: Mutex<HashMap<String, OwnerHere>>,
    /// How much of the output of each job was read.
    read: Mutex<HashMap<u64, u64>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    pub(super) fn new(sandboxes: Sandboxes) -> Background {
        Background { sandboxes, here: Mutex::default(), read: Mutex::default() }
    }

    /// Has a job held by the owner of its session, and looks how it begins.
    pub(super) fn keep(
        &self,
        session: &str,
        mut job: HeldJob,
        call: Option<u64>,
    ) -> Result<JobView, OwnerError> {
        job.about.call = call;
        let id = self.adopt(session, job)?;
        let state = &self.sandboxes.settings().state;
        let records = JobRecords::new(state);
        let gone = || OwnerError::Refused(format!("job {id} is not on record"));
        let mut left = BEGINS;
        loop {
            let view = JobView::of(state, &records, records.read(id).ok_or_else(gone)?);
            if !view.runs() {
                // It is told with this call.
                records.note_told(id);
            }
            if !view.runs() || !view.ports.is_empty() || left.is_zero() {
                return Ok(view);
            }
            std::thread::sleep(STEP);
            left = left.saturating_sub(STEP);
        }
    }

    fn adopt(&self, session: &str, job: HeldJob) -> Result<u64, OwnerError> {
        let settings = self.sandboxes.settings();
        let mut here = locked(&self.here);
        if let Some(owner) = here.get(session) {
            return Ok(owner.adopt(job)?);
        }
        if let JobHome::Apart { program, with_agent } = &settings.jobs {
            let owner = match OwnerClient::connect(&settings.state, session)? {
                Some(owner) => owner,
                None => start_owner(program, &settings.state, session, *with_agent)?,
            };
            return owner.adopt(job);
        }
        match OwnerHere::start(&settings.state, session)? {
            Some(owner) => {
                let id = owner.adopt(job)?;
                here.insert(session.to_owned(), owner);
                Ok(id)
            }
            // Another process has the same session.
            None => {
                let gone = || OwnerError::Refused("the session has another owner".to_owned());
                let owner = OwnerClient::connect(&settings.state, session)?;
                owner.ok_or_else(gone)?.adopt(job)
            }
        }
    }

    /// The jobs of a session.
    fn of(&self, session: &str) -> Vec<JobView> {
        let mut all = jobs_of(&self.sandboxes.settings().state);
        all.retain(|it| it.record.session == session);
        all
    }

    /// Which jobs of a session have ended since its last call, and how.
    pub(super) fn news(&self, session: &str) -> impl Iterator<Item = String> {
        let ended = ended_since(&self.sandboxes.settings().state, session);
        ended.into_iter().map(|it| format!("job {} {}", it.record.job, it.state()))
    }

    /// True when a job of this session still runs.
    pub(super) fn is_busy(&self, session: &str) -> bool {
        self.of(session).iter().any(JobView::runs)
    }

    /// Ends every job of a session.
    pub(super) fn end(&self, session: &str) {
        drop(locked(&self.here).remove(session));
        for job in self.of(session) {
            JobRecords::new(&self.sandboxes.settings().state).forget(job.record.job);
            locked(&self.read).remove(&job.record.job);
        }
    }

    /// What came since the last look, how many bytes of it are gone, and how many there are in all.
    fn fresh(&self, job: u64) -> std::io::Result<(String, u64, u64)> {
        let mut read = locked(&self.read);
        let from = read.get(&job).copied().unwrap_or(0);
        let records = JobRecords::new(&self.sandboxes.settings().state);
        let (bytes, lost, total) = records.output(job, from)?;
        read.insert(job, total);
        Ok((String::from_utf8_lossy(&bytes).into_owned(), lost, total))
    }
}

/// Looks after commands in the background.
#[derive(Debug)]
pub struct Jobs(Arc<Background>);

/// What to do with which job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsArgs {
    /// `list` all jobs, `read` the new output of one, send one a `signal`, or `end` one: SIGTERM, and SIGKILL
    /// some seconds later.
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
        let background = self.0.clone();
        let session = job.session().to_owned();
        // Owners are asked, and may take a moment.
        let done = tokio::task::spawn_blocking(move || background.act(&args, &session)).await;
        done.map_err(|_| ToolError::new("the thread that looked after the jobs crashed"))?
    }
}

impl Background {
    fn act(&self, args: &JobsArgs, session: &str) -> Result<Output, ToolError> {
        let jobs = self.of(session);
        if args.action == Action::List {
            let (lines, data): (Vec<String>, Vec<Value>) = jobs.iter().map(line).unzip();
            let text = if lines.is_empty() { "no jobs".to_owned() } else { lines.join("\n") };
            return Ok(Output { data: Some(json!({"jobs": data})), ..Output::text(text) });
        }
        let id = args.id.ok_or_else(|| ToolError::new("say which job: `id` is missing"))?;
        let Some(found) = jobs.iter().find(|it| it.record.job == id) else {
            let text = format!("there is no job {id}; {{\"action\": \"list\"}} lists them");
            return Err(ToolError::new(text));
        };
        if args.signal.is_some() && args.action != Action::Signal {
            return Err(ToolError::new("`signal` goes with {\"action\": \"signal\"}"));
        }
        let failed = |err: OwnerError| ToolError::new(err.to_string());
        match args.action {
            Action::Signal => {
                let name = args.signal.as_deref();
                let name = name.ok_or_else(|| ToolError::new("say which: `signal` is missing"))?;
                let sent: Sent = name.parse().map_err(ToolError::new)?;
                let ended = || ToolError::new(format!("job {id} {}", found.state()));
                let owner = self.owner(session).map_err(failed)?.ok_or_else(ended)?;
                if !found.runs() {
                    return Err(ended());
                }
                owner.signal(id, name).map_err(failed)?;
                Ok(Output::text(format!("sent {sent} to job {id}")))
            }
            Action::End => {
                if let Some(owner) = self.owner(session).map_err(failed)?.filter(|_| found.runs()) {
                    owner.end(Some(vec![id])).map_err(failed)?;
                }
                let state = &self.sandboxes.settings().state;
                let records = JobRecords::new(state);
                let record = records.read(id).unwrap_or_else(|| found.record.clone());
                let view = JobView::of(state, &records, record);
                records.note_told(id);
                Ok(Output::text(format!("job {id} {}", view.state())))
            }
            Action::List | Action::Read => self.read(found),
        }
    }

    fn owner(&self, session: &str) -> Result<Option<OwnerClient>, OwnerError> {
        OwnerClient::connect(&self.sandboxes.settings().state, session)
    }

    fn read(&self, job: &JobView) -> Result<Output, ToolError> {
        let id = job.record.job;
        let fresh = self.fresh(id).map_err(|err| ToolError::new(err.to_string()))?;
        let (mut text, lost, total) = fresh;
        if lost > 0 {
            text = format!("[{lost} bytes came and went before this look]\n{text}");
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let state = job.state();
        let data = json!({
            "job": id, "state": state, "total_bytes": total, "ports": job.ports,
        });
        Ok(Output { data: Some(data), ..Output::text(format!("{text}[job {id} {state}]")) })
    }
}

fn line(job: &JobView) -> (String, Value) {
    let record = &job.record;
    let (id, state, seconds) = (record.job, job.state(), job.seconds());
    let command = one_line(&record.command);
    let text = format!("{id}  {state}, started {seconds} s ago: {command}");
    let data = json!({
        "job": id, "state": state, "command": record.command, "started_s_ago": seconds,
        "ports": job.ports,
    });
    (text, data)
}
