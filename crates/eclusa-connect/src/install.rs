//! Puts entries into settings and takes them out again: text in, text out, everything else as it
//! was.

use eclusa_config::jsonc;
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table};

use crate::{
    ListedServer, SettingsEntry,
    entries::EntryChange,
    entry_error::EntryError,
    servers::{self, Direction},
};

/// Whether an entry is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// It is there as it would be written.
    Present,
    /// Something is there in its place, such as an older form of it.
    Different,
    /// It is not there.
    Absent,
}

impl SettingsEntry {
    /// True when this entry is a hook, before calls or after them.
    pub fn is_hook(&self) -> bool {
        matches!(self.change, EntryChange::JsonHook { .. })
    }

    /// True when this entry connects our server.
    pub fn is_server(&self) -> bool {
        match &self.change {
            EntryChange::JsonValue { path, .. } => path.last() == Some(&"eclusa"),
            EntryChange::TomlTable { path, .. } => path.last() == Some(&"eclusa"),
            _ => false,
        }
    }

    /// True when this entry puts other servers behind the gate.
    pub fn is_other_servers(&self) -> bool {
        matches!(self.change, EntryChange::JsonServers { .. } | EntryChange::TomlServers { .. })
    }

    /// The other servers that this entry is about, and where each stands.
    pub fn other_servers(&self, text: &str) -> Result<Vec<ListedServer>, EntryError> {
        match &self.change {
            EntryChange::JsonServers { lists, .. } => servers::listed_json(text, lists),
            EntryChange::TomlServers { path, .. } => servers::listed_toml(text, path),
            _ => Ok(Vec::new()),
        }
    }

    /// Whether it is in the text of its file.
    pub fn state(&self, text: &str) -> Result<EntryState, EntryError> {
        let same = |found: bool, equal: bool| match (found, equal) {
            (true, true) => EntryState::Present,
            (true, false) => EntryState::Different,
            (false, _) => EntryState::Absent,
        };
        Ok(match &self.change {
            EntryChange::JsonHook { path, value, mark } => {
                let list = jsonc::value_at(text, path)?;
                let items = list.as_ref().and_then(Value::as_array).into_iter().flatten();
                let ours: Vec<&Value> = items.filter(|it| mentions(it, mark)).collect();
                same(
                    !ours.is_empty(),
                    ours == [value] || ours.iter().any(|it| same_hook(it, value)),
                )
            }
            EntryChange::JsonValue { path, value } => {
                let found = jsonc::value_at(text, path)?;
                same(found.is_some(), found.as_ref() == Some(value))
            }
            EntryChange::JsonListed { path, value } => {
                let list = jsonc::value_at(text, path)?;
                let mut items = list.as_ref().and_then(Value::as_array).into_iter().flatten();
                let found = items.any(|it| it == value);
                same(found, found)
            }
            EntryChange::TomlTable { path, fields } => {
                let document = toml(text)?;
                let table = path.iter().try_fold(document.as_item(), |item, key| item.get(key));
                let has = |name: &str| table.and_then(|it| it.get(name));
                let found = fields.iter().any(|(name, _)| has(name).is_some());
                let equal = fields.iter().all(|(name, value)| {
                    has(name)
                        .is_some_and(|it| it.to_string().trim() == item(value).to_string().trim())
                        || (value.is_array() && has(name).is_some_and(|it| it.is_array_of_tables()))
                });
                same(found, equal)
            }
            EntryChange::Whole { text: whole } => same(!text.is_empty(), text == whole),
            EntryChange::JsonServers { .. } | EntryChange::TomlServers { .. } => {
                let behind = self.with_servers(text)? == text;
                same(behind, behind)
            }
        })
    }

    /// The text of the file with the entry in it. What is there already stays as it is.
    pub fn add(&self, text: &str) -> Result<String, EntryError> {
        if self.state(text)? == EntryState::Present {
            return Ok(text.to_owned());
        }
        Ok(match &self.change {
            EntryChange::JsonHook { path, value, mark } => {
                // An older form of ours goes first: two hooks of ours would judge each call twice.
                let text = jsonc::remove_items(text, path, |it| mentions(it, mark))?;
                jsonc::push(&text, path, value)?
            }
            EntryChange::JsonValue { path, value } => jsonc::set(text, path, value)?,
            EntryChange::JsonListed { path, value } => {
                jsonc::push(text, path, &Value::from(*value))?
            }
            EntryChange::TomlTable { path, fields } => with_table(text, path, fields)?,
            EntryChange::Whole { text } => text.clone(),
            EntryChange::JsonServers { .. } | EntryChange::TomlServers { .. } => {
                self.with_servers(text)?
            }
        })
    }

    /// The text with other servers behind our program.
    fn with_servers(&self, text: &str) -> Result<String, EntryError> {
        match &self.change {
            EntryChange::JsonServers { lists, program } => {
                servers::move_json(text, lists, Direction::Behind(program))
            }
            EntryChange::TomlServers { path, program } => {
                servers::move_toml(text, path, Direction::Behind(program))
            }
            _ => Ok(text.to_owned()),
        }
    }

    /// The text of the file without the entry; `None` where nothing is left of it.
    pub fn remove(&self, text: &str) -> Result<Option<String>, EntryError> {
        let left = match &self.change {
            EntryChange::JsonHook { path, mark, .. } => {
                jsonc::remove_items(text, path, |it| mentions(it, mark))?
            }
            EntryChange::JsonValue { path, .. } if self.is_server() => jsonc::remove(text, path)?,
            // Nobody knows whether it was there before: it stays.
            EntryChange::JsonValue { .. } => text.to_owned(),
            EntryChange::JsonListed { path, value } => {
                jsonc::remove_items(text, path, |it| it == value)?
            }
            EntryChange::TomlTable { path, fields } => without_table(text, path, fields)?,
            EntryChange::Whole { .. } => return Ok(None),
            EntryChange::JsonServers { lists, .. } => {
                servers::move_json(text, lists, Direction::Back)?
            }
            EntryChange::TomlServers { path, .. } => {
                servers::move_toml(text, path, Direction::Back)?
            }
        };
        Ok(Some(left))
    }
}

/// True when a text anywhere in a value holds this.
fn mentions(value: &Value, mark: &str) -> bool {
    match value {
        Value::String(text) => text.contains(mark),
        Value::Array(items) => items.iter().any(|it| mentions(it, mark)),
        Value::Object(members) => members.values().any(|it| mentions(it, mark)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The same hook but for the name that nobody can guess.
fn same_hook(a: &Value, b: &Value) -> bool {
    let nameless = |value: &Value| {
        let mut value = value.clone();
        let hooks = value.get_mut("hooks").and_then(Value::as_array_mut).into_iter().flatten();
        for hook in hooks {
            if let Some(fields) = hook.as_object_mut() {
                fields.remove("name");
            }
        }
        value
    };
    nameless(a) == nameless(b)
}

fn toml(text: &str) -> Result<DocumentMut, EntryError> {
    text.parse::<DocumentMut>().map_err(|err| EntryError(err.to_string().trim().to_owned()))
}

fn with_table(text: &str, path: &[&str], fields: &[(&str, Value)]) -> Result<String, EntryError> {
    let mut document = toml(text)?;
    let mut table: &mut Table = document.as_table_mut();
    for (depth, key) in path.iter().enumerate() {
        let entry = table.entry(key).or_insert_with(|| {
            let mut new = Table::new();
            new.set_implicit(depth + 1 < path.len());
            Item::Table(new)
        });
        table = entry
            .as_table_mut()
            .ok_or_else(|| EntryError(format!("`{}` is not a table", path.join("."))))?;
    }
    for (name, value) in fields {
        match (value.as_array(), table.get_mut(name)) {
            // A list of tables gets one more, before those of others.
            (Some(items), Some(Item::ArrayOfTables(list))) => list.extend(tables(items)),
            _ => drop(table.insert(name, item(value))),
        }
    }
    Ok(written(text, &document))
}

fn without_table(
    text: &str,
    path: &[&str],
    fields: &[(&str, Value)],
) -> Result<String, EntryError> {
    let mut document = toml(text)?;
    let Some((last, above)) = path.split_last() else {
        for (name, _) in fields {
            document.remove(name);
        }
        return Ok(written(text, &document));
    };
    let mut table: &mut Table = document.as_table_mut();
    for key in above {
        match table.get_mut(key).and_then(Item::as_table_mut) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    if *last == "eclusa" {
        table.remove(last);
    } else if let Some(inner) = table.get_mut(last).and_then(Item::as_table_mut) {
        for (name, _) in fields {
            inner.remove(name);
        }
        if inner.is_empty() {
            table.remove(last);
        }
    }
    Ok(written(text, &document))
}

/// A document with the line ends of the text that it was made of.
pub(crate) fn written(text: &str, document: &DocumentMut) -> String {
    jsonc::like_lines_of(text, &document.to_string()).into_owned()
}

/// A value of JSON in TOML. Lists of objects are tables of their own.
fn item(value: &Value) -> Item {
    match value {
        Value::Array(items) if items.iter().all(Value::is_object) && !items.is_empty() => {
            Item::ArrayOfTables(tables(items).into_iter().collect::<ArrayOfTables>())
        }
        value => Item::Value(scalar(value)),
    }
}

fn tables(items: &[Value]) -> Vec<Table> {
    let table = |it: &Value| {
        let fields = it.as_object().into_iter().flatten();
        fields.map(|(key, value)| (key.clone(), item(value))).collect::<Table>()
    };
    items.iter().map(table).collect()
}

fn scalar(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::Array(items) => items.iter().map(scalar).collect::<Array>().into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.as_str(), scalar(value)));
            fields.collect::<InlineTable>().into()
        }
        Value::Null => "".into(),
    }
}
