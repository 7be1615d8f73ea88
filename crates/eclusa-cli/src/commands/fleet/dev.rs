//! `eclusa fleet dev`: a whole fleet on this machine, to try it.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{Author, DocumentKind, EnrolmentCode, PolicyPayload};
use eclusa_fleet_server::{Database, ServerError, ServerOptions};
use tokio::{net::TcpListener, sync::oneshot};

use super::{
    dev_postgres::DevPostgres,
    enroll::{self, EnrollArgs},
    init::{self, FleetInitArgs},
    invite::{self, InviteTerms},
    publication, push,
    serve::failed,
};
use crate::{
    failure::{Exit, Failure},
    fleet::{self, Synchroniser, Turn},
    global::Global,
    paths::Paths,
    screen::{Screen, Style, note, sanitize},
    signals::asked_to_end,
};

/// The name of the fleet.
const NAME: &str = "dev";

/// How long the database may take to answer for the first time.
const START_TIME: Duration = Duration::from_secs(60);

/// How long what is left may take to be shipped at the end.
const LAST_SHIPMENT: Duration = Duration::from_secs(5);

/// How often it seals.
const SEAL_EVERY: Duration = Duration::from_secs(5);

/// The policy that it begins with.
const FIRST_POLICY: &str = "\
# Rules for every machine of the fleet, like those of eclusa.toml.
#
# [[rules]]
# id = \"no-force-push\"
# decision = \"deny\"
# command = \"git push --force\"
";

/// Try a fleet on this machine: database, keys, server, and this machine in it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs the programs of PostgreSQL 15 or newer; nothing of a database that may be there is touched. Everything is in DIR: keys, \
documents, policy, database. The next time it continues with what is there. Ctrl-C ends it, and this machine leaves the fleet \
again.")]
pub(crate) struct DevArgs {
    /// The directory; in your own state directory unless you name one
    dir: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8379")]
    listen: SocketAddr,
    /// Leave this machine out of it
    #[arg(long)]
    no_machine: bool,
}

/// What lies in the directory.
struct DevFiles {
    dir: PathBuf,
}

impl DevFiles {
    fn documents(&self) -> PathBuf {
        self.dir.join("documents.json")
    }

    fn policy(&self) -> PathBuf {
        self.dir.join("policy")
    }

    fn key(&self, role: &str) -> PathBuf {
        self.dir.join("keys").join(format!("{NAME}-{role}-1.key"))
    }

    /// Keys, root and policy: those that are there, or new ones. The policy is what is in the directory.
    fn prepare(&self) -> Result<Author, Failure> {
        fs::create_dir_all(&self.dir).map_err(Failure::failed)?;
        let mut author = match self.documents().exists() {
            true => publication::open(&self.documents())?,
            false => init::create(FleetInitArgs::small(&self.dir, NAME))?.0,
        };
        if !self.policy().exists() {
            fs::create_dir_all(self.policy()).map_err(Failure::failed)?;
            let file = self.policy().join("all.toml");
            eclusa::workspace::private_file::write(
                &file,
                FIRST_POLICY,
                eclusa::Durability::PowerLoss,
            )
            .map_err(Failure::failed)?;
        }
        let (keys, expires) =
            (publication::keys(&[self.key("policy")])?, publication::expiry("14d")?);
        let files = push::files(&self.policy())?;
        let now = SystemClock.unix_ms();
        let held = author.bundle().document(DocumentKind::Policy).and_then(|it| it.heading().ok());
        let is_good = held.is_some_and(|it| it.expires > now.saturating_add(publication::DAY));
        if !is_good || author.policy_files().map_err(Failure::failed)? != files {
            let payload = PolicyPayload { files, ..PolicyPayload::default() };
            author.policy(&payload, expires, &keys).map_err(Failure::usage)?;
            publication::write(&self.documents(), &author)?;
        }
        Ok(author)
    }
}

pub(super) async fn run(
    global: &Global,
    paths: &Paths,
    args: DevArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let dir = args.dir.or_else(|| Some(paths.fleet().parent()?.with_file_name("fleet-dev")));
    let dir = dir.ok_or_else(|| Failure::usage("name a directory"))?;
    let dir = std::path::absolute(dir).map_err(Failure::failed)?;
    let files = DevFiles { dir };
    let author = files.prepare()?;
    let postgres = DevPostgres::start(&files.dir.join("database"))?;
    let database = Database::open(&postgres.address()).map_err(failed)?;
    migrate(&database, &author, &postgres).await?;
    let listener = TcpListener::bind(args.listen).await.map_err(|err| {
        Failure::failed(format!("cannot listen at {}: {err}", args.listen))
            .hint("another address: `--listen 127.0.0.1:0`")
    })?;
    let url = format!("http://{}", listener.local_addr().map_err(Failure::failed)?);
    let seal_key = publication::keys(&[files.key("seal")])?.pop();
    let options = ServerOptions {
        database,
        seal_key,
        seal_every: SEAL_EVERY,
        operations: None,
        urls: Vec::new(),
        fetch_keys: Some(super::serve::fetch_keys()),
    };
    let (end, ended) = oneshot::channel::<()>();
    let stop = async {
        // Whoever dropped the other end has ended, too.
        drop(ended.await);
    };
    let server = tokio::spawn(eclusa_fleet_server::serve(options, listener, stop));
    screen.line(&format!("serving at {url}"))?;
    let is_in = match args.no_machine {
        true => false,
        false => enter((global, paths), &files, &author, &url, screen).await?,
    };
    tell_next(&files, &postgres, &url, screen)?;
    match Synchroniser::open(global, paths)? {
        Turn::Own(mut own) if is_in => own.keep_up(asked_to_end(), note).await?,
        _ => asked_to_end().await,
    }
    if is_in {
        if let Err(why) = fleet::flush(global, paths, LAST_SHIPMENT).await? {
            note(&sanitize(&why));
        }
        enroll::leave(global, paths, screen).await?;
    }
    drop(end);
    server.await.map_err(Failure::failed)?.map_err(failed)?;
    drop(postgres);
    screen.line(&format!("ended; everything stays in {}", files.dir.display()))?;
    Ok(Exit::Done)
}

/// Waits until the database answers, makes the tables, and hands the documents over.
async fn migrate(
    database: &Database,
    author: &Author,
    postgres: &DevPostgres,
) -> Result<(), Failure> {
    let (bundle, began) = (author.bundle().clone(), Instant::now());
    loop {
        let now = SystemClock.unix_ms();
        match eclusa_fleet_server::migrate(database, Some(bundle.clone()), now).await {
            Ok(_) => break,
            Err(ServerError::Database(why)) if began.elapsed() > START_TIME => {
                let log = postgres.log();
                return Err(Failure::failed(format!("the database does not answer: {why}"))
                    .hint(format!("its log is {}", log.display())));
            }
            Err(ServerError::Database(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(err) => return Err(failed(err)),
        }
    }
    eclusa_fleet_server::push(database, bundle, None, SystemClock.unix_ms()).await.map_err(failed)
}

/// Lets this machine in. False: it is in another fleet.
async fn enter(
    (global, paths): (&Global, &Paths),
    files: &DevFiles,
    author: &Author,
    url: &str,
    screen: &mut Screen,
) -> Result<bool, Failure> {
    if let Some(standing) = fleet::look(paths)? {
        let (name, mandatory) = (sanitize(&standing.anchor.name), standing.mandatory);
        if name != NAME || mandatory {
            note(&format!("this machine is in the fleet {name} and stays there"));
            return Ok(false);
        }
        // It was ended before it could leave.
        fleet::forget(paths)?;
        enroll::leave(global, paths, screen).await?;
    }
    let code = code(files, author, url)?;
    enroll::run(paths, EnrollArgs::with_code(&code), screen).await?;
    Ok(true)
}

fn code(files: &DevFiles, author: &Author, url: &str) -> Result<EnrolmentCode, Failure> {
    let keys = publication::keys(&[files.key("enroll")])?;
    let labels = BTreeMap::from([("team".to_owned(), NAME.to_owned())]);
    let expires = publication::expiry("1h")?;
    let terms = InviteTerms { labels, ephemeral: false, uses: 1, expires };
    invite::code(author, &keys, terms, (url.to_owned(), Some(url.to_owned())))
}

fn tell_next(
    files: &DevFiles,
    postgres: &DevPostgres,
    url: &str,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let quoted = |it: &Path| it.display().to_string();
    let (documents, policy) = (quoted(&files.documents()), quoted(&files.policy()));
    let (signs, lets_in) = (quoted(&files.key("policy")), quoted(&files.key("enroll")));
    let page = url.replace("127.0.0.1", "localhost");
    screen.line(&format!("the inbox as a page: {page}"))?;
    screen.line("next, in another terminal:")?;
    for line in [
        format!("export ECLUSA_DATABASE='{}'", postgres.address()),
        "eclusa exec -- ls                    a call, which is shipped at once".to_owned(),
        "eclusa fleet log                     calls of all machines".to_owned(),
        "eclusa fleet machines                what is in force where".to_owned(),
        format!(
            "eclusa fleet invite --documents {documents} --key {lets_in} --team web --server {url}"
        ),
        format!("eclusa fleet invite --documents {documents} --key {lets_in} --person \"$USER\" --server {page}"),
        "eclusa fleet keys                    keys that were made in the page, to be signed with `fleet people`".to_owned(),
        format!(
            "eclusa fleet push {policy} --to {documents} --key {signs} --database \"$ECLUSA_DATABASE\" --percent 5"
        ),
        "eclusa fleet rollout --everyone".to_owned(),
    ] {
        screen.verbatim(Style::Strong, &format!("  {line}"))?;
    }
    screen.line("Ctrl-C ends it")?;
    Ok(screen.flush()?)
}
