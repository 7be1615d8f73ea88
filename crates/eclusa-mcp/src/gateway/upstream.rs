//! One server: started, watched, and started again when it ends.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use eclusa::{Endpoint, Job, Output, ServerSettings, ToolError};
use rmcp::{
    RoleClient,
    model::{
        LoggingLevel, ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerResult,
    },
    service::{ClientLifecycleMode, Peer, RunningService},
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    About, Hindered, Process, World,
    asked::Asked,
    listing::{Told, ToolSeen},
    piped::LAST_WORDS,
    remote, result,
    stock::Stock,
    watching::{Ration, Spread, Watched},
    wire::Complaint,
    wish::{Flights, Wish},
    words::bounded,
};

/// How long a server that ended is left alone, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// How long a server that has told its tools is not asked for them again.
const PAUSE: Duration = Duration::from_millis(500);

/// One server behind the gate.
pub(super) struct Upstream {
    pub(super) settings: ServerSettings,
    pub(super) world: Arc<World>,
    state: watch::Sender<State>,
    /// Who wants to know how far a request has come. Held while a request goes out, so that
    /// nothing can be told before it is known whom to tell.
    pub(super) listening: Listening,
    pub(super) flights: Flights,
    pub(super) told: Mutex<Told>,
    stock: Mutex<Stock>,
    pub(super) watched: Watched,
    pub(super) spread: Spread,
    pub(super) ration: Ration,
    again: tokio::sync::Notify,
    starts: AtomicU32,
    tracker: TaskTracker,
}

/// Who wants to know how far a request has come, by its token.
type Listening =
    tokio::sync::Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>;

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
    pub(super) sandbox: Option<Arc<str>>,
    pub(super) hindered: Option<Arc<dyn Hindered>>,
    /// What a person would have to do for a server at an address.
    pub(super) wants: Complaint,
    about: Arc<About>,
    /// How much a server of the older era was last asked to say.
    pub(super) level: Arc<tokio::sync::Mutex<Option<LoggingLevel>>>,
}

impl Line {
    /// True for a server of the newer era, to which every request says what it needs.
    pub(super) fn modern(&self) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|it| !it.protocol_version.has_initialize())
    }
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
    /// What else a person should know, a sentence each.
    pub remarks: Vec<String>,
}

impl Upstream {
    /// Starts a server, and looks after it until `ending`.
    pub(super) fn start(
        settings: ServerSettings,
        world: Arc<World>,
        spread: Spread,
        ending: CancellationToken,
    ) -> Arc<Upstream> {
        let upstream = Arc::new(Upstream {
            settings,
            world,
            state: watch::channel(State::Starting).0,
            listening: Listening::default(),
            flights: Flights::default(),
            told: Mutex::default(),
            stock: Mutex::default(),
            watched: Watched::default(),
            spread,
            ration: Ration::default(),
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
        let _ = timeout(self.settings.start + LAST_WORDS * 2, settled).await;
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
            remarks: Vec::new(),
        }
    }

    pub(super) fn stock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to it, if it is up.
    pub(super) fn up(&self) -> Option<Line> {
        match &*self.state.borrow() {
            State::Up(line) => Some(line.clone()),
            State::Starting | State::Down(_) => None,
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
        let wish = Wish::Call(tool.to_owned(), job.args().as_object().cloned());
        let began = std::time::Instant::now();
        self.forget_wants();
        let given = self.fulfil(&wish, job).await.map_err(|err| self.explained(err, began))?;
        let mut output = match given.said {
            ServerResult::CallToolResult(result) => result::output(&self.settings.name, result),
            _ => return Err(ToolError::new(self.no_result())),
        };
        if let Some(error) = &mut output.error
            && let Some(why) = self.hindrance(&output.text, began)
        {
            *error = format!("{error}: {why}");
        }
        output.sandbox = given.sandbox;
        Ok(output)
    }

    pub(super) fn no_result(&self) -> String {
        format!("the server `{}` answered something that is no result", self.settings.name)
    }

    /// Why it is down, once somebody has found out.
    pub(super) async fn why_down(&self) -> Option<String> {
        let mut state = self.state.subscribe();
        let down = state.wait_for(|it| matches!(it, State::Down(_)));
        match &*timeout(LAST_WORDS * 2, down).await.ok()?.ok()? {
            State::Down(why) => Some(why.to_string()),
            State::Starting | State::Up(_) => None,
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
            // It may be in words of the server's own.
            let why = bounded(&self.live().await);
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
        let started = timeout(time, self.begin()).await;
        let (running, line, mut process, complaint) = match started {
            Ok(Ok(started)) => started,
            Ok(Err(why)) => return why,
            Err(_elapsed) => return self.too_slow(),
        };
        self.state.send_replace(State::Up(line.clone()));
        let (gone, news) = (running.waiting(), self.hear_news(&line));
        tokio::pin!(gone, news);
        let mut listed_at = Instant::now();
        loop {
            tokio::select! {
                _ = &mut gone => break,
                () = self.again.notified() => {
                    // One that tells of changes without end is not asked without end.
                    sleep_until(listed_at + PAUSE).await;
                    let listed = timeout(self.settings.start, self.list(&line.peer)).await;
                    let late = || Err("it did not tell its tools in time".to_owned());
                    if let Err(why) = listed.unwrap_or_else(|_| late()) {
                        return why;
                    }
                    listed_at = Instant::now();
                }
                () = &mut news => {}
            }
        }
        let ended = match &mut process {
            // It closed its pipe, or was given up; a moment for its last words.
            Some(process) => timeout(LAST_WORDS, process.ended()).await.ok(),
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
        let (running, process, sandbox, hindered) = match &self.settings.reach {
            Endpoint::Command(_) => {
                let greeted = self.greet(handler, lifecycle, &complaint).await?;
                let (running, process, sandbox, hindered) = greeted;
                (running, Some(process), sandbox, hindered)
            }
            Endpoint::Url { .. } => {
                let keys = &self.world.keys;
                let settings = &self.settings;
                let running =
                    remote::connect(settings, keys, handler, lifecycle, &complaint).await?;
                (running, None, None, None)
            }
        };
        let peer = running.peer().clone();
        self.list(&peer).await.map_err(|err| complaint.take().unwrap_or(err))?;
        // What was wrong on the way is not any more.
        let _ = complaint.take();
        let about = About::new(&peer, sandbox.as_deref(), began.elapsed()).into();
        let (sandbox, level) = (sandbox.map(Arc::from), Arc::default());
        let line = Line { peer, sandbox, hindered, wants: complaint.clone(), about, level };
        Ok((running, line, process, complaint))
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
