//! Calls that go on as tasks, for clients that know them (the extension `io.modelcontextprotocol/tasks`).
//!
//! A call that waits for a person is answered with a task at once. The client asks how far it is
//! (`tasks/get`), answers what it is asked (`tasks/update`), and may take the call back
//! (`tasks/cancel`). A task is of the session that made the call, and ends with this process: a question
//! in the approval queue stays there, and the call, made again, takes its answer.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use eclusa::Reply;
use eclusa_text::calendar::UtcTime;
use rmcp::model::{InputRequests, InputResponses, Task, TaskStatus};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{ClientQuestion, SideResults},
    server::{
        call::{Call, CallStep},
        pending::token,
    },
};

/// How long the answer of a task is kept.
const RETENTION: Duration = Duration::from_secs(30 * 60);

/// How often a client is told to ask.
const POLL: Duration = Duration::from_secs(1);

/// So many tasks are kept. Of those that ended one goes first of whoever has the most, the oldest.
const MAX_TASKS: usize = 1024;

/// So many calls of one client may wait as tasks.
const MAX_WAITING: usize = 256;

/// The tasks of all clients.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<TaskEntry>>>);

/// Whose a task is.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct TaskOwner {
    pub(crate) principal: Arc<str>,
    pub(crate) session: Arc<str>,
}

/// One task.
pub(crate) struct TaskEntry {
    id: String,
    owner: TaskOwner,
    created: SystemTime,
    cancel: CancellationToken,
    state: Mutex<TaskState>,
}

/// How far a task is.
struct TaskState {
    changed: SystemTime,
    said: String,
    /// How many questions it has asked: none has the name of another.
    asked: u64,
    step: TaskStep,
}

enum TaskStep {
    Works,
    Asks { question: Box<ClientQuestion>, requests: InputRequests },
    Ended(EndedTask),
}

/// What a task came to. It stays what it is, whatever its client says afterwards.
#[derive(Clone)]
pub(crate) struct EndedTask {
    pub(crate) reply: Arc<Reply>,
    pub(crate) side_results: Arc<SideResults>,
    /// Whether the call was taken back before it had come to anything.
    pub(crate) taken_back: bool,
}

/// What a client is told of a task.
pub(crate) enum TaskView {
    Works,
    Asks(InputRequests),
    Ended(EndedTask),
}

impl Tasks {
    /// Has a call go on as a task, which begins with this question, if there is one. `ended` is told
    /// of its reply.
    pub(crate) fn begin(
        &self,
        owner: TaskOwner,
        call: Call,
        asked: Option<ClientQuestion>,
        ended: impl FnOnce(&Reply) + Send + 'static,
    ) -> io::Result<Task> {
        let now = SystemTime::now();
        let said = "waiting for a person to approve this call".to_owned();
        let state = TaskState { changed: now, said, asked: 0, step: TaskStep::Works };
        let (cancel, state) = (call.cancellation(), Mutex::new(state));
        let entry = Arc::new(TaskEntry { id: token()?, owner, created: now, cancel, state });
        if let Some(asked) = asked {
            entry.asks(asked);
        }
        if !self.keep(entry.clone()) {
            entry.cancel();
            let why = format!("{MAX_WAITING} calls wait already; answer them, or take some back");
            return Err(io::Error::other(why));
        }
        let task = entry.task(TaskStatus::Working);
        tokio::spawn(entry.carry(call, ended));
        Ok(task)
    }

    /// Keeps a task, unless too many wait.
    fn keep(&self, entry: Arc<TaskEntry>) -> bool {
        let mut all = lock(&self.0);
        all.retain(|_, it| it.ended_since().is_none_or(|since| since < RETENTION));
        let waits = |it: &&Arc<TaskEntry>| it.owner == entry.owner && it.ended_since().is_none();
        if all.values().filter(waits).count() >= MAX_WAITING {
            return false;
        }
        if all.len() >= MAX_TASKS {
            let mut counts: HashMap<&TaskOwner, usize> = HashMap::new();
            for it in all.values() {
                *counts.entry(&it.owner).or_default() += 1;
            }
            let order = |it: &Arc<TaskEntry>| {
                Some((*counts.get(&it.owner)?, it.ended_since()?, it.id.clone()))
            };
            let Some((_, _, id)) = all.values().filter_map(order).max() else { return false };
            all.remove(&id);
        }
        all.insert(entry.id.clone(), entry);
        true
    }

    /// The task of this name, for whoever it is kept.
    pub(crate) fn find(&self, owner: &TaskOwner, id: &str) -> Option<Arc<TaskEntry>> {
        lock(&self.0).get(id).filter(|it| it.owner == *owner).cloned()
    }
}

impl TaskEntry {
    /// Carries the call to its end.
    async fn carry(self: Arc<TaskEntry>, mut call: Call, ended: impl FnOnce(&Reply)) {
        loop {
            match call.step().await {
                CallStep::Asks(asked) => self.asks(asked),
                CallStep::Says(said) => self.change(|state| state.said = said),
                CallStep::Done(reply, side_results) => {
                    ended(&reply);
                    let cancelled = self.cancel.is_cancelled() || reply.code() == "cancelled";
                    let taken_back = reply.is_error() && cancelled;
                    let reply = Arc::from(reply);
                    let step = TaskStep::Ended(EndedTask { reply, side_results, taken_back });
                    return self.change(|state| (state.said, state.step) = (String::new(), step));
                }
            }
        }
    }

    /// A question is open from here on, under names of its own.
    fn asks(&self, mut question: ClientQuestion) {
        self.change(|state| {
            state.asked += 1;
            let named = |(name, request): (String, _)| (key(state.asked, &name), request);
            let requests = question.requests().into_iter().flatten().map(named).collect();
            state.step = TaskStep::Asks { question: Box::new(question), requests };
        });
    }

    /// Takes answers to the question that is open. What is no answer to it changes nothing; what is
    /// no answer at all is asked again.
    pub(crate) fn answer(&self, said: &InputResponses) {
        let mut state = lock(&self.state);
        let TaskStep::Asks { requests, .. } = &state.step else { return };
        let prefix = key(state.asked, "");
        let own = |(name, said): (&String, _)| {
            let name = name.strip_prefix(&prefix).filter(|_| requests.contains_key(name))?;
            Some((name.to_owned(), Clone::clone(said)))
        };
        let own: InputResponses = said.iter().filter_map(own).collect();
        if own.is_empty() {
            return;
        }
        let step = std::mem::replace(&mut state.step, TaskStep::Works);
        state.changed = SystemTime::now();
        drop(state);
        if let TaskStep::Asks { question, .. } = step
            && let Err(question) = question.answered(Some(&own))
        {
            self.asks(*question);
        }
    }

    /// Takes the call back. One that has ended stays what it is.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// How far it is.
    pub(crate) fn view(&self) -> TaskView {
        match &lock(&self.state).step {
            TaskStep::Asks { question, requests } if !question.is_closed() => {
                TaskView::Asks(requests.clone())
            }
            // It was answered somewhere else.
            TaskStep::Works | TaskStep::Asks { .. } => TaskView::Works,
            TaskStep::Ended(ended) => TaskView::Ended(ended.clone()),
        }
    }

    /// What the protocol says of every task.
    pub(crate) fn task(&self, status: TaskStatus) -> Task {
        let state = lock(&self.state);
        let mut task = Task::new(&self.id, status, iso(self.created), iso(state.changed))
            .with_poll_interval_ms(millis(POLL));
        if let TaskStep::Ended(..) = state.step {
            let kept = state.changed.duration_since(self.created).unwrap_or_default() + RETENTION;
            task = task.with_ttl_ms(millis(kept));
        }
        match state.said.is_empty() {
            true => task,
            false => task.with_status_message(&state.said),
        }
    }

    fn ended_since(&self) -> Option<Duration> {
        let state = lock(&self.state);
        let ended = matches!(state.step, TaskStep::Ended(..));
        ended.then(|| state.changed.elapsed().unwrap_or_default())
    }

    fn change(&self, change: impl FnOnce(&mut TaskState)) {
        let mut state = lock(&self.state);
        change(&mut state);
        state.changed = SystemTime::now();
    }
}

/// What a request is called: no name comes twice in the life of a task.
fn key(asked: u64, name: &str) -> String {
    format!("{asked}-{name}")
}

fn iso(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    UtcTime::after_1970(millis(since)).to_string()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
