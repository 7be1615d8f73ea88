//! The other servers of an agent: put behind the gate where they stand, and given back.
//!
//! A server's program becomes an argument of `eclusa mcp --wrap`. Its name, its variables and
//! everything else of its entry stay as they are, so the agent still finds the same tools. A server
//! at an address becomes a program of ours.

use eclusa_config::jsonc::{self, JsoncError};
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, TableLike};

use crate::{entry_error::EntryError, mapped::SERVER};

mod address;

/// The words that tell a server which was moved by an installation.
const MOVED: [&str; 3] = ["mcp", "--wrap", "--installed"];

/// A server in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedServer {
    /// What the agent calls it.
    pub name: String,
    /// Where it stands.
    pub position: ServerPosition,
}

/// Where a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerPosition {
    /// Its calls pass the gate, and its program runs in a sandbox.
    Behind,
    /// An installation puts it behind the gate.
    Movable,
    /// It stays in front of the gate, for this reason.
    Left(&'static str),
}

/// How an agent writes the command of a server.
#[derive(Debug, Clone, Copy)]
enum CommandForm {
    /// `command` is the program, `args` are its arguments.
    Apart,
    /// `command` is a list of both.
    List,
    /// `command` is an object with `path` and `args`.
    Nested,
}

impl CommandForm {
    fn program_path(self) -> &'static [&'static str] {
        match self {
            CommandForm::Apart | CommandForm::List => &["command"],
            CommandForm::Nested => &["command", "path"],
        }
    }

    fn args_path(self) -> &'static [&'static str] {
        match self {
            CommandForm::Apart | CommandForm::List => &["args"],
            CommandForm::Nested => &["command", "args"],
        }
    }
}

/// A server's program and arguments.
struct ServerCommand {
    form: CommandForm,
    words: Vec<String>,
    variables: Vec<String>,
}

impl ServerCommand {
    /// Reads an entry. The error says why the server cannot be moved.
    fn read(entry: &Value) -> Result<ServerCommand, &'static str> {
        if address::is_address(entry) {
            return Err("it is at an address; `eclusa servers add NAME --url URL` has it instead");
        }
        if entry.get("envFile").is_some() {
            return Err("it takes variables from a file");
        }
        let odd = "its command is written in a way that is not known here";
        let texts = |it: Option<&Value>| match it {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(all)) => {
                all.iter().map(|it| it.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            }
            Some(_) => None,
        };
        let (form, words) = match entry.get("command") {
            Some(Value::String(program)) => {
                let args = texts(entry.get("args")).ok_or(odd)?;
                (CommandForm::Apart, std::iter::once(program.clone()).chain(args).collect())
            }
            Some(list @ Value::Array(_)) if entry.get("args").is_none() => {
                (CommandForm::List, texts(Some(list)).ok_or(odd)?)
            }
            Some(Value::Object(inner)) => {
                let program = inner.get("path").and_then(Value::as_str).ok_or(odd)?.to_owned();
                let args = texts(inner.get("args")).ok_or(odd)?;
                (CommandForm::Nested, std::iter::once(program).chain(args).collect())
            }
            _ => return Err("it has no program of its own"),
        };
        let words: Vec<String> = words;
        if words.first().is_none_or(String::is_empty) {
            return Err(odd);
        }
        let variables = variables(entry).ok_or("a variable of it has an odd name")?;
        Ok(ServerCommand { form, words, variables })
    }

    /// The arguments of a program that is ours, or was put in front of the server by us.
    fn args(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str)
    }

    fn is_moved(&self) -> bool {
        self.args().take(MOVED.len()).eq(MOVED)
    }

    fn is_behind(&self) -> bool {
        let program = self.words.first().map(String::as_str).unwrap_or_default();
        let stem = program.rsplit('/').next().unwrap_or_default();
        self.is_moved() || (stem == "eclusa" && self.args().next() == Some("mcp"))
    }

    /// The words behind the gate; `None` where nothing changes.
    fn moved(&self, name: &str, program: &str) -> Option<Vec<String>> {
        let mut words = vec![program.to_owned()];
        match (self.is_moved(), self.is_behind()) {
            // Our program may be elsewhere now; what a person added to the rest stays.
            (true, _) => words.extend(self.args().map(str::to_owned)),
            (false, true) => return None,
            (false, false) => {
                words.extend(MOVED.map(str::to_owned));
                words.extend(["--name".to_owned(), server_name(name)]);
                let variables = self.variables.iter();
                words.extend(variables.flat_map(|it| ["--env".to_owned(), it.clone()]));
                words.push("--".to_owned());
                words.extend(self.words.iter().cloned());
            }
        }
        (words != self.words).then_some(words)
    }

    /// The server's own words, where an installation moved it.
    fn given_back(&self) -> Option<Vec<String>> {
        let mut words = self.words.iter().skip_while(|it| *it != "--").skip(1);
        let own: Vec<String> = words.by_ref().cloned().collect();
        (self.is_moved() && !own.is_empty()).then_some(own)
    }
}

/// The names of the variables that an entry sets or passes on; `None` where one is no name.
fn variables(entry: &Value) -> Option<Vec<String>> {
    let inner = entry.get("command");
    let objects = [entry.get("env"), entry.get("environment"), inner.and_then(|it| it.get("env"))];
    let objects = objects.into_iter().flatten().filter_map(Value::as_object);
    let mut all: Vec<String> = objects.flat_map(|it| it.keys().cloned()).collect();
    for it in entry.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
        all.push(it.as_str().or_else(|| it.get("name").and_then(Value::as_str))?.to_owned());
    }
    all.sort();
    all.dedup();
    let is_name = |it: &String| {
        !it.is_empty()
            && !it.starts_with(|it: char| it.is_ascii_digit())
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    all.iter().all(is_name).then_some(all)
}

/// A name for a server that rules and records can use.
pub fn server_name(name: &str) -> String {
    let plain = |it: char| match it {
        it if it.is_ascii_alphanumeric() || it == '-' => it,
        _ => '_',
    };
    let name: String = name.chars().map(plain).take(32).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// Which way servers are moved.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direction<'a> {
    /// Behind the gate, with this program of ours.
    Behind(&'a str),
    /// Back to where they were.
    Back,
}

impl Direction<'_> {
    fn words(self, name: &str, command: &ServerCommand) -> Option<Vec<String>> {
        match self {
            Direction::Behind(program) => command.moved(name, program),
            Direction::Back => command.given_back(),
        }
    }
}

/// All servers in lists of a JSON file. `*` in the path of a list stands for every key.
pub(crate) fn listed_json(
    text: &str,
    lists: &[Vec<&str>],
) -> Result<Vec<ListedServer>, EntryError> {
    let all = json_servers(text, lists)?;
    let listed = |(path, entry): &(Vec<String>, Value)| match address::position(entry) {
        Some(position) => ListedServer { name: last(path).to_owned(), position },
        None => listed(last(path), entry),
    };
    Ok(all.iter().map(listed).collect())
}

/// All servers in a table of a TOML file.
pub(crate) fn listed_toml(text: &str, path: &[&str]) -> Result<Vec<ListedServer>, EntryError> {
    let mut document = document(text)?;
    let Some(servers) = servers_table(&mut document, path) else { return Ok(Vec::new()) };
    let all = servers.iter().filter(|(name, _)| *name != SERVER);
    Ok(all.map(|(name, item)| listed(name, &toml_value(item))).collect())
}

/// The text with all servers of a JSON file moved.
pub(crate) fn move_json(
    text: &str,
    lists: &[Vec<&str>],
    direction: Direction<'_>,
) -> Result<String, EntryError> {
    let mut text = text.to_owned();
    for (path, entry) in json_servers(&text, lists)? {
        if let Some(new) = address::edited(&text, &path, &entry, direction)? {
            text = new;
            continue;
        }
        let Ok(command) = ServerCommand::read(&entry) else { continue };
        let Some(words) = direction.words(last(&path), &command) else { continue };
        let within = |inner: &[&'static str]| -> Vec<String> {
            path.iter().cloned().chain(inner.iter().map(|it| (*it).to_owned())).collect()
        };
        let set = |text: &str, path: Vec<String>, value: &Value| {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            jsonc::set(text, &keys, value)
        };
        let form = command.form;
        let Some((program, args)) = words.split_first() else { continue };
        text = match form {
            CommandForm::List => set(&text, within(&["command"]), &json!(words))?,
            CommandForm::Apart | CommandForm::Nested => {
                let text = set(&text, within(form.program_path()), &json!(program))?;
                let place = within(form.args_path());
                match args.is_empty() {
                    true => {
                        let keys: Vec<&str> = place.iter().map(String::as_str).collect();
                        jsonc::remove(&text, &keys)?
                    }
                    false => set(&text, place, &json!(args))?,
                }
            }
        };
    }
    Ok(text)
}

/// The text with all servers of a TOML file moved.
pub(crate) fn move_toml(
    text: &str,
    path: &[&str],
    direction: Direction<'_>,
) -> Result<String, EntryError> {
    let mut document = document(text)?;
    let Some(servers) = servers_table(&mut document, path) else { return Ok(text.to_owned()) };
    let mut changed = false;
    for (name, item) in servers.iter_mut() {
        let name = name.get().to_owned();
        let value = toml_value(item);
        let (Ok(command), Some(entry)) = (ServerCommand::read(&value), item.as_table_like_mut())
        else {
            continue;
        };
        if name == SERVER || !matches!(command.form, CommandForm::Apart) {
            continue;
        }
        let Some(words) = direction.words(&name, &command) else { continue };
        let Some((program, args)) = words.split_first() else { continue };
        replace(entry, "command", program.into());
        match args.is_empty() {
            true => drop(entry.remove("args")),
            false => replace(entry, "args", args.iter().collect::<Array>().into()),
        }
        changed = true;
    }
    Ok(match changed {
        true => jsonc::like_lines_of(text, &document.to_string()).into_owned(),
        false => text.to_owned(),
    })
}

fn listed(name: &str, entry: &Value) -> ListedServer {
    let position = match ServerCommand::read(entry) {
        Ok(command) if command.is_behind() => ServerPosition::Behind,
        Ok(_) => ServerPosition::Movable,
        Err(why) => ServerPosition::Left(why),
    };
    ListedServer { name: name.to_owned(), position }
}

fn last(path: &[String]) -> &str {
    path.last().map(String::as_str).unwrap_or_default()
}

/// Servers with where they stand, but for our own.
fn json_servers(text: &str, lists: &[Vec<&str>]) -> Result<Vec<(Vec<String>, Value)>, JsoncError> {
    let root = jsonc::read(text)?;
    let mut all = Vec::new();
    for list in lists {
        let mut reached = vec![(Vec::new(), &root)];
        // The list, and then each server in it.
        for key in list.iter().chain(&["*"]) {
            let mut next = Vec::new();
            for (path, value) in reached {
                let members = value.as_object().into_iter().flatten();
                for (name, inner) in members.filter(|(name, _)| *key == "*" || name == key) {
                    let path: Vec<String> = path.iter().chain([name]).cloned().collect();
                    next.push((path, inner));
                }
            }
            reached = next;
        }
        let others =
            reached.into_iter().filter(|(path, it)| last(path) != SERVER && it.is_object());
        all.extend(others.map(|(path, it)| (path, it.clone())));
    }
    Ok(all)
}

fn document(text: &str) -> Result<DocumentMut, EntryError> {
    text.parse::<DocumentMut>().map_err(|err| EntryError(err.to_string().trim().to_owned()))
}

fn servers_table<'a>(
    document: &'a mut DocumentMut,
    path: &[&str],
) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in path {
        table = table.get_mut(key)?.as_table_like_mut()?;
    }
    Some(table)
}

/// A value in the place of another, with the comments around it.
fn replace(table: &mut dyn TableLike, key: &str, mut new: toml_edit::Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, Item::Value(new))),
    }
}

/// What of an entry says how its server is started.
fn toml_value(item: &Item) -> Value {
    let value = |it: &toml_edit::Value| match it {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Array(all) => {
            let name = |it: &toml_edit::Value| {
                let inner = it.as_inline_table().and_then(|it| it.get("name")?.as_str());
                it.as_str().or(inner).map_or(Value::Null, Value::from)
            };
            all.iter().map(name).collect()
        }
        _ => Value::Null,
    };
    let Some(table) = item.as_table_like() else { return Value::Null };
    let field = |(name, item): (&str, &Item)| {
        let value = match (item.as_table_like(), item.as_value()) {
            (Some(inner), _) => inner.iter().map(|(name, _)| (name, Value::Null)).collect(),
            (None, Some(it)) => value(it),
            (None, None) => Value::Null,
        };
        (name.to_owned(), value)
    };
    Value::Object(table.iter().map(field).collect())
}
