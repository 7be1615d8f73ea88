//! `eclusa fleet invite`: a code that lets a machine in, and says what it is; or a link with which a person makes a key.

use std::{collections::BTreeMap, path::PathBuf};

use eclusa::random::random_name;
use eclusa_fleet::{Author, Digest, EnrolmentCode, Invite, PERSON, SigningKey};
use serde_json::json;

use super::publication;
use crate::{
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
};

/// Print a code with which machines enrol, or a link with which a person makes a key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The labels of a machine (its team, its owner and others) are signed: they say which files of the policy are for it. Without \
a server nobody counts how often a code is used; it works until it expires.

With --person the link leads to the page of the server, where that person makes a passkey or a key of the browser. It counts once \
`eclusa fleet keys --accept` has taken it over and `eclusa fleet people` has signed it.")]
pub(crate) struct InviteArgs {
    /// The file with all documents
    #[arg(long, value_name = "FILE")]
    documents: PathBuf,
    /// A key of `enroll`; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
    /// The team that the machine is of
    #[arg(long, required_unless_present = "person")]
    team: Option<String>,
    /// The person who makes a key with it, by the name that goes on record
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with_all = ["team", "owner", "label", "ephemeral"])]
    person: Option<String>,
    /// Whose machine it is
    #[arg(long)]
    owner: Option<String>,
    /// Another label; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    label: Vec<String>,
    /// How many machines may use it, for fleets with a server
    #[arg(long, default_value_t = 1)]
    uses: u32,
    /// How long it can be used
    #[arg(long = "for", value_name = "TIME", default_value = "1h")]
    good_for: String,
    /// The machine is soon gone: a job
    #[arg(long)]
    ephemeral: bool,
    /// Where the machine finds the documents: an address or a file; the first one of the root unless said
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// The server that the machine enrols at, which hands the documents out as well
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    server: Option<String>,
}

pub(super) fn run(args: InviteArgs, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let expires = publication::expiry(&args.good_for)?;
    let keys = publication::keys(&args.key)?;
    let author = publication::open(&args.documents)?;
    let root = author.root();
    let from = args.from.or_else(|| args.server.clone());
    let from = from.or_else(|| root.addresses.first().cloned()).ok_or_else(|| {
        Failure::usage("nothing says where machines find the documents").hint("pass `--from URL`")
    })?;
    let mut labels = BTreeMap::new();
    labels.extend(args.team.map(|it| ("team".to_owned(), it)));
    labels.extend(args.person.clone().map(|it| (PERSON.to_owned(), it)));
    labels.extend(args.owner.map(|it| ("owner".to_owned(), it)));
    for label in &args.label {
        let (name, value) = label.split_once('=').ok_or_else(|| {
            Failure::usage(format!("`{label}` is not a label; write it like `pool=ci`"))
        })?;
        if name == PERSON {
            return Err(Failure::usage("an invite with this label is for a person")
                .hint("pass `--person NAME` alone"));
        }
        labels.insert(name.to_owned(), value.to_owned());
    }
    let terms = InviteTerms { labels, ephemeral: args.ephemeral, uses: args.uses, expires };
    let code = code(&author, &keys, terms, (from, args.server))?;
    let until = eclusa_fleet::time_text(expires);
    if let (Some(person), Some(server)) = (args.person, &code.server) {
        let link = link(server, &code);
        if json {
            screen.json(&json!({"person": person, "link": link, "expires": until}))?;
            return Ok(Exit::Done);
        }
        screen.line(&sanitize(&format!("{person} opens this, before {until}:")))?;
        screen.verbatim(Style::Strong, &link)?;
        return Ok(Exit::Done);
    }
    if json {
        screen.json(&json!({"code": code.to_string(), "expires": until}))?;
        return Ok(Exit::Done);
    }
    screen.line(&format!("run this on the machine, before {until}:"))?;
    screen.verbatim(Style::Strong, &format!("eclusa fleet enroll {code}"))?;
    Ok(Exit::Done)
}

/// Where a person makes a key with this code, which no server is sent in an address.
pub(super) fn link(server: &str, code: &EnrolmentCode) -> String {
    format!("{}/join#{code}", server.trim_end_matches('/'))
}

/// What a machine is that is let in.
pub(super) struct InviteTerms {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) ephemeral: bool,
    pub(super) uses: u32,
    pub(super) expires: u64,
}

/// A code with which machines enrol that find the documents here.
pub(super) fn code(
    author: &Author,
    keys: &[SigningKey],
    terms: InviteTerms,
    (from, server): (String, Option<String>),
) -> Result<EnrolmentCode, Failure> {
    let failed = |err| Failure::failed(format!("the system gives no random bytes: {err}"));
    let id = random_name::<8>().map_err(failed)?;
    let secret = random_name::<32>().map_err(failed)?;
    let digest = Digest::compute(secret.as_bytes());
    let InviteTerms { labels, ephemeral, uses, expires } = terms;
    let invite = Invite { id, labels, ephemeral, uses, secret: digest };
    Ok(EnrolmentCode {
        fleet: author.root().name.clone(),
        from,
        root: author.root().digest.to_string(),
        invite: author.invite(&invite, expires, keys).map_err(Failure::usage)?,
        secret,
        server,
    })
}
