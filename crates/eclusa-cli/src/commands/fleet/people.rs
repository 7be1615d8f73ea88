//! `eclusa fleet people`: the people of this machine as a signed document.

use std::path::PathBuf;

use eclusa_approvals::{People, PersonKey};
use eclusa_fleet::{DocumentKind, FleetKey, FleetPerson, PeoplePayload};

use super::publication;
use crate::{
    failure::{Exit, Failure},
    paths::Paths,
    screen::Screen,
};

/// Sign the people of this machine, with their groups and keys, as the people of the fleet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`eclusa people` lists and changes the people of this machine. Where the signed list is in force, it says whose keys and groups \
count, and the list of that machine no longer does.")]
pub(crate) struct FleetPeopleArgs {
    /// The file with all documents, which is changed
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// A key of `people`; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
    /// How long it is good
    #[arg(long = "for", value_name = "TIME", default_value = "90d")]
    good_for: String,
}

pub(super) fn run(
    paths: &Paths,
    args: FleetPeopleArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let expires = publication::expiry(&args.good_for)?;
    let keys = publication::keys(&args.key)?;
    let mut author = publication::open(&args.to)?;
    let key = |it: &PersonKey| FleetKey {
        kind: it.kind.as_str().to_owned(),
        public: it.public.clone(),
        credential: it.credential.clone(),
        origin: it.origin.clone(),
    };
    let people = People::new(paths.people()).all().map_err(Failure::failed)?;
    let people: Vec<FleetPerson> = people
        .into_iter()
        .map(|it| FleetPerson {
            keys: it.keys.iter().filter(|it| it.revoked.is_none()).map(key).collect(),
            name: it.name,
            groups: it.groups,
        })
        .filter(|it| !it.keys.is_empty())
        .collect();
    let count = people.len();
    let payload = PeoplePayload { people };
    let version = author.people(&payload, expires, &keys).map_err(Failure::usage)?;
    publication::write(&args.to, &author)?;
    let (name, until) = (&author.root().name, eclusa_fleet::time_text(expires));
    screen.line(&format!("{name} people {version}: {count} with keys, good until {until}"))?;
    publication::tell_missing(&author, DocumentKind::People, &args.to, screen)?;
    Ok(Exit::Done)
}
