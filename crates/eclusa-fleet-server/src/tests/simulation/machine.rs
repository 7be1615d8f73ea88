//! A machine: its store and queue as they are, what it keeps of the server and its documents on a disk that outlives it,
//! and what it holds in memory, which does not.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use eclusa::{
    Answer, Approver as _, AuditSink as _, Decision, NotAsked, PermissionClass, Question, Reason,
    ReasonId, Source, Touch, Verdict,
    approve::{
        GivenAnswer, GivenVote, Proof, QuestionAbout, QuestionState, Questions as _, Requirement,
    },
    audit::{Appending, Clock, Draft, Head, Log as _},
};
use eclusa_fleet::{
    AskedQuestion, FleetVote, MAX_SHIPPED, MachineState, Membership, ShipStep, ShippedStore,
    Shipper, mirror::CarriedAnswer,
};
use eclusa_store::{Durability, Options, SqliteQueue, SqliteStore};
use tempfile::TempDir;

use super::{
    documents::{documents, enrolled},
    wire::SimulatedWire,
};

/// A clock that is moved by hand.
pub(super) struct SimulatedClock(pub(super) AtomicU64);

impl Clock for SimulatedClock {
    fn unix_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A file that another can be copied from.
const STORE: &str = "state/store.db";

/// What outlives a crash beside the store.
#[derive(Clone)]
struct SimulatedDisk {
    state: String,
    membership: String,
}

pub(super) struct SimulatedMachine {
    /// As the server knows it; a clone has the same.
    pub(super) number: u32,
    /// Whether there is or was another copy of it, so that its chain may end in a fork.
    pub(super) copied: bool,
    pub(super) membership: Membership,
    pub(super) state: MachineState,
    pub(super) id: String,
    dir: TempDir,
    open: Option<(SqliteStore, SqliteQueue)>,
    disk: SimulatedDisk,
    limit: usize,
    clock: Arc<SimulatedClock>,
}

/// What a machine can be set back to.
pub(super) struct Snapshot {
    dir: TempDir,
    disk: SimulatedDisk,
}

/// Where files are kept that nobody needs for long: in memory where there is such a place.
fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

fn copy(from: &Path, to: &Path) {
    let (from, to) = (from.join("state"), to.join("state"));
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&to, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Stores as they are when nothing has happened: each machine of a run begins with another one.
fn fresh(at: usize) -> &'static Path {
    static FRESH: OnceLock<Vec<TempDir>> = OnceLock::new();
    let make = || {
        let dir = scratch();
        drop(SqliteStore::open(&dir.path().join(STORE), Options::default()).unwrap());
        dir
    };
    let all = FRESH.get_or_init(|| (0..8).map(|_| make()).collect());
    all[at % all.len()].path()
}

impl SimulatedMachine {
    pub(super) fn new(at: usize, clock: &Arc<SimulatedClock>) -> SimulatedMachine {
        let dir = scratch();
        copy(fresh(at), dir.path());
        let membership = enrolled();
        let state = MachineState::enrolled(at as u32 + 1, String::new());
        let disk = SimulatedDisk { state: state.to_text(), membership: membership.to_text() };
        SimulatedMachine::boot(dir, disk, clock, false)
    }

    fn boot(
        dir: TempDir,
        disk: SimulatedDisk,
        clock: &Arc<SimulatedClock>,
        copied: bool,
    ) -> SimulatedMachine {
        let state = MachineState::parse(&disk.state).unwrap();
        let mut machine = SimulatedMachine {
            number: state.machine,
            copied,
            membership: Membership::load(&disk.membership, &documents().anchor).unwrap(),
            state,
            id: String::new(),
            open: None,
            dir,
            disk,
            limit: MAX_SHIPPED,
            clock: clock.clone(),
        };
        machine.open();
        machine
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(STORE)
    }

    fn open(&mut self) {
        let options = Options {
            durability: Durability::Crash,
            one_client: true,
            clock: self.clock.clone(),
            ..Options::default()
        };
        let store = SqliteStore::open(&self.path(), options).unwrap();
        let queue = SqliteQueue::new(store.clone());
        self.id = futures::executor::block_on(queue.queue()).unwrap();
        self.open = Some((store, queue));
    }

    pub(super) fn store(&self) -> &SqliteStore {
        &self.open.as_ref().unwrap().0
    }

    pub(super) fn queue(&self) -> &SqliteQueue {
        &self.open.as_ref().unwrap().1
    }

    /// Whatever was only in memory is gone.
    pub(super) fn crash(&mut self) {
        self.open = None;
        self.state = MachineState::parse(&self.disk.state).unwrap();
        self.membership = Membership::load(&self.disk.membership, &documents().anchor).unwrap();
        self.limit = MAX_SHIPPED;
        self.open();
    }

    /// Writes down how far it is.
    pub(super) fn note(&mut self) {
        let (state, membership) = (self.state.to_text(), self.membership.to_text());
        self.disk = SimulatedDisk { state, membership };
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        self.open = None;
        let dir = scratch();
        copy(self.dir.path(), dir.path());
        self.open();
        Snapshot { dir, disk: self.disk.clone() }
    }

    /// Another copy of the same machine.
    pub(super) fn cloned(&mut self) -> SimulatedMachine {
        self.copied = true;
        let it = self.snapshot();
        SimulatedMachine::boot(it.dir, it.disk, &self.clock, true)
    }

    pub(super) fn set_back(&mut self, to: &Snapshot) {
        self.open = None;
        self.dir = scratch();
        copy(to.dir.path(), self.dir.path());
        self.disk = to.disk.clone();
        self.copied = true;
        self.crash();
    }

    pub(super) fn head(&self) -> Head {
        self.store().head().unwrap()
    }

    /// A call: a start and an end.
    pub(super) async fn work(&self, number: u64) {
        let at = self.clock.unix_ms();
        let begun = format!(
            r#"{{"at":{at},"call":"c{number}","decision":"allow","event":"started","number":{number},"tool":"note","v":1}}"#
        );
        let start = self.append(begun).await;
        let ended = format!(
            r#"{{"at":{at},"call":"c{number}","code":"ok","event":"ended","ms":3,"start":{start},"tool":"note","v":1}}"#
        );
        self.append(ended).await;
    }

    async fn append(&self, body: String) -> u64 {
        match self.store().append(Draft::new(body).unwrap()) {
            Appending::Done(done) => done.unwrap().seq,
            Appending::Waiting(told) => told.await.unwrap().unwrap().seq,
        }
    }

    pub(super) fn shipped(&self) -> Option<&ShippedStore> {
        self.state.stores.get(&self.id)
    }

    /// Ships so many shipments at most.
    pub(super) async fn ship(
        &mut self,
        wire: &mut SimulatedWire<'_>,
        steps: usize,
    ) -> &'static str {
        let store = self.open.as_ref().unwrap().0.clone();
        let state = self.state.stores.entry(self.id.clone());
        let state = state.or_insert_with(|| ShippedStore::begin(Head::default()));
        let mut shipper =
            Shipper { id: &self.id, workspace: "/w", log: &store, limit: &mut self.limit };
        for _ in 0..steps {
            match shipper.step(wire, state).await {
                Ok(ShipStep::Moved) => {}
                Ok(ShipStep::CaughtUp) => return "caught up",
                Ok(ShipStep::Stopped) => return "stopped",
                Err(_) => return "failed",
            }
        }
        "moved"
    }

    /// Asks for a call whose binding is this, and leaves: everybody who said yes, once it may run.
    pub(super) async fn ask(&self, binding: &str, need: usize) -> Option<Vec<GivenVote>> {
        match self.queue().submit(&question(binding, need), false).await {
            Ok(given) if given.answer == Answer::Once => Some(given.votes),
            Ok(_) | Err(NotAsked::Parked(_)) => None,
            Err(err) => panic!("{err:?}"),
        }
    }

    /// The open questions, as the server mirrors them.
    pub(super) async fn open_questions(&self) -> Vec<(u64, String, usize)> {
        let mut open = Vec::new();
        for id in self.queue().changes(0).await.unwrap().0 {
            let it = self.queue().get(id).await.unwrap();
            if it.state == QuestionState::Pending {
                let need = it.question.verdict.requirements().map(|it| it.need).max().unwrap_or(1);
                open.push((it.id, it.question.binding.clone(), need));
            }
        }
        open
    }

    /// Takes an answer that the server carried, as `fleet::messages` does. Without the check: whatever it says.
    pub(super) async fn apply(&self, carried: &CarriedAnswer, check: bool) -> Result<(), String> {
        if carried.store != self.id {
            return Err("this machine has no such store".to_owned());
        }
        let (queue, id) = (self.queue(), carried.question);
        let queued = queue.get(id).await.map_err(|err| err.to_string())?;
        let asked = AskedQuestion {
            queue: &carried.store,
            id,
            binding: &queued.question.binding,
            principal: &queued.question.principal,
            created: queued.created,
            requirements: queued.question.verdict.requirements().cloned().collect(),
            whole: true,
        };
        let answer =
            match FleetVote::check(carried, &asked, &documents().signers, self.clock.unix_ms()) {
                Ok(vote) => vote.into_answer(),
                Err(_) if !check => GivenAnswer::new(vec![id], Answer::Once, &carried.person),
                Err(why) => return Err(why),
            };
        queue.answer(answer).await.map_err(|err| err.to_string())
    }
}

/// A question whose rule wants so many people.
fn question(binding: &str, need: usize) -> Question {
    let requirement = Requirement {
        of: Vec::new(),
        need,
        with: Proof::default(),
        separate: false,
        within: None,
        then: Vec::new(),
    };
    let origin = ReasonId::Rule {
        id: None,
        written_at: "eclusa.toml:1".into(),
        requires: Some(Arc::new(requirement)),
    };
    Question {
        call: format!("call-{binding}"),
        tool: "note".to_owned(),
        server: None,
        class: PermissionClass::Shell,
        args: serde_json::json!({ "text": binding }),
        shown_args: None,
        touches: vec![Touch::Unknown],
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin,
            text: "it is asked about".into(),
        }]),
        reason: None,
        destructive: false,
        reverse_thinking: None,
        about: QuestionAbout::Running,
        binding: binding.to_owned(),
        grant: None,
        can_always: false,
        task: None,
        principal: "agent".to_owned(),
        session: "session".to_owned(),
        time: Duration::from_secs(3_600),
        keep: Duration::from_secs(7 * 86_400),
        pending: None,
    }
}
