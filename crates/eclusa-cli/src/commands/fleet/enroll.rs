//! `eclusa fleet enroll`, `leave` and `sync`: this machine enters a fleet, leaves it, and fetches what is new.

use std::{fs, io};

use eclusa::{Durability, workspace::private_file};
use eclusa_fleet::{EnrolmentCode, FleetAnchor, TakenDocuments, time_text};
use serde_json::json;
use toml_edit::{DocumentMut, Item, Table, value};

use super::job::JobArgs;
use crate::{
    failure::{Exit, Failure},
    fleet::{self, Synchroniser, Turn},
    global::Global,
    paths::Paths,
    screen::{Screen, note, sanitize},
    signals::asked_to_end,
};

/// Enter a fleet, with a code of `eclusa fleet invite`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet enroll CODE
  eclusa fleet enroll --oidc https://fleet.example --fleet acme --root sha256:DIGEST
                                                    a job of CI, by the token of its platform: no secret anywhere

Which jobs may enrol, and what they are then, the signed policy says in its enroll.toml.")]
pub(crate) struct EnrollArgs {
    /// The code
    #[arg(required_unless_present = "oidc")]
    code: Option<String>,
    #[command(flatten)]
    job: JobArgs,
    /// At a server: which records from before are shipped
    #[arg(long, value_name = "WHICH", default_value = "none", value_parser = ["none", "all"])]
    history: String,
}

/// Fetch newer documents and put them in force; at a server, ship records
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --once it ships records to the server and waits for newer documents, until it is ended: a service of the machine. \
With --once run it from a timer, often enough that a policy is renewed before it expires. What is fetched is put in force whole or not \
at all: signatures, versions and times are checked, and whether this machine can load the rules. Exit codes: 0 what is \
published is in force, 1 it was refused or not reached, and what was in force stays.")]
pub(crate) struct SyncArgs {
    /// Once, and then end
    #[arg(long)]
    once: bool,
    /// An address or a file, in place of the one that is configured
    #[arg(long, value_name = "URL", requires = "once")]
    from: Option<String>,
}

impl EnrollArgs {
    /// With this code, and without records from before.
    #[cfg(feature = "fleet-server")]
    pub(super) fn with_code(code: &EnrolmentCode) -> EnrollArgs {
        let (code, job) = (Some(code.to_string()), JobArgs::default());
        EnrollArgs { code, job, history: "none".to_owned() }
    }
}

pub(super) async fn run(
    paths: &Paths,
    args: EnrollArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let code: Option<EnrolmentCode> =
        args.code.map(|it| it.parse()).transpose().map_err(Failure::usage)?;
    let anchor = match &code {
        None => args.job.anchor(paths)?,
        Some(code) => {
            let root = code.root.parse().map_err(Failure::usage)?;
            // What the server hands out comes from there.
            let from = code.server.is_none().then(|| code.from.clone());
            FleetAnchor { name: code.fleet.clone(), root, from }
        }
    };
    let before = fleet::look(paths)?;
    if let Some(it) = &before
        && (it.anchor.name != anchor.name || (it.mandatory && it.anchor.root != anchor.root))
    {
        let (name, file) = (sanitize(&it.anchor.name), sanitize(&it.named_in));
        return Err(Failure::usage(format!("this machine is in the fleet `{name}` by {file}"))
            .hint("`eclusa fleet leave` first"));
    }
    let history = args.history == "all";
    let new = match (&code, &args.job.oidc) {
        (Some(code), _) => match &code.server {
            Some(server) => fleet::enroll_at(paths, (code, server), &anchor, history).await?,
            None => fleet::enroll(paths, code, &anchor).await?,
        },
        (None, Some(server)) => {
            let token = args.job.token(&anchor.name).await?;
            fleet::enroll_job(paths, (&token, server), &anchor, history).await?
        }
        (None, None) => return Err(Failure::usage("pass a code, or `--oidc URL`")),
    };
    // A fleet that the administrator names needs no second word.
    if !before.is_some_and(|it| it.mandatory) {
        change_own(paths, |document| {
            let mut table = Table::new();
            table.insert("name", value(anchor.name.as_str()));
            table.insert("root", value(format!("sha256:{}", anchor.root)));
            if let Some(from) = &anchor.from {
                table.insert("from", value(from.as_str()));
            }
            document.insert("fleet", Item::Table(table));
        })?;
    }
    let labels: Vec<String> =
        new.labels().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (name, version) = (&new.root().name, new.policy().heading().version);
    screen.line(&format!(
        "enrolled in {name} ({}): policy {version} is in force",
        labels.join(", ")
    ))?;
    Ok(Exit::Done)
}

/// Changes the person's own file, where everything else stays as it is.
fn change_own(paths: &Paths, change: impl FnOnce(&mut DocumentMut)) -> Result<(), Failure> {
    let file = paths.config.as_ref().ok_or_else(|| {
        Failure::usage("there is no place for your own configuration: HOME is not set")
    })?;
    let failed = |why: &dyn std::fmt::Display| {
        Failure::failed(format!("cannot change `{}`: {why}", file.display()))
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => String::new(),
        Err(err) => return Err(failed(&err)),
    };
    let mut document: DocumentMut = text.parse().map_err(|err| failed(&err))?;
    change(&mut document);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(|err| failed(&err))?;
    }
    private_file::write(file, document.to_string(), Durability::PowerLoss)
        .map_err(|err| failed(&err))
}

pub(super) async fn leave(
    global: &Global,
    paths: &Paths,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let Some(standing) = fleet::look(paths)? else {
        return Err(Failure::usage("this machine is in no fleet"));
    };
    let (name, file) = (sanitize(&standing.anchor.name), sanitize(&standing.named_in));
    if let Some(why) = fleet::say_goodbye(global, paths).await? {
        crate::screen::note(&format!(
            "the server does not know that this machine has left: {}",
            sanitize(&why)
        ));
    }
    fleet::forget(paths)?;
    if standing.mandatory {
        screen.line(&format!(
            "left {name}, which {file} still names: this machine is stale, and every call but those that only look is \
             asked about"
        ))?;
        return Ok(Exit::Done);
    }
    change_own(paths, |document| {
        document.remove("fleet");
    })?;
    screen.line(&format!("left {name}: its policy holds here no longer"))?;
    Ok(Exit::Done)
}

pub(super) async fn sync(
    global: &Global,
    args: SyncArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let SyncArgs { once, from } = args;
    let (paths, json) = (&Paths::find(global)?, global.json);
    match (Synchroniser::open(global, paths)?, &from) {
        (Turn::NoServer, _) | (_, Some(_)) if once => {}
        (Turn::NoServer, _) => {
            fleet::look(paths)?.ok_or_else(|| Failure::usage("this machine is in no fleet"))?;
            return Err(Failure::usage("this machine is enrolled at no server")
                .hint("`eclusa fleet sync --once` fetches documents; run it from a timer"));
        }
        (Turn::Own(mut own), _) => return with_server(&mut own, once, paths, screen).await,
        (Turn::Taken, _) => {
            screen.line("another process of this machine ships and synchronises")?;
            return Ok(Exit::Done);
        }
    }
    let (new, taken) = fleet::sync(paths, from.as_deref()).await?;
    let (name, heading) = (&new.root().name, new.policy().heading());
    let (version, until) = (heading.version, time_text(heading.expires));
    let newer = taken == TakenDocuments::Newer;
    if json {
        screen
            .json(&json!({"fleet": name, "policy": version, "expires": until, "newer": newer}))?;
        return Ok(Exit::Done);
    }
    let word = if newer { "now" } else { "still" };
    screen.line(&format!("{name} policy {version} is {word} in force, good until {until}"))?;
    Ok(Exit::Done)
}

/// Ships and synchronises, once or until the process is asked to end.
async fn with_server(
    own: &mut Synchroniser,
    once: bool,
    paths: &Paths,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    if !once {
        own.keep_up(asked_to_end(), note).await?;
        return Ok(Exit::Done);
    }
    own.sync().await.map_err(Failure::failed)?;
    own.ship().await.map_err(Failure::failed)?;
    for line in fleet::lines(paths) {
        screen.line(&sanitize(&line))?;
    }
    Ok(Exit::Done)
}
