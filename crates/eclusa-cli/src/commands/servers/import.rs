//! `eclusa servers import`: servers from the configuration of other agents.
//!
//! What an agent was told of a server is brought over, but no value of a variable or header: those
//! are often secrets, and a configuration is no place for them.

use std::path::{Path, PathBuf};

use eclusa::settings::ServerSettings;
use eclusa_connect::{AgentSpec, server_lists};
use serde_json::{Value, json};

use super::{add::file, settings};
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    servers::config_edit,
    toml_json,
};

mod entry;
mod sources;

/// What becomes of the servers that were found.
#[derive(Default)]
struct Import {
    servers: Vec<ImportedServer>,
    left: Vec<Skipped>,
}

/// A server that can be brought over.
struct ImportedServer {
    settings: ServerSettings,
    from: PathBuf,
    /// What was told of it and is not brought over.
    notes: Vec<String>,
}

/// A server that is not brought over.
struct Skipped {
    name: String,
    from: PathBuf,
    why: String,
}

pub(super) fn run(
    ctx: &AppContext,
    from_file: Option<&Path>,
    from: Option<&AgentSpec>,
    json: bool,
) -> Result<Exit, Failure> {
    let to = file(ctx)?;
    let sources = match from_file {
        Some(file) => vec![sources::ServerFile::from_argument(file)],
        None => sources::known(from, ctx),
    };
    let mut brought = Import::default();
    let mut read = 0;
    for source in &sources {
        let Some(text) = source.text()? else { continue };
        read += 1;
        let wrong = |why: String| {
            Failure::usage(format!("`{}` cannot be read: {why}", source.file.display()))
        };
        let value = match source.is_toml() {
            true => toml_json::read(&text),
            false => eclusa_config::jsonc::read(&text).map_err(|err| err.to_string()),
        };
        let value = value.map_err(wrong)?;
        if from_file.is_some() && source.servers(&value).is_empty() {
            return Err(Failure::usage(format!(
                "`{}` names no servers: none of `{}` is in it",
                source.file.display(),
                server_lists().join("`, `")
            )));
        }
        brought.take(ctx, source, &value)?;
    }
    if read == 0 {
        let files: Vec<String> =
            sources.iter().map(|it| format!("`{}`", it.file.display())).collect();
        return Err(Failure::usage(format!("there is nothing to import: no {}", files.join(", "))));
    }
    if !ctx.dry_run {
        let new: Vec<ServerSettings> =
            brought.servers.iter().map(|it| it.settings.clone()).collect();
        config_edit::add(to, &new)?;
    }
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&brought.as_json())?,
        false => brought.print(ctx, to, &mut screen)?,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

impl Import {
    /// Takes what there is in one file.
    fn take(
        &mut self,
        ctx: &AppContext,
        source: &sources::ServerFile,
        value: &Value,
    ) -> Result<(), Failure> {
        let redactor = ctx.redactor()?;
        for (name, written) in source.servers(value) {
            let left = |why: String| Skipped { name: name.clone(), from: source.file.clone(), why };
            let read = match entry::read(&name, &written) {
                Ok(read) => read,
                Err(why) => {
                    self.left.push(left(why));
                    continue;
                }
            };
            let taken = ctx.config.servers.iter().map(|it| (&it.name, &it.reach));
            let ours = self.servers.iter().map(|it| (&it.settings.name, &it.settings.reach));
            let same = taken.chain(ours).find(|(it, _)| **it == read.settings.name);
            let why = match same {
                Some((_, reach)) if *reach == read.settings.reach => {
                    Some("it is behind the gate already".to_owned())
                }
                Some(_) => Some("another server has its name already".to_owned()),
                None => config_edit::secret_in(&read.settings, &redactor),
            };
            match why {
                Some(why) => self.left.push(left(why)),
                None => self.servers.push(ImportedServer {
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
                    eclusa::settings::Endpoint::Url { headers, .. } => Some(headers.values()),
                    eclusa::settings::Endpoint::Command(_) => None,
                };
                it.settings.env.iter().chain(headers.into_iter().flatten()).map(String::as_str)
            })
            .filter(|it| std::env::var_os(it).is_none())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn print(&self, ctx: &AppContext, to: &Path, screen: &mut Screen) -> Result<(), Failure> {
        let path = |it: &Path| sanitize(&it.display().to_string());
        let (count, to) = (self.servers.len(), path(to));
        screen.line(&match (count, ctx.dry_run) {
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
                screen.line(&format!("    not brought over: {}", sanitize(note)))?;
            }
        }
        for it in &self.left {
            let text = format!("  {} (from {}): {}", it.name, path(&it.from), it.why);
            screen.styled(Style::Warn, &sanitize(&text))?;
        }
        let variables = self.variables();
        if !variables.is_empty() {
            screen.line("set these in the environment of `eclusa`; no value was copied:")?;
            for name in variables {
                screen.line(&format!("  {name}"))?;
            }
            screen.line(
                "agents that pass on only named variables need these names too: `env_vars` in \
                 Codex, `env` in Gemini CLI",
            )?;
        }
        if count > 0 {
            screen.line(
                "they reach no host until `hosts` names it; `eclusa servers test NAME` says which \
                 they tried",
            )?;
            screen.line(
                "take them out of the other file and put `eclusa mcp` there: see docs/servers.md",
            )?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let found = |it: &ImportedServer| json!({"server": settings(&it.settings), "from": it.from, "left_out": it.notes});
        let left = |it: &Skipped| json!({"name": it.name, "from": it.from, "why": it.why});
        json!({
            "imported": self.servers.iter().map(found).collect::<Vec<_>>(),
            "left": self.left.iter().map(left).collect::<Vec<_>>(),
            "variables": self.variables(),
        })
    }
}
