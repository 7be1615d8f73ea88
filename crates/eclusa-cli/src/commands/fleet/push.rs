//! `eclusa fleet push` and `sign`: a directory of rules becomes a signed policy.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use eclusa_config::{Config, Layer};
use eclusa_fleet::{DocumentKind, PolicyPayload};
use serde_json::{Value, json};

use super::{
    policy_changes::{self, PolicyChange},
    publication,
};
use crate::{
    config_layers::unusable,
    failure::{Exit, Failure},
    read_text::read_text,
    screen::{Screen, sanitize},
};

/// How many files a policy has at most.
const MAX_FILES: usize = 1_000;

/// Check, sign and publish a policy
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet push policy/ --to documents.json --key policy.key
  eclusa fleet push --renew --to documents.json --key policy.key    the same content, good for longer: a weekly job
  eclusa fleet push policy/ --to documents.json --key policy.key --database URL --percent 5
                                                    at a server, and to 5 of 100 machines at first

A policy is a directory of files like eclusa.toml: all.toml, team/web.toml. A file is for every machine, or for those \
whose invite has the labels of its [fleet] for = { team = \"web\" }. On a machine each counts like \
/etc/eclusa/eclusa.toml: nothing loosens it, and what is stricter elsewhere stands. A machine never goes back to a \
lower version: to roll back, push the old content. enroll.toml says which jobs of CI may enrol by their platform's token.")]
pub(crate) struct PushArgs {
    /// The directory with the files
    #[arg(required_unless_present = "renew")]
    dir: Option<PathBuf>,
    /// The file with all documents, which is changed: publish it where machines look
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// A key of `policy`; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
    /// Sign the content of the version before anew
    #[arg(long, conflicts_with_all = ["dir", "needs", "people_min"])]
    renew: bool,
    /// How long it is good
    #[arg(long = "for", value_name = "TIME", default_value = "14d")]
    good_for: String,
    /// The oldest program that understands it
    #[arg(long, value_name = "VERSION")]
    needs: Option<String>,
    /// The oldest people document that it counts on
    #[arg(long, value_name = "VERSION")]
    people_min: Option<u64>,
    /// How long a machine's records may wait to be shipped before it is stale, for fleets with a server
    #[arg(long, value_name = "TIME", conflicts_with = "renew")]
    offline: Option<String>,
    #[cfg(feature = "fleet-server")]
    #[command(flatten)]
    staging: super::rollout::StagingArgs,
}

/// Add a signature to documents that need several
#[derive(Debug, clap::Args)]
pub(crate) struct SignArgs {
    /// The file with all documents
    file: PathBuf,
    /// A key of `policy` or `people`
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

pub(super) async fn run(args: PushArgs, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let expires = publication::expiry(&args.good_for)?;
    let keys = publication::keys(&args.key)?;
    let mut author = publication::open(&args.to)?;
    let kind = DocumentKind::Policy;
    #[cfg(feature = "fleet-server")]
    let staging = args.staging.read()?;
    let before = author.policy_files().map_err(Failure::usage)?;
    let version = match &args.dir {
        None => author.renew(kind, expires, &keys),
        Some(dir) => {
            let (needs, people_min, offline) = (args.needs, args.people_min, args.offline);
            let enroll = super::job::enrolments(dir)?;
            let payload = PolicyPayload { files: files(dir)?, needs, people_min, offline, enroll };
            author.policy(&payload, expires, &keys)
        }
    };
    let version = version.map_err(Failure::usage)?;
    publication::write(&args.to, &author)?;
    let until = eclusa_fleet::time_text(expires);
    let after = author.policy_files().map_err(Failure::usage)?;
    let changes = policy_changes::compare(&before, &after);
    let (signatures, need) = author.signatures(kind).map_err(Failure::failed)?;
    if json {
        let changes: Vec<Value> = changes.iter().map(PolicyChange::as_json).collect();
        screen.json(&json!({
            "version": version, "expires": until, "signatures": signatures, "need": need, "changes": changes,
        }))?;
    } else {
        let name = &author.root().name;
        let file = args.to.display();
        screen.line(&format!("{name} policy {version}, good until {until}: {file}"))?;
        for change in &changes {
            screen.styled(change.style(), &sanitize(&format!("  {change}")))?;
        }
        publication::tell_missing(&author, kind, &args.to, screen)?;
    }
    #[cfg(feature = "fleet-server")]
    if signatures >= need {
        staging.push(&author, json, screen).await?;
    }
    Ok(Exit::Done)
}

/// The files of a policy, each of which every machine can load by itself.
pub(super) fn files(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    gather(dir, "", &mut files)?;
    if files.is_empty() {
        return Err(Failure::usage(format!("there is no `.toml` file in `{}`", dir.display())));
    }
    for (name, text) in &files {
        let layer = Layer::of_administrator(name.as_str(), text.as_str());
        Config::load(&[layer]).map_err(unusable)?;
    }
    Ok(files)
}

fn gather(dir: &Path, above: &str, files: &mut BTreeMap<String, String>) -> Result<(), Failure> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read `{}`: {why}", path.display()))
    };
    for entry in fs::read_dir(dir).map_err(|err| wrong(dir, &err))? {
        let entry = entry.map_err(|err| wrong(dir, &err))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|err| wrong(dir, &err))?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if above.is_empty() && name == super::job::ENROLMENTS {
            continue;
        }
        if kind.is_dir() {
            gather(&path, &format!("{above}{name}/"), files)?;
        } else if name.ends_with(".toml") {
            let text = read_text(&path).map_err(|err| wrong(&path, &err))?;
            files.insert(format!("{above}{name}"), text);
        }
        if files.len() > MAX_FILES {
            return Err(wrong(dir, &format!("it has more than {MAX_FILES} files")));
        }
    }
    Ok(())
}

pub(super) fn sign(args: SignArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let keys = publication::keys(std::slice::from_ref(&args.key))?;
    let mut author = publication::open(&args.file)?;
    for key in &keys {
        for kind in author.cosign(key).map_err(Failure::usage)? {
            screen.line(&format!("{} signed the {kind} document", key.public().name()))?;
            publication::tell_missing(&author, kind, &args.file, screen)?;
        }
    }
    publication::write(&args.file, &author)?;
    Ok(Exit::Done)
}
