//! A job as it is shown: what is on record, and what is seen of its processes.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use eclusa::one_line;
use eclusa_sandbox::{listening_ports, processes_of};
use serde_json::{Value, json};

use crate::owner::{AgentProcess, JobRecord, JobRecords, OwnerClient};

/// A job, as it is now.
#[derive(Debug, Clone)]
pub struct JobView {
    /// What is on record.
    pub record: JobRecord,
    /// How many processes it has.
    pub processes: usize,
    /// The ports that it listens on.
    pub ports: Vec<u16>,
    runs: bool,
}

/// The jobs of a workspace that are on record, in order. One whose owner was killed is put on record as ended.
pub fn jobs_of(state: &Path) -> Vec<JobView> {
    let records = JobRecords::new(state);
    records.all().into_iter().map(|it| JobView::of(state, &records, it)).collect()
}

/// The jobs of a workspace that run, a line for each: which, since when, and which process holds it.
pub fn running_jobs(state: &Path) -> Vec<String> {
    let line = |it: &JobView| {
        let JobRecord { job, owner, command, .. } = &it.record;
        let (state, seconds, command) = (it.state(), it.seconds(), one_line(command));
        format!("job {job}: {state}, started {seconds} s ago, held by process {owner}: {command}")
    };
    jobs_of(state).iter().filter(|it| it.runs).map(line).collect()
}

/// The jobs of a workspace that ended with their owner or with the machine, a line for each.
pub fn lost_jobs(state: &Path) -> Vec<String> {
    let line = |it: &JobView| {
        let JobRecord { job, command, .. } = &it.record;
        format!("job {job} {}: {}", it.state(), one_line(command))
    };
    jobs_of(state).iter().filter(|it| it.record.lost).map(line).collect()
}

/// Jobs of a session that have ended since it was told of any.
pub(super) fn ended_since(state: &Path, session: &str) -> Vec<JobView> {
    let records = JobRecords::new(state);
    let over = |it: &JobRecord| it.ended.is_some() || !is_there(it);
    let news = |it: &JobRecord| it.session == session && !it.told && over(it);
    let views = records.all().into_iter().filter(news);
    let views = views.map(|it| JobView::of(state, &records, it));
    let ended: Vec<JobView> = views.filter(|it| it.record.ended.is_some()).collect();
    ended.iter().for_each(|it| records.note_told(it.record.job));
    ended
}

/// Whether the first process of a job is there.
fn is_there(record: &JobRecord) -> bool {
    AgentProcess::of(record.pid).is_some_and(|it| it.start == record.start)
}

impl JobView {
    pub(super) fn of(state: &Path, records: &JobRecords, record: JobRecord) -> JobView {
        let over = |record| JobView { record, processes: 0, ports: Vec::new(), runs: false };
        if record.ended.is_some() {
            return over(record);
        }
        if is_there(&record) {
            let processes = processes_of(record.pid).len();
            let ports = listening_ports(record.pid);
            return JobView { record, processes, ports, runs: true };
        }
        // Whoever holds it is about to say how it ended.
        let held = OwnerClient::connect(state, &record.session).is_ok_and(|it| it.is_some());
        let record = records.read(record.job).unwrap_or(record);
        match held || record.ended.is_some() {
            true => over(record),
            false => over(records.lost(record)),
        }
    }

    /// Whether it runs.
    pub fn runs(&self) -> bool {
        self.runs
    }

    /// What it does, or how it ended.
    pub fn state(&self) -> String {
        let ports = listening(&self.ports);
        let state = match &self.record.ended {
            Some(ended) => ended.clone(),
            None if self.runs => format!("runs{ports}"),
            None => "is ending".to_owned(),
        };
        match &self.record.changes {
            Some(changes) => format!("{state}; {changes}"),
            None => state,
        }
    }

    /// How long ago it was started.
    pub fn seconds(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        now.saturating_sub(self.record.since)
    }

    /// What is told when it begins.
    pub(super) fn goes_on(&self) -> String {
        let id = self.record.job;
        if !self.runs {
            return format!("job {id} {}", self.state());
        }
        let who = match self.processes {
            1 => "1 process still runs".to_owned(),
            count => format!("{count} processes still run"),
        };
        format!("{who} as job {id}{}", listening(&self.ports))
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let JobRecord { job, session, command, call, since, owner, ended, changes, .. } =
            &self.record;
        json!({
            "job": job, "session": session, "command": command, "call": call, "since": since, "owner": owner,
            "runs": self.runs, "ended": ended, "changes": changes, "processes": self.processes,
            "ports": self.ports,
        })
    }
}

fn listening(ports: &[u16]) -> String {
    if ports.is_empty() {
        return String::new();
    }
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!(", listening on {}", ports.join(", "))
}
