//! One server: started, watched, and started again when it ends.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use eclusa::{
    Job, Output, ToolError,
    settings::{Endpoint, ServerSettings},
};
use rmcp::{
    RoleClient,
    model::{LoggingLevel, ProgressNotificationParam, ProgressToken, ServerResult},
    service::{Peer, RunningService},
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    DeniedAccess, GatewaySetup, ServerInfo, ServerProcess, ServerStatus,
    client_handler::UpstreamHandler,
    era_choice::EraChoice,
    notifications::{Broadcaster, RateLimit, Watched},
    pipe_transport::LastError,
    process::LAST_WORDS,
    remote,
    request::{InFlightCalls, UpstreamRequest},
    resources::ResourceCatalogue,
    result,
    sanitize::sanitize,
    tools::ToolCatalogue,
};
use crate::era::Era;

/// How long a server that ended is left alone, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// How long a server that has told its tools is not asked for them again.
const RELIST_PAUSE: Duration = Duration::from_millis(500);

/// One server behind the gate.
pub(super) struct Upstream {
    pub(super) settings: ServerSettings,
    pub(super) world: Arc<GatewaySetup>,
    state: watch::Sender<State>,
    /// Who wants to know how far a request has come. Held while a request goes out, so that
    /// nothing can be told before it is known whom to tell.
    pub(super) listening: Listening,
    pub(super) in_flight: InFlightCalls,
    pub(super) told: Mutex<ToolCatalogue>,
    catalogue: Mutex<ResourceCatalogue>,
    pub(super) watched: Watched,
    pub(super) spread: Broadcaster,
    pub(super) log_rate: RateLimit,
    pub(super) era: EraChoice,
    ending: CancellationToken,
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
    Up(Connection),
    /// It ended, or could not be started: why.
    Down(Arc<str>),
}

/// The way to a server that is up.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) sandbox: Option<Arc<str>>,
    pub(super) denied_access: Option<Arc<dyn DeniedAccess>>,
    /// What a person would have to do for a server at an address.
    pub(super) last_error: LastError,
    about: Arc<ServerInfo>,
    pub(super) era: Era,
    /// How much a server of the older era was last asked to say.
    pub(super) level: Arc<tokio::sync::Mutex<Option<LoggingLevel>>>,
}

impl Upstream {
    /// Starts a server, and looks after it until `ending`.
    pub(super) fn start(
        settings: ServerSettings,
        world: Arc<GatewaySetup>,
        spread: Broadcaster,
        ending: CancellationToken,
    ) -> Arc<Upstream> {
        let (watched, era) = (Watched::default(), EraChoice::default());
        Upstream::supervised(settings, world, (spread, watched), era, ending)
    }

    /// Starts a second connection to the same server. What is watched is watched at both.
    pub(super) fn start_second(&self, era: EraChoice) -> Arc<Upstream> {
        let (settings, world) = (self.settings.clone(), self.world.clone());
        let news = (self.spread.clone(), self.watched.clone());
        Upstream::supervised(settings, world, news, era, self.ending.clone())
    }

    fn supervised(
        settings: ServerSettings,
        world: Arc<GatewaySetup>,
        (spread, watched): (Broadcaster, Watched),
        era: EraChoice,
        ending: CancellationToken,
    ) -> Arc<Upstream> {
        let upstream = Arc::new(Upstream {
            settings,
            world,
            state: watch::channel(State::Starting).0,
            listening: Listening::default(),
            in_flight: InFlightCalls::default(),
            told: Mutex::default(),
            catalogue: Mutex::default(),
            watched,
            spread,
            log_rate: RateLimit::default(),
            era,
            ending,
            again: tokio::sync::Notify::new(),
            starts: AtomicU32::new(0),
            tracker: TaskTracker::new(),
        });
        let supervised = upstream.clone();
        upstream.tracker.spawn(async move {
            tokio::select! {
                () = supervised.clone().supervise() => {}
                () = supervised.ending.cancelled() => {}
            }
            supervised.down("it was ended");
        });
        upstream.tracker.close();
        upstream
    }

    /// Waits until the server has told its tools, or has failed to.
    pub(super) async fn wait_started(&self) {
        let mut state = self.state.subscribe();
        let wait_started = state.wait_for(|it| !matches!(it, State::Starting));
        // It says itself when its time to start is up; this is for the case that it does not.
        let _ = timeout(self.settings.start + LAST_WORDS * 2, wait_started).await;
    }

    /// Waits until it is gone.
    pub(super) async fn gone(&self) {
        self.tracker.wait().await;
        if let Some(second) = self.era.second() {
            second.tracker.wait().await;
        }
    }

    pub(super) fn condition(&self) -> ServerStatus {
        let (down, about) = match &*self.state.borrow() {
            State::Up(connection) => (None, Some(ServerInfo::clone(&connection.about))),
            State::Starting => (Some("it has not started yet".to_owned()), None),
            State::Down(why) => (Some(why.to_string()), None),
        };
        ServerStatus {
            name: self.settings.name.clone(),
            down,
            about,
            starts: self.starts.load(Ordering::Relaxed)
                + self.era.second().map_or(0, |it| it.starts.load(Ordering::Relaxed)),
            tools: self.tool_catalogue().tools.clone(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn catalogue(&self) -> MutexGuard<'_, ResourceCatalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to it, if it is up.
    pub(super) fn up(&self) -> Option<Connection> {
        match &*self.state.borrow() {
            State::Up(connection) => Some(connection.clone()),
            State::Starting | State::Down(_) => None,
        }
    }

    /// The way to it. Waits for a server that starts; the error names it and says why it is down.
    pub(super) async fn connection(&self) -> Result<Connection, String> {
        self.wait_started().await;
        let name = &self.settings.name;
        match &*self.state.borrow() {
            State::Up(connection) => Ok(connection.clone()),
            State::Starting => Err(format!("the server `{name}` does not start")),
            State::Down(why) => Err(self.down_text(why)),
        }
    }

    /// True when it ended, or could not be started.
    pub(super) fn is_down(&self) -> bool {
        matches!(&*self.state.borrow(), State::Down(_))
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(&*self.state.borrow(), State::Starting)
    }

    /// Why it is down, if it is, and what to do.
    pub(super) fn down_message(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Down(why) => Some(self.down_text(why)),
            State::Starting => Some(format!(
                "the server `{}` has not started yet; try again later, or continue without it",
                self.settings.name
            )),
            State::Up(_) => None,
        }
    }

    /// Calls a tool by the name that the server knows (S4.51).
    pub(super) async fn call(
        self: &Arc<Upstream>,
        tool: &str,
        job: &Job,
    ) -> Result<Output, ToolError> {
        let request = UpstreamRequest::Call(tool.to_owned(), job.args().as_object().cloned());
        let serving = self.for_caller().await;
        let began = std::time::Instant::now();
        serving.clear_last_error();
        let given = serving.send(&request, job).await;
        let given = given.map_err(|err| serving.explain_error(err, began))?;
        let mut output = match given.said {
            ServerResult::CallToolResult(result) => result::output(&self.settings.name, result),
            _ => return Err(ToolError::new(self.no_result())),
        };
        if let Some(error) = &mut output.error
            && let Some(why) = serving.sandbox_hint(&output.text, began)
        {
            *error = format!("{error}: {why}");
        }
        output.sandbox = given.sandbox;
        Ok(output)
    }

    pub(super) fn no_result(&self) -> String {
        format!("the server `{}` answered with something that is not a result", self.settings.name)
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

    pub(super) fn starting(&self) {
        self.state.send_replace(State::Starting);
    }

    fn down(&self, why: &str) {
        self.state.send_replace(State::Down(why.into()));
    }

    /// Starts the server, again and again.
    async fn supervise(self: Arc<Upstream>) {
        let mut pause = BACK_OFF.0;
        loop {
            let began = Instant::now();
            let Some(why) = self.live().await else { continue };
            // It told its era too late for its first start: whoever waits for it waits on.
            if self.is_starting() && self.era.known().is_some() {
                continue;
            }
            // It may be in words of the server's own.
            let why = sanitize(&why);
            tracing::warn!(server = self.settings.name, "a server is down: {why}");
            self.down(&why);
            if self.era.is_hopeless() {
                return std::future::pending().await;
            }
            // One that worked for a while gets another chance at once.
            pause = if began.elapsed() > BACK_OFF.1 { BACK_OFF.0 } else { pause };
            let login = remote::logged_in_anew(&self.settings.name, &*self.world.keys);
            pause = tokio::select! {
                () = sleep(pause) => (pause * 2).min(BACK_OFF.1),
                () = login => BACK_OFF.0,
            };
        }
    }

    /// One life of the server. Gives the reason of its end; `None`: it is started again at once, to
    /// be talked to in another era.
    async fn live(self: &Arc<Upstream>) -> Option<String> {
        // A program says itself when its time is up; this is for the rest of its start.
        let time = self.settings.start + LAST_WORDS;
        let started = timeout(time, self.begin()).await;
        let (running, connection, mut process, last_error) = match started {
            Ok(Ok(started)) => started,
            Ok(Err(why)) => return Some(why),
            Err(_elapsed) => return Some(self.too_slow()),
        };
        self.era.reached();
        self.state.send_replace(State::Up(connection.clone()));
        let (gone, news) = (running.waiting(), self.receive_notifications(&connection));
        tokio::pin!(gone, news);
        let mut listed_at = Instant::now();
        loop {
            tokio::select! {
                _ = &mut gone => break,
                () = self.era.changed() => return None,
                () = self.again.notified() => {
                    // One that tells of changes without end is not asked without end.
                    sleep_until(listed_at + RELIST_PAUSE).await;
                    // What a second connection tells of is in the catalogues of the first.
                    let lists = self.era.first().unwrap_or_else(|| self.clone());
                    let listed = timeout(self.settings.start, lists.list(&connection.peer)).await;
                    let late = || Err("it did not tell its tools in time".to_owned());
                    if let Err(why) = listed.unwrap_or_else(|_| late()) {
                        return Some(why);
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
        Some(last_error.take().or(ended).unwrap_or_else(|| "it closed the connection".to_owned()))
    }

    /// Starts it and has it tell its tools.
    async fn begin(self: &Arc<Upstream>) -> Result<StartedServer, String> {
        let (last_error, began) = (LastError::default(), Instant::now());
        self.starts.fetch_add(1, Ordering::Relaxed);
        let known = self.era.take_known();
        let lifecycle = Era::lifecycle(known);
        let handler = UpstreamHandler { upstream: Arc::downgrade(self) };
        let (running, process, sandbox, denied_access) = match &self.settings.reach {
            Endpoint::Command(_) => {
                let greeted = self.start_process(handler, lifecycle, &last_error).await?;
                let (running, process, sandbox, denied_access) = greeted;
                (running, Some(process), sandbox, denied_access)
            }
            Endpoint::Url { .. } => {
                let keys = &self.world.keys;
                let settings = &self.settings;
                let running =
                    remote::connect(settings, keys, handler, lifecycle, &last_error).await?;
                (running, None, None, None)
            }
        };
        let peer = running.peer().clone();
        if !self.era.is_second() {
            self.list(&peer).await.map_err(|err| last_error.take().unwrap_or(err))?;
        }
        // What was wrong on the way is not any more.
        let _ = last_error.take();
        let about = ServerInfo::new(&peer, sandbox.as_deref(), began.elapsed()).into();
        let (sandbox, level) = (sandbox.map(Arc::from), Arc::default());
        let era = Era::of_server(&peer);
        *self.era.known() = known.filter(|it| *it == era);
        let wants = last_error.clone();
        let connection =
            Connection { peer, sandbox, denied_access, last_error: wants, about, era, level };
        Ok((running, connection, process, last_error))
    }
}

/// A server that has told its tools.
type StartedServer = (
    RunningService<RoleClient, UpstreamHandler>,
    Connection,
    Option<Box<dyn ServerProcess>>,
    LastError,
);
