//! `eclusa fleet flush` and `publish`: records are at the server before a job ends, and documents before machines ask.

use std::{path::PathBuf, time::Duration};

use eclusa_fleet::DocumentKind;

use super::publication;
use crate::{
    failure::{Exit, Failure},
    fleet,
    global::Global,
    paths::Paths,
    screen::{Screen, sanitize},
};

/// Wait until all records are at the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ships by itself where no other process does. Exit codes: 0 everything is at the server, 4 not in time: what is missing \
stays in the log of this machine, and is shipped by the next flush or sync.")]
pub(crate) struct FlushArgs {
    /// How long to wait: 60s, 5m
    #[arg(long, value_name = "TIME", default_value = "60s")]
    wait: String,
}

/// Hand documents to the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Documents carry their own signatures: the server takes what enough keys of the fleet signed and what is newer than what \
it has, from anybody, and machines check all of it again.")]
pub(crate) struct PublishArgs {
    /// The file with all documents
    file: PathBuf,
    /// The server
    #[arg(long, value_name = "URL")]
    server: String,
}

pub(super) async fn flush(
    global: &Global,
    args: FlushArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let wait = seconds(&args.wait)?;
    match fleet::flush(global, &Paths::find(global)?, wait).await? {
        Ok(()) => {
            screen.line("everything is at the server")?;
            Ok(Exit::Done)
        }
        Err(why) => {
            crate::screen::note(&format!("not everything is at the server: {}", sanitize(&why)));
            Ok(Exit::Parked)
        }
    }
}

/// Reads `60s` or `5m`.
fn seconds(text: &str) -> Result<Duration, Failure> {
    let read = || {
        let (number, unit) = match text.strip_suffix('s') {
            Some(number) => (number, 1),
            None => (text.strip_suffix('m')?, 60),
        };
        number.parse::<u64>().ok()?.checked_mul(unit).filter(|it| *it <= 86_400)
    };
    read().map(Duration::from_secs).ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a time to wait; write it like `60s` or `5m`"))
    })
}

pub(super) async fn publish(args: PublishArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let author = publication::open(&args.file)?;
    fleet::publish(&args.server, author.bundle()).await?;
    let version = |kind| author.bundle().document(kind).and_then(|it| it.heading().ok());
    let policy = version(DocumentKind::Policy).map_or(0, |it| it.version);
    let name = &author.root().name;
    screen.line(&format!("{name} policy {policy} is published"))?;
    Ok(Exit::Done)
}
