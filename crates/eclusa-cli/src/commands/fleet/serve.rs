//! `eclusa fleet migrate`, `serve` and `maintain`: the server, over a PostgreSQL database.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet_server::{Database, FetchKeys, Keep, ServerError, ServerOptions};
use tokio::net::TcpListener;

use super::{notify::FleetNotifier, publication};
use crate::{
    failure::{Exit, Failure},
    screen::Screen,
    signals::asked_to_end,
};

/// How often a server maintains the tables that it was given the owner's address of.
const MAINTAIN: Duration = Duration::from_secs(3_600);

/// Make the tables of a fleet's server, or bring them up to date
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs PostgreSQL 15 or newer and a role that may create tables. The first time it is given the documents, whose first \
root the database is bound to.")]
pub(crate) struct MigrateArgs {
    /// The database, such as postgres://user@localhost/fleet
    #[arg(long, value_name = "URL", env = "ECLUSA_ADMIN_DATABASE", hide_env_values = true)]
    database: String,
    /// The file with all documents, the first time
    #[arg(long, value_name = "FILE")]
    documents: Option<PathBuf>,
}

/// Serve a fleet: take records, hand out documents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Keeps no state but the database: run as many as you like, behind any balancer, which ends TLS.")]
pub(crate) struct ServeArgs {
    /// The database, such as postgres://user@localhost/fleet
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// The same for a role that owns the tables: then partitions are made and dropped every hour
    #[arg(long, value_name = "URL", env = "ECLUSA_ADMIN_DATABASE", hide_env_values = true)]
    admin_database: Option<String>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8379")]
    listen: SocketAddr,
    /// An address that people reach the page by, such as https://fleet.example; passkeys are bound to it. Repeatable
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// A file with `[[notifications]]`: who is told of what waits
    #[arg(long, value_name = "FILE")]
    notify: Option<PathBuf>,
    /// A key of `seal`: the heads of all chains are sealed with it
    #[arg(long, value_name = "FILE")]
    seal_key: Option<PathBuf>,
    /// How often that is done, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seal_every: u32,
    /// Where to answer `/health`, `/ready` and `/metrics`, for whoever operates it
    #[arg(long, value_name = "ADDRESS")]
    operations: Option<SocketAddr>,
}

/// Make partitions for the next days, and drop those that are old
#[derive(Debug, clap::Args)]
pub(crate) struct MaintainArgs {
    /// The database, for a role that owns the tables
    #[arg(long, value_name = "URL", env = "ECLUSA_ADMIN_DATABASE", hide_env_values = true)]
    database: String,
    /// For how many days records are kept
    #[arg(long, value_name = "DAYS", default_value_t = 400)]
    keep_records: u64,
    /// For how many days the index of calls is kept
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    keep_calls: u64,
    /// For how many days questions are kept that are over
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    keep_questions: u64,
}

pub(super) fn failed(err: ServerError) -> Failure {
    match err {
        ServerError::Address(why) => Failure::usage(why),
        err => Failure::failed(err),
    }
}

pub(super) async fn migrate(args: MigrateArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let first = match &args.documents {
        Some(file) => Some(publication::open(file)?.bundle().clone()),
        None => None,
    };
    let now = SystemClock.unix_ms();
    let format = eclusa_fleet_server::migrate(&database, first, now).await.map_err(failed)?;
    screen.line(&format!("the database has format {format}"))?;
    Ok(Exit::Done)
}

/// How the keys of platforms are fetched whose jobs enrol.
pub(super) fn fetch_keys() -> FetchKeys {
    Arc::new(|issuer: String| Box::pin(async move { crate::fleet::issuer_keys(&issuer).await }))
}

pub(super) async fn run(args: ServeArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let owner = args.admin_database.as_deref().map(Database::open).transpose().map_err(failed)?;
    // What is wrong with them is said before anybody is served.
    let urls = args.url.iter().map(|it| eclusa_fleet_server::page_address(it));
    let urls = urls.collect::<Result<Vec<String>, _>>().map_err(failed)?;
    let notifier = match &args.notify {
        Some(file) => {
            let database = Database::open(&args.database).map_err(failed)?;
            Some(FleetNotifier::open(file, database)?)
        }
        None => None,
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|err| Failure::failed(format!("cannot listen at {}: {err}", args.listen)))?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    screen.line(&format!("serving at http://{address}"))?;
    let mut operations = None;
    if let Some(address) = args.operations {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|err| Failure::failed(format!("cannot listen at {address}: {err}")))?;
        let address = listener.local_addr().map_err(Failure::failed)?;
        screen.line(&format!("operations at http://{address}"))?;
        operations = Some(listener);
    }
    screen.flush()?;
    let seal_key = publication::keys(args.seal_key.as_slice())?.pop();
    if seal_key.is_none() {
        crate::screen::note("nothing is sealed: pass `--seal-key FILE` with a key of `seal`");
    }
    let seal_every = Duration::from_secs(args.seal_every.into());
    let page = urls.first().cloned();
    let page = page.unwrap_or_else(|| format!("http://localhost:{}", address.port()));
    let notifying = async {
        match &notifier {
            Some(it) => it.keep_sending(&page).await,
            None => std::future::pending().await,
        }
    };
    let fetch_keys = Some(fetch_keys());
    let options = ServerOptions { database, seal_key, seal_every, operations, urls, fetch_keys };
    let maintaining = async {
        let Some(owner) = owner else { return std::future::pending().await };
        loop {
            if let Err(err) = eclusa_fleet_server::maintain(&owner, Keep::default()).await {
                crate::screen::note(&format!("the tables cannot be maintained: {err}"));
            }
            tokio::time::sleep(MAINTAIN).await;
        }
    };
    tokio::select! {
        served = eclusa_fleet_server::serve(options, listener, asked_to_end()) => {
            served.map_err(failed)?;
        }
        () = maintaining => {}
        () = notifying => {}
    }
    Ok(Exit::Done)
}

pub(super) async fn maintain(args: MaintainArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let MaintainArgs {
        keep_records: records, keep_calls: calls, keep_questions: questions, ..
    } = args;
    let keep = Keep { records, calls, questions };
    let done = eclusa_fleet_server::maintain(&database, keep).await.map_err(failed)?;
    match done.dropped.is_empty() {
        true => screen.line("partitions are ready; nothing is old")?,
        false => screen.line(&format!("dropped: {}", done.dropped.join(", ")))?,
    }
    Ok(Exit::Done)
}
