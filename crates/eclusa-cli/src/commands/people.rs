//! `eclusa people`: who may answer approvals, in which groups and with which keys.

use eclusa::{
    audit::{Clock as _, SystemClock},
    one_line,
};
use eclusa_approvals::{KeyFile, KeyKind, People, PersonKey};
use serde_json::json;

use crate::{
    args::{Global, PeopleCommand},
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, Style},
    timestamp::Timestamp,
};

pub(super) fn run(global: &Global, what: Option<PeopleCommand>) -> Result<Exit, Failure> {
    let people = People::new(Paths::find(global)?.people());
    let mut screen = Screen::stdout();
    match what.unwrap_or(PeopleCommand::List) {
        PeopleCommand::List => list(&people, global.json, &mut screen)?,
        PeopleCommand::Add { name, group, new_key, public } => {
            if name.trim().is_empty() || name != one_line(&name) {
                return Err(Failure::usage(format!("`{}` is not a name", one_line(&name))));
            }
            let now = SystemClock.unix_ms();
            let key = match (new_key, public) {
                (Some(file), _) => {
                    let label = one_line(&file.display().to_string());
                    Some(KeyFile::create(&file).map_err(Failure::failed)?.public(label, now))
                }
                (None, Some(public)) => {
                    Some(PersonKey::new(KeyKind::File, public, "elsewhere".to_owned(), now))
                }
                (None, None) => None,
            };
            if key.as_ref().is_some_and(|it| !it.is_well_formed()) {
                return Err(Failure::usage("this is not the public part of a key")
                    .hint("`eclusa people add NAME --new-key FILE` prints it"));
            }
            people.add_groups(&name, &group).map_err(Failure::failed)?;
            screen.line(&format!("added {name}"))?;
            if let Some(key) = key {
                screen.line(&format!("key {}, public part {}", key.id, key.public))?;
                people.add(&name, key).map_err(Failure::failed)?;
            }
        }
        PeopleCommand::Remove { name } => {
            let removed = people.remove(&name, SystemClock.unix_ms()).map_err(|err| {
                Failure::failed(err).hint("`eclusa people` lists people and their keys")
            })?;
            screen.line(&format!("removed {} of {}", removed.1, one_line(&removed.0)))?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn list(people: &People, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let all = people.all().map_err(Failure::failed)?;
    let counts = |it: &&PersonKey| it.revoked.is_none();
    for person in &all {
        let keys: Vec<&PersonKey> = person.keys.iter().filter(counts).collect();
        if json {
            let keys: Vec<_> = keys
                .iter()
                .map(|it| json!({"id": it.id, "kind": it.kind, "label": it.label, "added": it.added}))
                .collect();
            screen.json(&json!({"name": person.name, "groups": person.groups, "keys": keys}))?;
            continue;
        }
        let groups = match person.groups.is_empty() {
            true => String::new(),
            false => format!(" ({})", person.groups.join(", ")),
        };
        screen.styled(Style::Strong, &one_line(&format!("{}{groups}", person.name)))?;
        for key in keys {
            let kind = key.kind.as_str();
            let label: String = one_line(&key.label).chars().take(60).collect();
            screen.line(&format!("  {}  {kind}  {}  {label}", key.id, Timestamp(key.added)))?;
        }
    }
    match all.is_empty() && !json {
        true => Ok(screen.line("nobody is known: answers are words")?),
        false => Ok(()),
    }
}
