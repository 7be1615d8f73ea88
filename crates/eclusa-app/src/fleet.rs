//! The fleet of this machine: looked at, entered and left, its documents fetched, and its records shipped.

use std::{fs, io, os::unix::fs::MetadataExt as _, path::Path, time::Duration};

use crate::{
    config_layers,
    failure::Failure,
    fleet_machine::{local_stores, machine_files},
    fleet_standing::{FleetStanding, as_layers, is_of_policy, standing},
    paths::Paths,
    read_text::read_text_of,
    reviewers::service::chain,
};
use eclusa::{
    Durability,
    audit::{Clock as _, SystemClock},
    workspace::private_file,
};
use eclusa_config::Config;
use eclusa_fleet::{
    DocumentBundle, EnrolmentCode, FleetAnchor, Membership, PolicyFile, SignedDocument,
    TakenDocuments,
};

mod client;
mod flush;
mod issuer;
mod messages;
mod mirror;
mod person;
mod server_enrolment;
mod synchroniser;
mod witness;

pub use client::publish;
pub use flush::{flush, say_goodbye};
pub use issuer::{ask_for_token, issuer_keys};
pub use person::{FleetPersonClient, PersonAnswer};
pub use server_enrolment::{enroll_at, enroll_job};
pub use synchroniser::{Synchroniser, Turn};
pub use witness::{WatchedServer, WitnessLook};

/// How long fetching documents may take.
const FETCH_TIME: Duration = Duration::from_secs(20);

/// The version of this program, which a policy may ask for.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What this machine knows of its fleet, if it is in one.
pub fn look(paths: &Paths) -> Result<Option<FleetStanding>, Failure> {
    let mut found = None;
    config_layers::layers_with(paths, |own, administrator| {
        found = standing(paths, own, administrator)?;
        Ok(Vec::new())
    })?;
    Ok(found)
}

/// The same in a line each; none where it is in no fleet.
pub fn lines(paths: &Paths) -> Vec<String> {
    match look(paths) {
        Ok(standing) => {
            let summary = standing.map(|it| it.summary(SystemClock.unix_ms())).unwrap_or_default();
            summary.into_iter().chain(owner(paths)).chain(shipping(paths)).collect()
        }
        Err(failure) => failure.lines(),
    }
}

/// Whose the key and the documents are, in a line, where that is a user of a service: then nobody who works here replaces
/// them, or the gate that reads them.
pub fn owner(paths: &Paths) -> Option<String> {
    /// Below are users that nobody works as, on systems as they are.
    const FIRST_PERSON: u32 = 1_000;
    let file = paths.fleet();
    let owner = fs::metadata(&file).ok()?.uid();
    let key = fs::metadata(file.with_file_name("machine.key")).map_or(owner, |it| it.uid());
    let of_service = (1..FIRST_PERSON).contains(&owner) && key == owner;
    of_service.then(|| {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let number = owner.to_string();
        let named = users.lines().find(|it| it.split(':').nth(2) == Some(&number));
        let name = named.and_then(|it| it.split(':').next()).unwrap_or(&number);
        format!(
            "key and documents belong to the user {name}, whom nobody works as: who calls this gate changes neither"
        )
    })
}

/// How far shipping is behind, in a line; none where this machine was enrolled at no server.
pub fn shipping(paths: &Paths) -> Option<String> {
    let state = machine_files::state(paths).ok()??;
    let caught_up = eclusa_fleet::time_text(state.caught_up);
    Some(match (state.stopped(), local_stores::unshipped(paths, &state)) {
        (Some(why), _) => format!("shipping: stopped: {why}"),
        (None, (_, 0)) => format!("shipping: everything is at the server (seen at {caught_up})"),
        (None, (since, count)) => format!(
            "shipping: {count} records behind, the oldest of {}",
            eclusa_fleet::time_text(since.unwrap_or_default())
        ),
    })
}

/// Whether this machine can load these files beside its own: what is wrong in them otherwise.
fn usable(paths: &Paths, version: u64, files: &[PolicyFile]) -> Result<(), String> {
    let layers = config_layers::layers_with(paths, |_, _| Ok(as_layers(version, files)));
    let layers = layers.map_err(|err| err.message().to_owned())?;
    let Err(errors) = Config::load(&layers) else { return Ok(()) };
    // What is wrong in other files is not the policy's fault.
    let own: Vec<String> =
        errors.0.iter().filter(|it| is_of_policy(&it.file)).map(ToString::to_string).collect();
    if own.is_empty() { Ok(()) } else { Err(own.join("; ")) }
}

/// Fetches newer documents and puts them in force, all of them or none.
pub async fn sync(
    paths: &Paths,
    from: Option<&str>,
) -> Result<(Membership, TakenDocuments), Failure> {
    let in_none = || {
        Failure::usage("this machine is in no fleet")
            .hint("`eclusa fleet enroll CODE`, or name one in `[fleet]` of a configuration file")
    };
    look(paths)?.ok_or_else(in_none)?;
    let _only = lock(paths)?;
    let standing = look(paths)?.ok_or_else(in_none)?;
    let anchor = &standing.anchor;
    let held = standing.membership.as_ref().ok();
    let of_root = || held.and_then(|it| it.root().addresses.first().map(String::as_str));
    let from = from.or(anchor.from.as_deref()).or_else(of_root).ok_or_else(|| {
        Failure::usage("nothing says where the documents are")
            .hint("add `from` to `[fleet]`, or pass `--from`")
    })?;
    let offered = fetch(from).await?;
    put_in_force(paths, &standing, offered)
}

/// Puts documents in force that came from the server, all of them or none.
fn take(paths: &Paths, offered: DocumentBundle) -> Result<(Membership, TakenDocuments), Failure> {
    let _only = lock(paths)?;
    let standing = look(paths)?.ok_or_else(|| Failure::usage("this machine is in no fleet"))?;
    put_in_force(paths, &standing, offered)
}

fn put_in_force(
    paths: &Paths,
    standing: &FleetStanding,
    offered: DocumentBundle,
) -> Result<(Membership, TakenDocuments), Failure> {
    let (anchor, held) = (&standing.anchor, standing.membership.as_ref().ok());
    let at = (SystemClock.unix_ms(), PROGRAM);
    let fits = |version: u64, files: &[PolicyFile]| usable(paths, version, files);
    let taken = match held {
        Some(held) => held.take(offered, anchor, at, fits),
        None => {
            Membership::begin(offered, None, anchor, at, fits).map(|it| (it, TakenDocuments::Newer))
        }
    };
    let taken = taken.map_err(|err| {
        let kept = match held {
            Some(held) => format!("policy {} stays in force", held.policy().heading().version),
            None => "nothing is in force".to_owned(),
        };
        Failure::failed(format!("{err}; {kept}"))
    })?;
    keep(paths, &taken.0)?;
    Ok(taken)
}

/// Lets this machine into the fleet of a code: everything that it needs is checked and in force, or nothing is.
pub async fn enroll(
    paths: &Paths,
    code: &EnrolmentCode,
    anchor: &FleetAnchor,
) -> Result<Membership, Failure> {
    let _only = lock(paths)?;
    let offered = fetch(&code.from).await?;
    let new = enter(paths, Some(code), anchor, offered)?;
    keep(paths, &new)?;
    Ok(new)
}

/// What would be in force after entering with these documents, which are checked.
fn enter(
    paths: &Paths,
    code: Option<&EnrolmentCode>,
    anchor: &FleetAnchor,
    offered: DocumentBundle,
) -> Result<Membership, Failure> {
    let invite: Option<SignedDocument> = code.map(|it| it.invite.clone());
    let fits = |version: u64, files: &[PolicyFile]| usable(paths, version, files);
    let at = (SystemClock.unix_ms(), PROGRAM);
    // A machine that enters again does not go back either.
    if let Some(Ok(held)) = look(paths)?.map(|it| it.membership)
        && held.root().name == anchor.name
    {
        held.take(offered.clone(), anchor, at, fits).map_err(Failure::failed)?;
    }
    Membership::begin(offered, invite, anchor, at, fits).map_err(Failure::failed)
}

/// Held by whoever fetches: of two at one moment, the later one sees what the other has put in force.
fn lock(paths: &Paths) -> Result<fs::File, Failure> {
    let file = paths.fleet().with_file_name("lock");
    let failed =
        |err: io::Error| Failure::failed(format!("cannot lock `{}`: {err}", file.display()));
    if let Some(directory) = file.parent() {
        private_file::make_directory(directory).map_err(failed)?;
    }
    let lock = private_file::open_lock(&file).map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
}

fn keep(paths: &Paths, membership: &Membership) -> Result<(), Failure> {
    let file = paths.fleet();
    let failed =
        |err: io::Error| Failure::failed(format!("cannot write `{}`: {err}", file.display()));
    private_file::write(&file, membership.to_text(), Durability::PowerLoss).map_err(failed)
}

/// Forgets what is in force here.
#[expect(clippy::disallowed_methods, reason = "the program's own file, in no workspace")]
pub fn forget(paths: &Paths) -> Result<(), Failure> {
    machine_files::forget(paths)?;
    match fs::remove_file(paths.fleet()) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(Failure::failed(err)),
        _ => Ok(()),
    }
}

/// Reads documents from an address or a file. Redirects are not followed.
pub async fn fetch(from: &str) -> Result<DocumentBundle, Failure> {
    let failed =
        |why: String| Failure::failed(format!("cannot fetch documents from `{from}`: {why}"));
    let text = match from.contains("://") {
        true => get(from).await.map_err(failed)?,
        false if !Path::new(from).is_absolute() => {
            return Err(failed("a file needs its whole path".to_owned()));
        }
        false => {
            let max = u64::try_from(DocumentBundle::MAX_BYTES).unwrap_or(u64::MAX);
            read_text_of(Path::new(from), max).map_err(|err| failed(err.to_string()))?
        }
    };
    DocumentBundle::parse(&text).map_err(|err| failed(err.to_string()))
}

async fn get(from: &str) -> Result<String, String> {
    let url = client::safe_address(from)?;
    let request = client::plain_client()?.get(url).timeout(FETCH_TIME);
    let mut response = request.send().await.map_err(|err| chain(&err))?;
    if !response.status().is_success() {
        return Err(format!("it answered {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|err| chain(&err))? {
        body.extend_from_slice(&chunk);
        if body.len() > DocumentBundle::MAX_BYTES {
            return Err("it is too large".to_owned());
        }
    }
    String::from_utf8(body).map_err(|_| "it is not text".to_owned())
}
