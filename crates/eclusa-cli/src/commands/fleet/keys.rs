//! `eclusa fleet keys`: keys that people made with an invite, and that wait to be signed into the people document.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_approvals::People;
use eclusa_fleet_server::{Database, PendingKey, pending_keys};
use serde_json::json;

use super::serve::failed;
use crate::{
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, sanitize},
};

/// So many digits of a key must be given: fewer could be those of another key that somebody made on purpose.
const DIGITS: usize = 32;

/// List keys that people made with an invite, and take some into the people of this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Whoever makes a key in the page of the server (`eclusa fleet invite --person`) is shown its digits, and tells you them, by a way \
that is not the server's. With --accept the key is taken into the people of this machine; `eclusa fleet people` signs them. \
The server cannot: it has no key of `people`.")]
pub(crate) struct KeysArgs {
    /// The database, such as postgres://user@localhost/fleet
    #[arg(long, value_name = "URL", env = "ECLUSA_DATABASE", hide_env_values = true)]
    database: String,
    /// The digits of a key, as its owner told you them; repeatable
    #[arg(long, value_name = "DIGITS")]
    accept: Vec<String>,
}

pub(super) async fn run(
    paths: &Paths,
    args: KeysArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let database = Database::open(&args.database).map_err(failed)?;
    let waiting = pending_keys(&database).await.map_err(failed)?;
    let people = People::new(paths.people());
    if !args.accept.is_empty() {
        return accept(&people, &waiting, &args.accept, screen);
    }
    let known: Vec<String> = people
        .all()
        .map_err(Failure::failed)?
        .into_iter()
        .flat_map(|it| it.keys)
        .map(|it| it.public)
        .collect();
    let waiting: Vec<&PendingKey> =
        waiting.iter().filter(|it| !known.contains(&it.public)).collect();
    if json {
        let each = |it: &&PendingKey| json!({"person": it.person, "kind": it.kind, "digits": digits(it), "origin": it.origin, "made": it.at});
        screen.json(&waiting.iter().map(each).collect())?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        screen.line("no key waits to be signed")?;
        return Ok(Exit::Done);
    }
    let mut rows = vec![["person", "kind", "digits", "page"].map(str::to_owned).to_vec()];
    rows.extend(waiting.iter().map(|it| {
        let page = it.origin.as_deref().unwrap_or("this browser");
        vec![sanitize(&it.person), sanitize(&it.kind), digits(it), sanitize(page)]
    }));
    screen.headed_table(&rows)?;
    screen.line("ask their owners for the digits, and compare them; then `eclusa fleet keys --accept DIGITS`")?;
    Ok(Exit::Done)
}

/// In groups of four, as the page shows them.
fn digits(key: &PendingKey) -> String {
    let digits: Vec<char> = key.digest.chars().take(DIGITS).collect();
    let groups: Vec<String> = digits.chunks(4).map(|it| it.iter().collect()).collect();
    groups.join(" ")
}

fn accept(
    people: &People,
    waiting: &[PendingKey],
    accepted: &[String],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    for given in accepted {
        let plain: String = given.chars().filter(|it| !it.is_whitespace()).collect();
        if plain.len() < DIGITS {
            return Err(Failure::usage(format!("`{given}` has too few digits"))
                .hint(format!("give all {DIGITS} that its owner was shown")));
        }
        let mut fitting = waiting.iter().filter(|it| it.digest.starts_with(&plain.to_lowercase()));
        let none = || {
            Failure::failed(format!("no key with the digits `{given}` waits"))
                .hint("`eclusa fleet keys` lists those that do")
        };
        let found = fitting.next().ok_or_else(none)?;
        let mut key = found.key().ok_or_else(|| {
            Failure::refused(format!(
                "the key of `{}` is not what its digits say: somebody changed it in the database",
                sanitize(&found.person)
            ))
        })?;
        key.added = SystemClock.unix_ms();
        let id = key.id.clone();
        people.add(&found.person, key).map_err(Failure::refused)?;
        let (person, kind) = (sanitize(&found.person), sanitize(&found.kind));
        screen
            .line(&format!("{kind} {id} is a key of {person}; `eclusa fleet people` signs it"))?;
    }
    Ok(Exit::Done)
}
