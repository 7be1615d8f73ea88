//! One server: started, watched, and started again when it ends.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use eclusa::{Job, Output, Reach, ServerSettings, ToolError};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId, ServerResult,
    },
    service::{ClientLifecycleMode, Peer, PeerRequestOptions, RunningService, ServiceError},
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    About, Process, World,
    asked::Asked,
    listing::{Told, ToolSeen},
    piped::LAST_WORDS,
    result,
    wire::Complaint,
};

/// How long a server that ended is left alone, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// How many words about its progress a call may be behind.
const BACKLOG: usize = 64;

/// One server behind the gate.
pub(super) struct Upstream {
    pub(super) settings: ServerSettings,
    pub(super) world: Arc<World>,
    state: watch::Sender<State>,
    /// Who wants to know how far a request has come. Held while a request goes out, so that
    /// nothing can be told before it is known whom to tell.
    listening: tokio::sync::Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>,
    pub(super) told: Mutex<Told>,
    again: tokio::sync::Notify,
    starts: AtomicU32,
    tracker: TaskTracker,
}

/// How a server is.
#[derive(Clone)]
enum State {
    Starting,
    /// It has told its tools.
    Up(Line),
    /// It ended, or could not be started: why.
    Down(Arc<str>),
}

/// The way to a server that is up.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) peer: Peer<RoleClient>,
    cell: Option<Arc<str>>,
    about: Arc<About>,
}

/// How a server is, for people.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// Why it is down; `None` for one that is up.
    pub down: Option<String>,
    /// What it says about itself, if it is up.
    pub about: Option<About>,
    /// How often it was started.
    pub starts: u32,
    /// Its tools, as it last told them.
    pub tools: Vec<ToolSeen>,
}

impl Upstream {
    /// Starts a server, and looks after it until `ending`.
    pub(super) fn start(
        settings: ServerSettings,
        world: Arc<World>,
        ending: CancellationToken,
    ) -> Arc<Upstream> {
        let upstream = Arc::new(Upstream {
            settings,
            world,
            state: watch::channel(State::Starting).0,
            listening: tokio::sync::Mutex::default(),
            told: Mutex::default(),
            again: tokio::sync::Notify::new(),
            starts: AtomicU32::new(0),
            tracker: TaskTracker::new(),
        });
        let looked_after = upstream.clone();
        upstream.tracker.spawn(async move {
            tokio::select! {
                () = looked_after.clone().look_after() => {}
                () = ending.cancelled() => {}
            }
            looked_after.down("it was ended");
        });
        upstream.tracker.close();
        upstream
    }

    /// Waits until the server has told its tools, or has failed to.
    pub(super) async fn settled(&self) {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|it| !matches!(it, State::Starting));
        // It says itself when its time to start is up; this is for the case that it does not.
        let _ = tokio::time::timeout(self.settings.start + LAST_WORDS * 2, settled).await;
    }

    /// Waits until it is gone.
    pub(super) async fn gone(&self) {
        self.tracker.wait().await;
    }

    pub(super) fn condition(&self) -> Condition {
        let (down, about) = match &*self.state.borrow() {
            State::Up(line) => (None, Some(About::clone(&line.about))),
            State::Starting => (Some("it has not started yet".to_owned()), None),
            State::Down(why) => (Some(why.to_string()), None),
        };
        Condition {
            name: self.settings.name.clone(),
            down,
            about,
            starts: self.starts.load(Ordering::Relaxed),
            tools: self.told().tools.clone(),
        }
    }

    /// The way to it. Waits for a server that starts; the error names it and says why it is down.
    pub(super) async fn line(&self) -> Result<Line, String> {
        self.settled().await;
        let name = &self.settings.name;
        match &*self.state.borrow() {
            State::Up(line) => Ok(line.clone()),
            State::Starting => Err(format!("the server `{name}` does not start")),
            State::Down(why) => Err(is_down(name, why)),
        }
    }

    /// Why it is down, if it is, and what to do.
    pub(super) fn excuse(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Down(why) => Some(is_down(&self.settings.name, why)),
            State::Starting | State::Up(_) => None,
        }
    }

    /// Calls a tool by the name that the server knows (S4.51).
    pub(super) async fn call(&self, tool: &str, job: &Job) -> Result<Output, ToolError> {
        let line = self.line().await.map_err(ToolError::new)?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = job.args().as_object().cloned();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let answer = self.request(&line, request, job).await;
        let name = &self.settings.name;
        let answer = match answer {
            Ok(answer) => answer,
            Err(err) => return Err(ToolError::new(self.explained(&err).await)),
        };
        let mut output = match answer {
            ServerResult::CallToolResult(result) => result::output(name, result),
            _ => {
                let text = format!("the server `{name}` answered something that is no result");
                return Err(ToolError::new(text));
            }
        };
        output.cell = line.cell.as_deref().map(str::to_owned);
        Ok(output)
    }

    /// Makes a request for a call, tells the call how far it comes, and takes the request back when
    /// the call is.
    async fn request(
        &self,
        line: &Line,
        request: ClientRequest,
        job: &Job,
    ) -> Result<ServerResult, ServiceError> {
        let (tell, mut told) = mpsc::channel(BACKLOG);
        let mut handle = {
            let mut listening = self.listening.lock().await;
            let options = PeerRequestOptions::no_options();
            let handle = line.peer.send_cancellable_request(request, options).await?;
            listening.insert(handle.progress_token.clone(), tell);
            handle
        };
        let token = handle.progress_token.clone();
        let mut waiting = Waiting { peer: line.peer.clone(), id: Some(handle.id.clone()) };
        let answer = loop {
            tokio::select! {
                biased;
                Some(told) = told.recv() => {
                    let whole = told.total.filter(|it| *it > 0.0).unwrap_or(1.0);
                    job.progress(told.progress / whole, told.message.as_deref().unwrap_or_default());
                }
                answer = &mut handle.rx => break answer.unwrap_or(Err(ServiceError::TransportClosed)),
                () = job.cancelled() => {
                    let reason = "the call was taken back".to_owned();
                    // An error means that the server is gone.
                    let _ = handle.cancel(Some(reason.clone())).await;
                    break Err(ServiceError::Cancelled { reason: Some(reason) });
                }
            }
        };
        waiting.id = None;
        self.listening.lock().await.remove(&token);
        answer
    }

    /// What an error means, for the model.
    async fn explained(&self, err: &ServiceError) -> String {
        let name = &self.settings.name;
        match err {
            ServiceError::McpError(err) => {
                format!("the server `{name}` refused the call: {}", err.message)
            }
            ServiceError::Cancelled { .. } => format!("the call of server `{name}` was taken back"),
            _ => {
                let why = self.why_down().await;
                let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                format!(
                    "the server `{name}` went away while it worked on this call{why}; nobody can \
                     tell how far it came. It is started again by itself"
                )
            }
        }
    }

    /// Why it is down, once somebody has found out.
    async fn why_down(&self) -> Option<String> {
        let mut state = self.state.subscribe();
        let down = state.wait_for(|it| matches!(it, State::Down(_)));
        match &*tokio::time::timeout(LAST_WORDS * 2, down).await.ok()?.ok()? {
            State::Down(why) => Some(why.to_string()),
            State::Starting | State::Up(_) => None,
        }
    }

    /// Hears how far a request has come.
    pub(super) async fn progressed(&self, told: ProgressNotificationParam) {
        let listening = self.listening.lock().await;
        if let Some(tell) = listening.get(&told.progress_token) {
            // Full: the call is behind, and the next one tells more.
            let _ = tell.try_send(told);
        }
    }

    /// Has the tools told again.
    pub(super) fn list_again(&self) {
        self.again.notify_one();
    }

    fn down(&self, why: &str) {
        self.state.send_replace(State::Down(why.into()));
    }

    /// Starts the server, again and again.
    async fn look_after(self: Arc<Upstream>) {
        let mut pause = BACK_OFF.0;
        loop {
            let began = Instant::now();
            let why = self.live().await;
            tracing::warn!(server = self.settings.name, "a server is down: {why}");
            self.down(&why);
            // One that worked for a while gets another chance at once.
            pause = if began.elapsed() > BACK_OFF.1 { BACK_OFF.0 } else { pause };
            sleep(pause).await;
            pause = (pause * 2).min(BACK_OFF.1);
        }
    }

    /// One life of the server. Gives the reason of its end.
    async fn live(self: &Arc<Upstream>) -> String {
        // A program says itself when its time is up; this is for the rest of its start.
        let time = self.settings.start + LAST_WORDS;
        let started = tokio::time::timeout(time, self.begin()).await;
        let (running, line, mut process, complaint) = match started {
            Ok(Ok(started)) => started,
            Ok(Err(why)) => return why,
            Err(_elapsed) => return self.too_slow(),
        };
        self.state.send_replace(State::Up(line.clone()));
        let gone = running.waiting();
        tokio::pin!(gone);
        loop {
            tokio::select! {
                _ = &mut gone => break,
                () = self.again.notified() => {
                    if let Err(why) = self.list(&line.peer).await {
                        return why;
                    }
                }
            }
        }
        let ended = match &mut process {
            // It closed its pipe, or was given up; a moment for its last words.
            Some(process) => tokio::time::timeout(LAST_WORDS, process.ended()).await.ok(),
            None => None,
        };
        complaint.take().or(ended).unwrap_or_else(|| "it closed the connection".to_owned())
    }

    /// Starts it and has it tell its tools.
    async fn begin(self: &Arc<Upstream>) -> Result<Started, String> {
        let (complaint, began) = (Complaint::default(), Instant::now());
        self.starts.fetch_add(1, Ordering::Relaxed);
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let handler = Asked { upstream: Arc::downgrade(self) };
        let (running, process, cell) = match &self.settings.reach {
            Reach::Command(_) => {
                let greeted = self.greet(handler, lifecycle, &complaint).await?;
                let (running, process, cell) = greeted;
                (running, Some(process), cell)
            }
            Reach::Url { .. } => return Err("servers over HTTP are not there yet".to_owned()),
        };
        let peer = running.peer().clone();
        self.list(&peer).await?;
        let about = About::new(&peer, cell.as_deref(), began.elapsed()).into();
        let line = Line { peer, cell: cell.map(Arc::from), about };
        Ok((running, line, process, complaint))
    }
}

/// Tells the server when nobody waits for a request any more.
struct Waiting {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let peer = self.peer.clone();
            let told = CancelledNotificationParam::new(Some(id), None);
            // An error means that the server is gone.
            tokio::spawn(async move { drop(peer.notify_cancelled(told).await) });
        }
    }
}

fn is_down(name: &str, why: &str) -> String {
    format!(
        "the server `{name}` is down: {why}. It is started again by itself; try later, or go on \
         without it. `eclusa servers test {name}` tells a person more"
    )
}

/// A server that has told its tools.
type Started = (RunningService<RoleClient, Asked>, Line, Option<Box<dyn Process>>, Complaint);
