//! `eclusa fleet rotate`: other keys for a role, in a new root document.

use std::path::PathBuf;

use clap::ValueEnum;
use eclusa::{Durability, workspace::private_file};
use eclusa_fleet::{Rotation, SigningKey, SigningRole};

use super::publication;
use crate::{
    failure::{Exit, Failure},
    screen::Screen,
};

/// Give a role another key, or take one away
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet rotate policy --to documents.json --key root.key --remove acme-policy-1 --new-key policy-2.key
                                                    a key was stolen: it signs nothing from now on

Enough keys of `root` must sign, for a change of `root` itself those of before and those of after. What the role had \
signed is signed anew with the keys that are given and the new one, and versions are counted anew: a stolen key that \
signed a very high version locks nobody out. Machines follow from the root that they know to the newest, so that none \
must be enrolled again.")]
pub(crate) struct RotateArgs {
    /// The role
    #[arg(value_enum)]
    role: RotatedRole,
    /// The file with all documents, which is changed
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// A key of `root`, or one of the role that stays; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
    /// The name of a key that signs nothing from now on
    #[arg(long, value_name = "NAME")]
    remove: Option<String>,
    /// Make a key, in this new file
    #[arg(long, value_name = "FILE")]
    new_key: Option<PathBuf>,
    /// How many keys of the role must sign from now on
    #[arg(long)]
    need: Option<usize>,
    /// How long the document of the role is good
    #[arg(long = "for", value_name = "TIME", default_value = "14d")]
    good_for: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RotatedRole {
    Root,
    Policy,
    People,
    Enroll,
    Seal,
}

pub(super) fn run(args: RotateArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let role = match args.role {
        RotatedRole::Root => SigningRole::Root,
        RotatedRole::Policy => SigningRole::Policy,
        RotatedRole::People => SigningRole::People,
        RotatedRole::Enroll => SigningRole::Enroll,
        RotatedRole::Seal => SigningRole::Seal,
    };
    let times = (publication::expiry("1825d")?, publication::expiry(&args.good_for)?);
    let mut keys = publication::keys(&args.key)?;
    let mut author = publication::open(&args.to)?;
    let mut change = Rotation { remove: args.remove, need: args.need, add: None };
    if let Some(file) = &args.new_key {
        let number = author.root().version + 1;
        let name = format!("{}-{role}-r{number}", author.root().name);
        let key = SigningKey::generate(&name).map_err(Failure::usage)?;
        private_file::create(file, key.private_text(), Durability::PowerLoss)
            .map_err(|err| Failure::failed(format!("cannot write `{}`: {err}", file.display())))?;
        change.add = Some(key.public().clone());
        keys.push(key);
    }
    let version = author.rotate(role, change, times, &keys).map_err(Failure::usage)?;
    publication::write(&args.to, &author)?;
    let names: Vec<String> =
        author.root().role(role).keys.iter().map(|it| it.name().to_owned()).collect();
    screen.line(&format!("root {version}: {role} is signed by {}", names.join(", ")))?;
    Ok(Exit::Done)
}
