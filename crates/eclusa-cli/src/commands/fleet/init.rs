//! `eclusa fleet init`: keys and the first root document.

#[cfg(feature = "fleet-server")]
use std::path::Path;
use std::{collections::BTreeMap, path::PathBuf};

use eclusa::{Durability, workspace::private_file};
use eclusa_fleet::{Author, RoleKeys, SigningKey, SigningRole};
use serde_json::json;

use super::publication;
use crate::{
    failure::{Exit, Failure},
    screen::{Screen, Style},
};

/// Make the keys and the first root document of a fleet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes keys/ (one file for each key, which only you can read) and documents.json (what is published). Keep the keys of \
`root` offline; those of `policy` may be your CI's, that of `seal` is the server's. With --need 2 there are three keys of each role, of which two must \
sign; give them to different people.")]
pub(crate) struct FleetInitArgs {
    /// A new directory
    dir: PathBuf,
    /// The name of the fleet
    #[arg(long)]
    name: String,
    /// How many keys of a role must sign
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8))]
    need: u8,
    /// Where machines will find documents.json; repeatable
    #[arg(long, value_name = "URL")]
    address: Vec<String>,
    /// How long the root is good
    #[arg(long = "for", value_name = "TIME", default_value = "1825d")]
    good_for: String,
}

impl FleetInitArgs {
    /// One key of each role, for a fleet on one machine.
    #[cfg(feature = "fleet-server")]
    pub(super) fn small(dir: &Path, name: &str) -> FleetInitArgs {
        let (dir, name) = (dir.to_owned(), name.to_owned());
        FleetInitArgs { dir, name, need: 1, address: Vec::new(), good_for: "1825d".to_owned() }
    }
}

/// Makes the keys and the first root. Says how many keys there are.
pub(super) fn create(args: FleetInitArgs) -> Result<(Author, usize), Failure> {
    let FleetInitArgs { dir, name, need, address, good_for } = args;
    let expires = publication::expiry(&good_for)?;
    let (documents, key_dir) = (dir.join("documents.json"), dir.join("keys"));
    if documents.exists() || key_dir.exists() {
        return Err(Failure::usage(format!("`{}` holds a fleet already", dir.display()))
            .hint("name a new directory"));
    }
    // One may be lost where several must sign.
    let count = if need == 1 { 1 } else { need + 1 };
    let (mut roles, mut keys) = (BTreeMap::new(), Vec::new());
    for role in SigningRole::ALL {
        // Servers seal each for itself.
        let (need, count) = if role == SigningRole::Seal { (1, 1) } else { (need, count) };
        let made = (1..=count).map(|it| SigningKey::generate(&format!("{name}-{role}-{it}")));
        let made: Vec<SigningKey> = made.collect::<Result<_, _>>().map_err(Failure::usage)?;
        let public = made.iter().map(|it| it.public().clone()).collect();
        roles.insert(role, RoleKeys { keys: public, need: need.into() });
        keys.extend(made);
    }
    let author = Author::begin(&name, &address, &roles, expires, &keys).map_err(Failure::usage)?;
    private_file::make_directory(&key_dir).map_err(Failure::failed)?;
    for key in &keys {
        let file = key_dir.join(format!("{}.key", key.public().name()));
        private_file::create(&file, key.private_text(), Durability::PowerLoss)
            .map_err(|err| Failure::failed(format!("cannot write `{}`: {err}", file.display())))?;
    }
    publication::write(&documents, &author)?;
    Ok((author, keys.len()))
}

pub(super) fn run(args: FleetInitArgs, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let (documents, key_dir) = (args.dir.join("documents.json"), args.dir.join("keys"));
    let (author, keys) = create(args)?;
    let (name, root) = (&author.root().name, author.root().digest);
    if json {
        screen.json(&json!({"name": name, "root": format!("sha256:{root}"), "keys": keys}))?;
        return Ok(Exit::Done);
    }
    screen.line(&format!("fleet {name}: {keys} keys in {}", key_dir.display()))?;
    screen.line(&format!("documents: {}", documents.display()))?;
    screen
        .line("two lines make the fleet mandatory, in /etc/eclusa/eclusa.toml of each machine:")?;
    screen.verbatim(Style::Strong, "[fleet]")?;
    screen.verbatim(Style::Strong, &format!("name = \"{name}\""))?;
    screen.verbatim(Style::Strong, &format!("root = \"sha256:{root}\""))?;
    Ok(Exit::Done)
}
