//! Jobs as they are on record beside the state of their workspace, whoever holds them.
//!
//! ```text
//! STATE/jobs/3/job.json    what is known of job 3
//! STATE/jobs/3/out         what it wrote: the last part
//! ```

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use eclusa::{Durability, workspace::private_file};
use eclusa_sandbox::scan::discard;
use rustix::fs::{FallocateFlags, fallocate};
use serde::{Deserialize, Serialize};

use super::session_log::SessionLog;

/// Output that is kept of each job: its last part.
pub const MAX_KEPT_OUTPUT: u64 = 8 << 20;
/// How long a job that has ended is on record.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// How often a number is looked for that nobody has taken.
const TRIES: u64 = 1000;

/// What is known of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its number in this workspace.
    pub job: u64,
    /// Its session, by its name.
    pub session: String,
    /// The command.
    pub command: String,
    /// The call that started it, in the log.
    pub call: Option<u64>,
    /// When it was started, in seconds since 1970.
    pub since: u64,
    /// The process that holds it.
    pub owner: u32,
    /// Its first process.
    pub pid: i32,
    /// When that was started, as the kernel counts.
    pub start: u64,
    /// The layer that it writes to.
    pub layer: Option<PathBuf>,
    /// How it ended, if it has.
    pub ended: Option<String>,
    /// What became of what it wrote to the workspace, where that is to be told.
    pub changes: Option<String>,
    /// The file in which commands of its session find what it prints.
    #[serde(default)]
    pub log: Option<String>,
    /// Whether its session knows that it has ended.
    #[serde(default)]
    pub told: bool,
    /// Whether it ended with its owner or with the machine, which told nobody.
    #[serde(default)]
    pub lost: bool,
}

/// Whether this moment, in seconds since 1970, was before the machine was started.
fn started_before_boot(since: u64) -> bool {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = text.lines().find_map(|it| it.strip_prefix("btime ")?.trim().parse::<u64>().ok());
    boot.is_some_and(|boot| since < boot)
}

/// The records of a workspace.
#[derive(Debug, Clone)]
pub struct JobRecords(PathBuf);

impl JobRecords {
    /// Those beneath a directory of state.
    pub fn new(state: &Path) -> JobRecords {
        JobRecords(state.join("jobs"))
    }

    /// Where they are: nobody's business inside a sandbox.
    pub(crate) fn place(&self) -> &Path {
        &self.0
    }

    fn directory(&self, job: u64) -> PathBuf {
        self.0.join(job.to_string())
    }

    /// A number that no other job has.
    pub(super) fn new_number(&self) -> io::Result<u64> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let last = self.numbers().last().copied().unwrap_or(0);
        for number in last + 1..last + TRIES {
            match DirBuilder::new().mode(0o700).create(self.directory(number)) {
                Ok(()) => return Ok(number),
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                Err(err) => return Err(err),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn numbers(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut all: Vec<u64> =
            entries.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
        all.sort_unstable();
        all
    }

    /// Writes what is known of a job.
    pub(super) fn write(&self, record: &JobRecord) -> io::Result<()> {
        let text = serde_json::to_vec(record)?;
        private_file::write(&self.directory(record.job).join("job.json"), text, Durability::Crash)
    }

    /// What is known of a job. `None`: there is none of this number.
    pub fn read(&self, job: u64) -> Option<JobRecord> {
        let text = fs::read(self.directory(job).join("job.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// All jobs that are on record, in order.
    pub fn all(&self) -> Vec<JobRecord> {
        self.numbers().into_iter().filter_map(|it| self.read(it)).collect()
    }

    /// Puts on record that a job ended with its owner, which did not say so itself.
    pub(crate) fn lost(&self, record: JobRecord) -> JobRecord {
        let ended = match started_before_boot(record.since) {
            true => "ended: the machine was started again",
            false => "ended: its owner was killed",
        };
        let ended = Some(ended.to_owned());
        let changes = Some("its changes to the workspace are lost".to_owned());
        let changes = record.layer.as_ref().and(changes);
        let record = JobRecord { ended, changes, layer: None, lost: true, ..record };
        if let Err(err) = self.write(&record) {
            tracing::warn!("the end of job {} is not on record: {err}", record.job);
        }
        record
    }

    /// Notes that its session knows how a job ended.
    pub(crate) fn note_told(&self, job: u64) {
        if let Some(record) = self.read(job).filter(|it| it.ended.is_some() && !it.told)
            && let Err(err) = self.write(&JobRecord { told: true, ..record })
        {
            tracing::debug!("that the end of job {job} is known is not on record: {err}");
        }
    }

    /// Forgets a job that has ended.
    pub(crate) fn forget(&self, job: u64) {
        let _ = discard(&self.directory(job));
    }

    /// Removes jobs that ended long ago.
    pub(crate) fn sweep(&self) -> usize {
        let mut swept = 0;
        for number in self.numbers() {
            let path = self.directory(number);
            let record = path.join("job.json");
            let changed = fs::metadata(record).or_else(|_| fs::metadata(&path));
            let age = changed.and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
            let ended = self.read(number).is_none_or(|it| it.ended.is_some());
            if ended && age.is_some_and(|it| it > MAX_AGE) && discard(&path).is_ok() {
                swept += 1;
            }
        }
        swept
    }

    /// A place for the output of a job.
    pub(super) fn make_output(&self, job: u64) -> io::Result<JobOutput> {
        let path = self.directory(job).join("out");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(JobOutput { file, total: 0, lost: LostBytes::default(), log: None })
    }

    /// What a job wrote from this byte on, how many bytes before that are gone, and how many there are in all.
    pub fn output(&self, job: u64, from: u64) -> io::Result<(Vec<u8>, u64, u64)> {
        let mut file = match File::open(self.directory(job).join("out")) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0, 0)),
            file => file?,
        };
        let total = file.metadata()?.len();
        let start = from.max(total.saturating_sub(MAX_KEPT_OUTPUT)).min(total);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(total - start).read_to_end(&mut bytes)?;
        Ok((bytes, start.saturating_sub(from), total))
    }
}

/// What a job writes, as far as it is kept.
#[derive(Debug)]
pub(super) struct JobOutput {
    file: File,
    total: u64,
    lost: LostBytes,
    /// The same for later commands of its session.
    pub(super) log: Option<SessionLog>,
}

/// How many bytes of an output could not be kept, and why.
#[derive(Debug, Clone, Default)]
pub(super) struct LostBytes(Arc<Mutex<Option<(u64, String)>>>);

impl LostBytes {
    fn add(&self, count: usize, why: &io::Error) {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lost.take().map_or(0, |it| it.0);
        *lost = Some((before.saturating_add(count as u64), why.to_string()));
    }

    /// In words, if there are any.
    pub(super) fn told(&self) -> Option<String> {
        let lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lost.as_ref()
            .map(|(count, why)| format!("{count} bytes of its output were not kept: {why}"))
    }
}

impl JobOutput {
    /// What could not be kept.
    pub(super) fn lost(&self) -> LostBytes {
        self.lost.clone()
    }

    /// Adds some. What a full disk does not take is counted, and the job goes on.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            log.add(bytes);
        }
        if let Err(err) = self.file.write_all(bytes) {
            self.lost.add(bytes.len(), &err);
            // Nothing of a part stays, and what comes later has its place.
            let _ = self
                .file
                .set_len(self.total)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.total)));
            return;
        }
        let before = self.total.saturating_sub(MAX_KEPT_OUTPUT);
        self.total += bytes.len() as u64;
        let after = self.total.saturating_sub(MAX_KEPT_OUTPUT);
        // What is too old gives its room back where the filesystem can do that.
        if after > before && after / CHUNK > before / CHUNK {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(&self.file, flags, 0, after / CHUNK * CHUNK);
        }
    }
}

/// How much room is given back at once.
const CHUNK: u64 = 1 << 20;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
