//! `eclusa fleet verify`: checks an export without a network.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::PathBuf,
};

use eclusa_fleet::export::{CheckedChain, ExportCheck};
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
};

/// Check an export: chains, seals and documents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs the file and the digest of a root of the fleet, as `eclusa fleet init` printed it. Exit codes: 0 everything holds, 1 \
something does not.")]
pub(crate) struct FleetVerifyArgs {
    /// What `eclusa fleet export` wrote
    file: PathBuf,
    /// The digest of the root that counts
    #[arg(long, value_name = "sha256:DIGEST")]
    root: String,
}

pub(super) fn run(args: FleetVerifyArgs, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let name = args.file.display();
    let failed = |why: &dyn std::fmt::Display| Failure::failed(format!("`{name}`: {why}"));
    let mut check = ExportCheck::new(args.root.parse().map_err(Failure::usage)?);
    let file = File::open(&args.file).map_err(|err| failed(&err))?;
    for line in BufReader::new(file).lines() {
        check.line(&line.map_err(|err| failed(&err))?).map_err(|err| failed(&err))?;
    }
    let (chains, seal) = check.finish().map_err(|err| failed(&err))?;
    let holds = chains.iter().all(|it| it.wrong.is_none());
    let exit = if holds { Exit::Done } else { Exit::Failed };
    if json {
        let chain = |it: &CheckedChain| {
            json!({
                "chain": it.chain, "machine": it.machine, "workspace": it.workspace,
                "first": it.records.map(|it| it.0), "last": it.records.map(|it| it.1), "sealed": it.sealed,
                "wrong": it.wrong,
            })
        };
        let chains: Vec<_> = chains.iter().map(chain).collect();
        screen.json(&json!({"ok": holds, "chains": chains, "leaves": seal.map(|it| it.size)}))?;
        return Ok(exit);
    }
    for it in &chains {
        let style = if it.wrong.is_some() { Style::Bad } else { Style::Plain };
        screen.styled(style, &sanitize(&describe(it)))?;
    }
    match (holds, seal) {
        (false, _) => screen.styled(Style::Bad, "this export does not hold")?,
        (true, Some(seal)) => screen.styled(
            Style::Good,
            &format!("everything holds, by a seal over {} heads", seal.size),
        )?,
        (true, None) => screen
            .line("every chain holds; there is no seal, so that the end of each may be missing")?,
    }
    Ok(exit)
}

/// What is known of a chain, in a line.
fn describe(it: &CheckedChain) -> String {
    let CheckedChain { machine, workspace, records, sealed, wrong, .. } = it;
    let of = format!("machine {machine}, {workspace}");
    match (wrong, records) {
        (Some(why), _) => format!("{of}: does not hold: {why}"),
        (None, None) => format!("{of}: no records"),
        (None, Some((first, last))) => match sealed {
            0 => format!("{of}: records {first} to {last} hold, none is sealed"),
            sealed if sealed < last => {
                format!("{of}: records {first} to {last} hold, sealed up to {sealed}")
            }
            _ => format!("{of}: records {first} to {last} hold and are sealed"),
        },
    }
}
