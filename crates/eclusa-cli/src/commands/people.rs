//! `eclusa people`: who may answer approvals, in which groups and with which keys.

use std::{io, path::PathBuf};

use eclusa::{
    audit::{Clock as _, SystemClock},
    one_line,
};
use eclusa_approvals::{KeyFile, KeyKind, People, PersonKey};
use eclusa_config::Config;
use serde_json::json;

use crate::{
    config_layers::{layers, unusable},
    failure::{Exit, Failure},
    global::Global,
    notifications,
    paths::Paths,
    person,
    screen::{Screen, Style, qr},
    timestamp::Timestamp,
};

/// Manage who may answer approvals, their groups and keys
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa people                                     who may answer, and with which keys
  eclusa people add ana --group release --new-key ~/ana.key
                                                    a key for ana, in a file that only you can read
  eclusa approvals yes 12 --key ~/ana.key           answer with it
  eclusa people pair ana                            a link for ana's browser, which works once
  eclusa people remove 4f1c09ab12cd34ef             revoke this key

A rule says whose answer it needs: decision = \"ask\", of = [\"release\"], need = 2, with = \"key\". \
Signatures are checked where the call runs. Browsers register their keys when they open the link of \
`eclusa approvals serve` or of `eclusa people pair`.")]
pub(crate) struct PeopleArgs {
    #[command(subcommand)]
    what: Option<PeopleCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum PeopleCommand {
    /// List approvers, their groups and keys (default)
    List,
    /// Add a person, a group of theirs or a key
    Add {
        /// The name in records
        name: String,
        /// A group that they are in; repeatable
        #[arg(long, value_name = "NAME")]
        group: Vec<String>,
        /// Make a key, in this new file
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
        /// Register a key that was made elsewhere: the public part, as `add --new-key` printed it
        #[arg(long, value_name = "BASE64", conflicts_with = "new_key")]
        public: Option<String>,
    },
    /// Print a link that lets a browser in, once, within ten minutes: its key answers for the person
    Pair {
        /// Who answers with it; you, unless said
        name: Option<String>,
        /// The address of the page, where it is neither `approvals.url` nor port 8378 of this machine
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// Remove a key, or a person with all keys and groups
    Remove {
        /// A key, or the name of a person
        name: String,
    },
}

pub(super) fn run(global: &Global, args: PeopleArgs) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let people = People::new(paths.people());
    let mut screen = Screen::stdout();
    match args.what.unwrap_or(PeopleCommand::List) {
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
        PeopleCommand::Pair { name, url } => {
            let page = match url {
                Some(url) if is_page(&url) => url,
                Some(url) => {
                    let what = format!("`{}` is not an address of the page", one_line(&url));
                    return Err(
                        Failure::usage(what).hint("write `--url https://NAME`, without a path")
                    );
                }
                None => {
                    let config = Config::load(&layers(&paths)?).map_err(unusable)?;
                    notifications::page(&config.approvals).to_owned()
                }
            };
            pair(&people, name, &page, global.json, &mut screen)?;
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

/// How long a link works that is sent to somebody, in milliseconds.
const LINK_TIME: u64 = 10 * 60 * 1_000;

fn is_page(url: &str) -> bool {
    let plain = |it: &url::Url| it.path() == "/" && it.query().is_none() && it.has_host();
    url::Url::parse(url).is_ok_and(|it| ["http", "https"].contains(&it.scheme()) && plain(&it))
}

/// Prints a link for this person, or for whoever runs the command.
fn pair(
    people: &People,
    name: Option<String>,
    page: &str,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let own = person::name();
    let name = name.unwrap_or_else(|| own.clone());
    let known = people.all().map_err(Failure::failed)?;
    // A key is nobody's by a slip of the finger.
    if name != own && !known.iter().any(|it| it.name == name) {
        let name = one_line(&name);
        return Err(Failure::failed(format!("no person is called `{name}`"))
            .hint(format!("`eclusa people add {name}` adds them")));
    }
    let now = SystemClock.unix_ms();
    let until = now.saturating_add(LINK_TIME);
    let code = people.add_link(&name, now, until).map_err(Failure::failed)?;
    let link = format!("{}/pair#{code}", page.trim_end_matches('/'));
    if json {
        return Ok(screen.json(&json!({"person": name, "link": link, "expires": until}))?);
    }
    let name = one_line(&name);
    screen.line(&format!(
        "`{name}` answers with the browser that opens this link; it works once, within ten minutes, \
         while `eclusa approvals serve` runs:"
    ))?;
    screen.verbatim(Style::Strong, &link)?;
    Ok(show_code(&link, screen)?)
}

/// The link for the camera of a phone, if a phone can open it.
pub(super) fn show_code(link: &str, screen: &mut Screen) -> io::Result<()> {
    if notifications::is_local(link) {
        return Ok(());
    }
    for line in qr::lines(link, screen.paint).into_iter().flatten() {
        screen.verbatim(Style::Plain, &line)?;
    }
    Ok(())
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
        true => Ok(screen.line(
            "no people registered: answers are not signed; add one with `eclusa people add NAME`",
        )?),
        false => Ok(()),
    }
}
