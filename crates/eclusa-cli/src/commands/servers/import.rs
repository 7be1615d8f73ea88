//! `eclusa servers import`: servers from the configuration of other agents.
//!
//! What an agent was told of a server is brought over, but no value of a variable or header: those
//! are often secrets, and a configuration is no place for them.

use std::path::{Path, PathBuf};

use eclusa::ServerSettings;
use serde_json::{Value, json};

use super::{add::file, settings};
use crate::{
    args::Client,
    commands::policy::import::jsonc,
    failure::{Exit, Failure},
    screen::{Screen, Style, harmless},
    servers::written,
    workplace::Workplace,
};

mod entry;
mod places;
mod toml;

/// What becomes of the servers that were found.
#[derive(Default)]
struct Brought {
    servers: Vec<Found>,
    left: Vec<Left>,
}

/// A server that can be brought over.
struct Found {
    settings: ServerSettings,
    from: PathBuf,
    /// What was told of it and is not brought over.
    notes: Vec<String>,
}

/// A server that is not brought over.
struct Left {
    name: String,
    from: PathBuf,
    why: String,
}

pub(super) fn run(
    here: &Workplace,
    from_file: Option<&Path>,
    from: Option<Client>,
    json: bool,
) -> Result<Exit, Failure> {
    let to = file(here)?;
    let sources = match from_file {
        Some(file) => vec![places::Source::named(file)],
        None => places::known(from, here),
    };
    let mut brought = Brought::default();
    let mut read = 0;
    for source in &sources {
        let Some(text) = source.text()? else { continue };
        read += 1;
        let wrong = |why: String| {
            Failure::usage(format!("`{}` cannot be read: {why}", source.file.display()))
        };
        let value = match source.is_toml() {
            true => toml::read(&text),
            false => jsonc::read(&text),
        };
        brought.take(here, source, &value.map_err(wrong)?)?;
    }
    if read == 0 {
        let files: Vec<String> =
            sources.iter().map(|it| format!("`{}`", it.file.display())).collect();
        return Err(Failure::usage(format!("there is nothing to import: no {}", files.join(", "))));
    }
    if !here.dry_run {
        let new: Vec<ServerSettings> =
            brought.servers.iter().map(|it| it.settings.clone()).collect();
        written::add(to, &new)?;
    }
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&brought.as_json())?,
        false => brought.print(here, to, &mut screen)?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

impl Brought {
    /// Takes what there is in one file.
    fn take(
        &mut self,
        here: &Workplace,
        source: &places::Source,
        value: &Value,
    ) -> Result<(), Failure> {
        let redactor = here.redactor()?;
        for (name, written) in source.servers(value) {
            let left = |why: String| Left { name: name.clone(), from: source.file.clone(), why };
            let read = match entry::read(&name, &written) {
                Ok(read) => read,
                Err(why) => {
                    self.left.push(left(why));
                    continue;
                }
            };
            let taken = here.config.servers.iter().map(|it| (&it.name, &it.reach));
            let ours = self.servers.iter().map(|it| (&it.settings.name, &it.settings.reach));
            let same = taken.chain(ours).find(|(it, _)| **it == read.settings.name);
            let why = match same {
                Some((_, reach)) if *reach == read.settings.reach => {
                    Some("it is behind the gate already".to_owned())
                }
                Some(_) => Some("another server has its name already".to_owned()),
                None => written::secret_in(&read.settings, &redactor),
            };
            match why {
                Some(why) => self.left.push(left(why)),
                None => self.servers.push(Found {
                    settings: read.settings,
                    from: source.file.clone(),
                    notes: read.notes,
                }),
            }
        }
        Ok(())
    }

    /// The variables that have to be set, each once.
    fn variables(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self
            .servers
            .iter()
            .flat_map(|it| {
                let headers = match &it.settings.reach {
                    eclusa::Reach::Url { headers, .. } => Some(headers.values()),
                    eclusa::Reach::Command(_) => None,
                };
                it.settings.env.iter().chain(headers.into_iter().flatten()).map(String::as_str)
            })
            .filter(|it| std::env::var_os(it).is_none())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn print(&self, here: &Workplace, to: &Path, screen: &mut Screen) -> Result<(), Failure> {
        let path = |it: &Path| harmless(&it.display().to_string());
        let (count, to) = (self.servers.len(), path(to));
        screen.line(&match (count, here.dry_run) {
            (0, _) => "nothing was brought over".to_owned(),
            (1, false) => format!("1 server is behind the gate now, in {to}"),
            (_, false) => format!("{count} servers are behind the gate now, in {to}"),
            (1, true) => format!("1 server would be written to {to}"),
            (_, true) => format!("{count} servers would be written to {to}"),
        })?;
        for it in &self.servers {
            let name = &it.settings.name;
            screen.styled(Style::Good, &format!("  {name} (from {})", path(&it.from)))?;
            for note in &it.notes {
                screen.line(&format!("    not brought over: {}", harmless(note)))?;
            }
        }
        for it in &self.left {
            let text = format!("  {} (from {}): {}", it.name, path(&it.from), it.why);
            screen.styled(Style::Warn, &harmless(&text))?;
        }
        let variables = self.variables();
        if !variables.is_empty() {
            screen.line("set these in your environment; no value was copied:")?;
            for name in variables {
                screen.line(&format!("  {name}"))?;
            }
        }
        if count > 0 {
            screen.line(
                "they reach no host until `hosts` names it; `eclusa servers test NAME` says which \
                 they tried",
            )?;
            screen.line(
                "take them out of the other file and put `eclusa mcp` there: see docs/agents.md",
            )?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let found = |it: &Found| json!({"server": settings(&it.settings), "from": it.from, "left_out": it.notes});
        let left = |it: &Left| json!({"name": it.name, "from": it.from, "why": it.why});
        json!({
            "imported": self.servers.iter().map(found).collect::<Vec<_>>(),
            "left": self.left.iter().map(left).collect::<Vec<_>>(),
            "variables": self.variables(),
        })
    }
}
