//! `eclusa fleet rollout` and `rollback`: to which machines a new version of the policy is offered.

use std::path::PathBuf;

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{Author, DocumentKind, PolicyPayload};
use eclusa_fleet_server::{Database, OfferedVersion, Staging};
use serde_json::{Value, json};

use super::{publication, serve::failed};
use crate::{
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
};

// How far what is pushed is offered. (A doc comment would replace the command's own text.)
#[derive(Debug, clap::Args)]
pub(crate) struct StagingArgs {
    /// Hand it to the server as well, in its database
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Offer it to so many of a hundred machines at first
    #[arg(long, value_name = "N", requires = "database", value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,
    /// Offer it to everyone within this time, in five steps
    #[arg(long, value_name = "TIME", requires = "database", conflicts_with = "percent")]
    over: Option<String>,
    /// Offer it to the machines with this label at first
    #[arg(long, value_name = "LABEL=VALUE", requires = "database", conflicts_with_all = ["percent", "over"])]
    wave: Option<String>,
    /// Offer it to everyone at once, as is done unless something else is said
    #[arg(long, requires = "database", conflicts_with_all = ["percent", "over", "wave"])]
    now: bool,
}

/// Where it is handed to, and how far it is offered.
pub(super) struct StagedPush {
    database: Option<Database>,
    staging: Option<Staging>,
}

/// Offer a new version to more machines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet rollout --database URL               which versions are offered to how many
  eclusa fleet rollout --database URL --percent 20
  eclusa fleet rollout --database URL --wave pool=ci    to the machines with that label, too
  eclusa fleet rollout --database URL --hold        to nobody who does not have it
  eclusa fleet rollout --database URL --documents documents.json --percent 5
                                                    hand over what two people have signed, to 5 of 100 machines at first

A machine is among the first N of a hundred by a digest of its key and the version: whoever was among the first 5 is among \
the first 20. A machine that cannot load the version holds it; with --percent, --over or --everyone it goes on.")]
pub(crate) struct RolloutArgs {
    /// The database
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// Hand these documents over before
    #[arg(long, value_name = "FILE", conflicts_with = "hold")]
    documents: Option<PathBuf>,
    /// To so many of a hundred machines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,
    /// To everyone within this time, in five steps
    #[arg(long, value_name = "TIME", conflicts_with = "percent")]
    over: Option<String>,
    /// To the machines with this label as well
    #[arg(long, value_name = "LABEL=VALUE", conflicts_with_all = ["percent", "over"])]
    wave: Option<String>,
    /// To nobody who does not have it
    #[arg(long, conflicts_with_all = ["percent", "over", "wave"])]
    hold: bool,
    /// To everyone
    #[arg(long, conflicts_with_all = ["percent", "over", "hold", "wave"])]
    everyone: bool,
}

/// Sign the content of an earlier version anew, for everyone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No machine ever goes back: what was in an earlier version is signed as a new one.")]
pub(crate) struct RollbackArgs {
    /// The earlier version
    version: u64,
    /// The file with all documents, which is changed
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// A key of `policy`; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
    /// The database, which has all versions
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// How long it is good
    #[arg(long = "for", value_name = "TIME", default_value = "14d")]
    good_for: String,
}

/// What is asked for, if anything is.
fn staging(
    percent: Option<u8>,
    over: Option<&str>,
    wave: Option<&str>,
) -> Result<Option<Staging>, Failure> {
    Ok(match (percent, over, wave) {
        (Some(percent), _, _) => Some(Staging::Percent(percent)),
        (_, Some(over), _) => Some(Staging::Over((publication::span(over)? / 1_000).max(1))),
        (_, _, Some(wave)) if wave.split_once('=').is_none_or(|it| it.0.is_empty()) => {
            return Err(Failure::usage(format!(
                "`{wave}` is not a label; write it like `team=web`"
            )));
        }
        (_, _, Some(wave)) => Some(Staging::Wave(wave.to_owned())),
        (None, None, None) => None,
    })
}

impl StagingArgs {
    /// Reads what was typed, before anything is signed.
    pub(super) fn read(&self) -> Result<StagedPush, Failure> {
        let database = self.database.as_deref().map(Database::open).transpose().map_err(failed)?;
        Ok(StagedPush {
            database,
            staging: staging(self.percent, self.over.as_deref(), self.wave.as_deref())?,
        })
    }
}

impl StagedPush {
    /// Hands the documents over, if there is where to.
    pub(super) async fn push(
        self,
        author: &Author,
        json: bool,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let Some(database) = self.database else { return Ok(()) };
        push(&database, author, self.staging).await?;
        if json { Ok(()) } else { tell(&database, screen).await }
    }
}

async fn push(
    database: &Database,
    author: &Author,
    staging: Option<Staging>,
) -> Result<(), Failure> {
    let (documents, now) = (author.bundle().clone(), SystemClock.unix_ms());
    eclusa_fleet_server::push(database, documents, staging, now).await.map_err(failed)
}

/// Which versions are offered to how many.
async fn tell(database: &Database, screen: &mut Screen) -> Result<(), Failure> {
    for it in eclusa_fleet_server::offered(database).await.map_err(failed)? {
        let style = if it.held { Style::Warn } else { Style::Plain };
        screen.styled(style, &sanitize(&describe(&it)))?;
    }
    Ok(())
}

fn describe(it: &OfferedVersion) -> String {
    let OfferedVersion { version, percent, waves, held, why } = it;
    let why = why.as_deref().unwrap_or("somebody said so");
    let waves = match waves.is_empty() {
        true => String::new(),
        false => format!(", and to those with {}", waves.join(" or ")),
    };
    match (held, percent) {
        (true, _) => format!("policy {version}: held at {percent} of 100 machines{waves}: {why}"),
        (false, 100) => format!("policy {version}: offered to everyone"),
        (false, _) => format!("policy {version}: offered to {percent} of 100 machines{waves}"),
    }
}

pub(super) async fn run(
    args: RolloutArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let mut wanted = staging(args.percent, args.over.as_deref(), args.wave.as_deref())?;
    if args.everyone {
        wanted = Some(Staging::Percent(100));
    }
    match (&args.documents, wanted) {
        (Some(file), wanted) => push(&database, &publication::open(file)?, wanted).await?,
        (None, Some(wanted)) => {
            eclusa_fleet_server::roll_out(&database, wanted).await.map_err(failed)?;
        }
        (None, None) if args.hold => {
            eclusa_fleet_server::hold(&database, "somebody said so").await.map_err(failed)?;
        }
        (None, None) => {}
    }
    if !json {
        tell(&database, screen).await?;
        return Ok(Exit::Done);
    }
    let offered = eclusa_fleet_server::offered(&database).await.map_err(failed)?;
    let as_json = |it: &OfferedVersion| json!({"version": it.version, "percent": it.percent, "waves": it.waves, "held": it.held, "why": it.why});
    let offered: Vec<Value> = offered.iter().map(as_json).collect();
    screen.json(&json!(offered))?;
    Ok(Exit::Done)
}

pub(super) async fn back(args: RollbackArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let expires = publication::expiry(&args.good_for)?;
    let keys = publication::keys(&args.key)?;
    let mut author = publication::open(&args.to)?;
    let old = eclusa_fleet_server::old_policy(&database, args.version).await.map_err(failed)?;
    let old = PolicyPayload::parse(&old).map_err(Failure::failed)?;
    let version = author.policy(&old, expires, &keys).map_err(Failure::usage)?;
    publication::write(&args.to, &author)?;
    let (name, until) = (&author.root().name, eclusa_fleet::time_text(expires));
    let from = args.version;
    screen.line(&format!(
        "{name} policy {version}, with the content of {from}, good until {until}: {}",
        args.to.display()
    ))?;
    let kind = DocumentKind::Policy;
    publication::tell_missing(&author, kind, &args.to, screen)?;
    let (signatures, need) = author.signatures(kind).map_err(Failure::failed)?;
    if signatures >= need {
        push(&database, &author, None).await?;
        tell(&database, screen).await?;
    }
    Ok(Exit::Done)
}
