//! `eclusa fleet watch`: an independent witness of the seals, on a machine that need not be in the fleet.

use std::{io, path::PathBuf, time::Duration};

use eclusa::{Durability, workspace::private_file};
use eclusa_fleet::{Digest, SealWitness, Witnessed};
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    fleet::WatchedServer,
    read_text::read_text,
    screen::{Screen, Style, note, sanitize},
    signals::asked_to_end,
};

/// Watch the seals of a fleet: whether what was sealed stays what it was
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet watch URL --root DIGEST --file seen.json
  eclusa fleet watch URL --root DIGEST --file seen.json --once   from a timer

Run it where neither the server nor its database is. It keeps the last seal in its file; a seal that does not hold everything \
that was sealed before is kept beside it as evidence, and told. Exit codes: 0 everything that was sealed is as it was, 1 it \
is not, 4 the server is not reached or shows no seal.")]
pub(crate) struct WatchArgs {
    /// The server
    url: String,
    /// What was seen, from one look to the next
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// The digest of a root of the fleet, as `eclusa fleet init` printed it
    #[arg(long, value_name = "sha256:DIGEST")]
    root: String,
    /// Look once, and then end
    #[arg(long)]
    once: bool,
    /// How often to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    every: u32,
}

pub(super) async fn run(args: WatchArgs, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let root: Digest = args.root.parse().map_err(Failure::usage)?;
    let server = WatchedServer::new(&args.url)?;
    let mut witness = open(&args.file, root)?;
    let every = Duration::from_secs(args.every.into());
    let end = asked_to_end();
    tokio::pin!(end);
    let mut away: Option<String> = None;
    loop {
        let looked = tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            looked = server.look(&mut witness) => looked,
        };
        match looked {
            Ok(look) => {
                away = None;
                if let Some(why) = tell(&args.file, &witness, &look, json, screen)? {
                    return Err(Failure::failed(why).hint(
                        "the seal before and the new one prove it together: take both to whoever runs the fleet",
                    ));
                }
                screen.flush()?;
            }
            Err(why) if args.once => {
                note(&sanitize(&why));
                return Ok(Exit::Parked);
            }
            Err(why) if away.as_ref() != Some(&why) => {
                note(&sanitize(&why));
                away = Some(why);
            }
            Err(_) => {}
        }
        if args.once {
            return Ok(Exit::Done);
        }
        tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            () = tokio::time::sleep(every) => {}
        }
    }
}

fn open(file: &std::path::Path, root: Digest) -> Result<SealWitness, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::failed(format!("cannot use `{}`: {why}", file.display()))
    };
    let witness = match read_text(file) {
        Ok(text) => SealWitness::parse(&text).map_err(|err| failed(&err))?,
        Err(err) if err.kind() == io::ErrorKind::NotFound => SealWitness::new(root),
        Err(err) => return Err(failed(&err)),
    };
    match witness.root().map_err(|err| failed(&err))? == root {
        true => Ok(witness),
        false => Err(failed(&"it is of another root; name another file, or that root")),
    }
}

/// Keeps and tells what was seen. What should not be is kept as evidence, and said.
fn tell(
    state: &std::path::Path,
    witness: &SealWitness,
    look: &crate::fleet::WitnessLook,
    json: bool,
    screen: &mut Screen,
) -> Result<Option<String>, Failure> {
    let write = |file: &std::path::Path, text: String| {
        private_file::write(file, text, Durability::PowerLoss)
            .map_err(|err| Failure::failed(format!("cannot write `{}`: {err}", file.display())))
    };
    let size = witness.size();
    let (word, grown) = match &look.found {
        Witnessed::Same => ("same", 0),
        Witnessed::Grown(count) => ("grown", *count),
        Witnessed::Rewritten(why) => {
            let file = state.with_extension("evidence");
            let before = witness.note().unwrap_or_default();
            write(&file, format!("{before}\n{}", look.note))?;
            if json {
                screen.json(&json!({"seal": "rewritten", "why": why, "size": size}))?;
            }
            return Ok(Some(format!("{why}; both seals are kept in `{}`", file.display())));
        }
    };
    write(state, witness.to_text())?;
    match (json, grown) {
        (true, _) => screen.json(&json!({"seal": word, "size": size, "new": grown}))?,
        (false, 0) => {
            screen.styled(Style::Plain, &format!("nothing new: {size} heads are sealed"))?;
        }
        (false, _) => screen.styled(
            Style::Good,
            &format!(
                "{size} heads are sealed, {grown} of them new; what was sealed before is as it was"
            ),
        )?,
    }
    Ok(None)
}
