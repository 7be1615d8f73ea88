//! Servers in the person's configuration: added and taken away, comments untouched.

use std::path::Path;

use eclusa::{
    Redactor,
    settings::{Endpoint, ServerSettings},
};
use eclusa_config::{Config, Layer};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use crate::{config_layers, failure::Failure, remember::replace};

/// Adds servers to a file, which need not be there yet. What could not be read afterwards is not
/// written.
pub fn add(file: &Path, servers: &[ServerSettings]) -> Result<(), Failure> {
    change(file, |document| {
        // What a file without settings says stays where it is: first.
        let lead = if document.is_empty() {
            document.trailing().as_str().unwrap_or_default().to_owned()
        } else {
            String::new()
        };
        if !lead.is_empty() {
            document.set_trailing("");
        }
        let all = document.entry("servers").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let all = all.as_table_like_mut().ok_or_else(|| {
            Failure::usage("`servers` in it is not a table, so none can be added")
        })?;
        for (at, server) in servers.iter().enumerate() {
            let mut table = table(server);
            if at == 0 && !lead.is_empty() {
                table.decor_mut().set_prefix(format!("{lead}\n"));
            }
            all.insert(&server.name, Item::Table(table));
        }
        Ok(())
    })
}

/// Takes a server out of a file. False when it is not in it.
pub fn remove(file: &Path, name: &str) -> Result<bool, Failure> {
    let mut found = false;
    change(file, |document| {
        let all = document.get_mut("servers").and_then(Item::as_table_like_mut);
        found = all.and_then(|it| it.remove(name)).is_some();
        Ok(())
    })?;
    Ok(found)
}

/// Changes a file of configuration in place. What could not be read afterwards is not written.
pub fn change(
    file: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |what: String| Failure::failed(format!("`{}` {what}", file.display()));
    let text = match crate::read_text::read_text(file) {
        Ok(text) => text,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(err) => return Err(failed(format!("cannot be read: {err}"))),
    };
    let mut document: DocumentMut =
        text.parse().map_err(|err| failed(format!("is not TOML: {err}")))?;
    change(&mut document)?;
    let new = document.to_string();
    if new == text {
        return Ok(());
    }
    let layer = Layer::of_person(file.display().to_string(), new.as_str());
    Config::load(&[layer]).map_err(config_layers::unusable)?;
    replace(file, &new).map_err(|err| failed(format!("cannot be written: {err}")))
}

/// A server as it is written. What holds unless said is not said.
fn table(server: &ServerSettings) -> Table {
    let mut table = Table::new();
    let list = |all: &[String]| value(all.iter().collect::<Array>());
    match &server.reach {
        Endpoint::Command(command) => drop(table.insert("command", list(command))),
        Endpoint::Url { url, headers } => {
            table.insert("url", value(url.as_str()));
            if !headers.is_empty() {
                let headers: InlineTable =
                    headers.iter().map(|(name, variable)| (name, variable.as_str())).collect();
                table.insert("headers", value(headers));
            }
        }
    }
    for (key, all) in [("env", &server.env), ("hosts", &server.hosts)] {
        if !all.is_empty() {
            table.insert(key, list(all));
        }
    }
    let plain = ServerSettings::new(&server.name, server.reach.clone());
    if server.workspace != plain.workspace {
        table.insert("workspace", value(server.workspace.as_str()));
    }
    if server.trusted {
        table.insert("trusted", value(true));
    }
    if !server.sandbox {
        table.insert("sandbox", value(false));
    }
    if server.start != plain.start {
        table.insert("start", value(format!("{}s", server.start.as_secs())));
    }
    table
}

/// What is wrong with writing a server to a file: secrets have no place there.
pub fn secret_in(server: &ServerSettings, redactor: &Redactor) -> Option<String> {
    let is_secret = |text: &str| redactor.text(text).1 > 0;
    match &server.reach {
        Endpoint::Command(command) => {
            let at = command.iter().position(|it| is_secret(it)).or_else(|| {
                // A flag and its value are two words, and one secret.
                command.windows(2).position(|it| is_secret(&it.join("="))).map(|it| it + 1)
            })?;
            Some(format!(
                "argument {at} of its command looks like a secret; pass it in an environment \
                 variable, named by `--env`"
            ))
        }
        Endpoint::Url { url, .. } => {
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
            (authority.contains('@') || is_secret(url)).then(|| {
                "its address has a secret in it; pass it in a header, whose value is taken from an \
                 environment variable: `--header NAME=VARIABLE`"
                    .to_owned()
            })
        }
    }
}

/// Checks the name of an environment variable.
pub fn variable(name: &str) -> Result<(), Failure> {
    let fits = !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if fits {
        Ok(())
    } else {
        Err(Failure::usage(
            "a value was given where the name of an environment variable belongs, or a name that \
             is none",
        )
        .hint("no value is written to the configuration: name its variable"))
    }
}

#[cfg(test)]
mod tests;
