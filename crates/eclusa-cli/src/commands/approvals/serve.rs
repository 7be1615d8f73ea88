//! `eclusa approvals serve`: the page where approvals are answered, on a port of its own.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use eclusa::{
    approve::Questions,
    audit::{Clock as _, Log, SystemClock},
    workspace::{Bounds, Diff, UndoStatus},
};
use eclusa_approvals::{
    ApprovalsPage, CallEffects, JobEntry, People, ServerLimits, Suggestion, WorkspaceEntry,
    Workspaces, serve as serve_page,
};
use eclusa_config::Config;
use futures::future::BoxFuture;
use tokio::net::TcpListener;

use super::super::{changes, people::show_code, policy};
use eclusa_app::pending_runs::after_yes;

use crate::{
    config_layers::{layers, unusable},
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    notifications,
    paths::Paths,
    person,
    queues::{self, WorkspaceQueue},
    screen::Screen,
    signals::asked_to_end,
    undo,
};

mod page_jobs;

/// Serve the page where approvals are answered; prints a link that works once
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8378", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Another address of the page, with TLS in front of it; repeatable
    #[arg(long, value_name = "URL")]
    pub(crate) url: Vec<String>,
}

/// How long suggestions are kept: to find them, the whole log is judged again.
const SUGGESTIONS_KEPT: Duration = Duration::from_secs(120);

/// How often notifications that are due are looked for.
const NOTIFY: Duration = Duration::from_secs(1);

/// So many suggestions are shown of each workspace.
const MAX_SUGGESTIONS: usize = 5;

pub(super) async fn run(global: &Global, args: ServeArgs) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let local: SocketAddr = args.listen;
    if !local.ip().is_loopback() {
        return Err(Failure::usage(format!("`{local}` can be reached from other machines")).hint(
            "listen on 127.0.0.1, let something in front of it speak TLS, and name its address \
             with `--url https://NAME`",
        ));
    }
    for url in &args.url {
        let plain = |it: &url::Url| it.path() == "/" && it.query().is_none() && it.has_host();
        let https = url::Url::parse(url).is_ok_and(|it| it.scheme() == "https" && plain(&it));
        if !https {
            return Err(Failure::usage(format!("`{url}` is not an address of the page"))
                .hint("write `--url https://NAME`, without a path"));
        }
    }
    let listener = TcpListener::bind(local)
        .await
        .map_err(|err| Failure::failed(format!("`{local}` cannot be listened on: {err}")))?;
    let config = Config::load(&layers(&paths)?).map_err(unusable)?.approvals;
    let hook = config.hook_secret.as_deref().map(notifications::secrets).transpose();
    let hook = hook.map_err(|why| Failure::usage(format!("approvals.hook_secret: {why}")))?;
    let usual = notifications::page(&config).to_owned();
    let own = config.url.filter(|it| args.url.is_empty() && it.starts_with("https://"));
    let people = People::new(paths.people());
    let workspaces = Arc::new(PersonWorkspaces::new(global.clone(), paths));
    let page = ApprovalsPage {
        people,
        workspaces: workspaces.clone(),
        person: person::name(),
        urls: args.url.into_iter().chain(own).collect(),
        hook,
        limits: ServerLimits::default(),
    };
    let ready = |link: &str| {
        let mut screen = Screen::stdout();
        screen.line("approvals are answered at this link; it works once, within two minutes:")?;
        screen.verbatim(crate::screen::Style::Strong, link)?;
        show_code(link, &mut screen)?;
        let page = link.split_once("/pair#").map_or("", |it| it.0);
        let at = if page == usual { String::new() } else { format!(" --url {page}") };
        screen.line(&format!("`eclusa people pair [NAME]{at}` makes another one"))?;
        screen.flush()
    };
    tokio::select! {
        served = serve_page(page, listener, ready, asked_to_end()) => served?,
        () = workspaces.keep_sending() => {}
    }
    Ok(Exit::Done)
}

/// The workspaces of this person. New ones are found while the page is served.
struct PersonWorkspaces {
    global: Global,
    paths: Paths,
    known: Mutex<BTreeMap<String, Arc<WorkspaceQueue>>>,
    suggested: Mutex<BTreeMap<String, (Instant, Vec<Suggestion>)>>,
}

impl PersonWorkspaces {
    fn new(global: Global, paths: Paths) -> PersonWorkspaces {
        PersonWorkspaces { global, paths, known: Mutex::default(), suggested: Mutex::default() }
    }

    /// A workspace. One that is not known yet may have come since the last look.
    fn find(&self, key: &str) -> Option<Arc<WorkspaceQueue>> {
        let known = || lock(&self.known).get(key).cloned();
        known().or_else(|| {
            self.list();
            known()
        })
    }

    /// Sends the notifications of all workspaces, for as long as the page is served.
    async fn keep_sending(&self) {
        loop {
            self.list();
            let all: Vec<Arc<WorkspaceQueue>> = lock(&self.known).values().cloned().collect();
            for workspace in all {
                if let Err(why) = self.send_due(&workspace).await {
                    tracing::warn!("{}: notifications cannot be sent: {why}", workspace.name);
                }
            }
            tokio::time::sleep(NOTIFY).await;
        }
    }

    /// Sends what is due in one workspace, as that workspace is configured.
    async fn send_due(&self, workspace: &WorkspaceQueue) -> Result<(), String> {
        let due = workspace.queue.next_due().await.map_err(|err| err.to_string())?;
        if due.is_none_or(|it| it > SystemClock.unix_ms()) {
            return Ok(());
        }
        let ctx = self.context(&workspace.key).ok_or("its configuration is not known")?;
        let sender = ctx.notification_sender(workspace.queue.clone());
        sender.send_due().await.map_err(|err| err.to_string())
    }

    /// Where jobs of a workspace and what is undone are kept.
    fn state(&self, key: &str) -> Option<PathBuf> {
        Some(self.paths.state()?.join(&self.find(key)?.key).join("undo"))
    }

    /// What a command in that workspace would work with.
    fn context(&self, key: &str) -> Option<AppContext> {
        let directory: PathBuf = self.find(key)?.directory.clone()?;
        let global = Global { workspace: Some(directory), ..self.global.clone() };
        AppContext::open(&global).ok()
    }
}

impl Workspaces for PersonWorkspaces {
    fn list(&self) -> Vec<WorkspaceEntry> {
        let mut known = lock(&self.known);
        for queue in queues::others(&self.paths, |key| known.contains_key(key)) {
            known.insert(queue.key.clone(), Arc::new(queue));
        }
        let entry = |it: &Arc<WorkspaceQueue>| WorkspaceEntry {
            key: it.key.clone(),
            name: it.name.clone(),
            directory: it.directory.as_ref().map(|it| it.display().to_string()),
        };
        known.values().map(entry).collect()
    }

    fn questions(&self, key: &str) -> Option<Arc<dyn Questions>> {
        Some(self.find(key)?.queue.clone())
    }

    fn log(&self, key: &str) -> Option<Arc<dyn Log>> {
        Some(self.find(key)?.store.clone())
    }

    fn effects(&self, key: &str, call: u64) -> Option<CallEffects> {
        let ctx = self.context(key)?;
        if !ctx.paths.undo().exists() {
            return None;
        }
        let workspace = ctx.workspace().ok()?;
        let entry = workspace.entry(call).ok()??;
        let changed = workspace.changes(call).ok()?;
        let diff = Diff::of(&changed, &workspace, Bounds::default()).shown();
        let can_undo = entry.status == UndoStatus::Committed;
        Some(CallEffects { diff, status: changes::status(&entry), can_undo })
    }

    fn undo<'a>(
        &'a self,
        key: &'a str,
        call: u64,
        _person: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let ctx = self.context(key).ok_or("the place of this workspace is not known")?;
            undo::one(&ctx, call).await.map_err(|failure| failure.lines().join("; "))
        })
    }

    fn take<'a>(&'a self, key: &'a str, question: u64) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let queue = self.find(key).ok_or("there is no such workspace")?;
            let taken = after_yes(&self.global, &queue, question).await;
            taken.map_err(|failure| failure.lines().join("; "))?.describe()
        })
    }

    fn jobs(&self, key: &str) -> Vec<JobEntry> {
        self.state(key).map(|it| page_jobs::jobs(&it)).unwrap_or_default()
    }

    fn job_output(&self, key: &str, job: u64) -> Option<String> {
        let redactor = self.context(key)?.redactor().ok()?;
        page_jobs::output(&self.state(key)?, job, &redactor)
    }

    fn end_job<'a>(&'a self, key: &'a str, job: u64) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let state = self.state(key).ok_or("there is no such workspace")?;
            page_jobs::end(state, job).await
        })
    }

    fn suggestions(&self, key: &str) -> Vec<Suggestion> {
        let kept = lock(&self.suggested).get(key).cloned();
        if let Some((_, found)) = kept.filter(|it| it.0.elapsed() < SUGGESTIONS_KEPT) {
            return found;
        }
        let Some(ctx) = self.context(key) else { return Vec::new() };
        let found = policy::suggestions(&ctx, MAX_SUGGESTIONS).unwrap_or_default();
        let found: Vec<Suggestion> = found
            .into_iter()
            .map(|(rule, saved, example)| Suggestion { rule, saved, example })
            .collect();
        lock(&self.suggested).insert(key.to_owned(), (Instant::now(), found.clone()));
        found
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
