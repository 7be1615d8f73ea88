//! Servers at an address. The entry becomes one of a program of ours that reaches the server, and
//! keeps what it was, address and headers, as a variable of itself: nothing of it is written
//! anywhere else, and it is given back byte for byte.

use eclusa_config::{
    ServerAddress,
    jsonc::{self, JsoncError},
};
use serde_json::{Map, Value, json};

use super::{Direction, MOVED, ServerPosition, last, server_name};

/// The variable that holds the entry as it was, and the option that names it.
const VARIABLE: &str = "ECLUSA_SERVER";
const OPTION: &str = "--address-in";

/// What says that the agent logs in.
const LOGINS: [&str; 3] = ["oauth", "auth", "authProviderType"];

const LOGIN: &str = "no header lets us in: the agent logs in to it by itself where it must, and \
                     that login is the agent's alone; `eclusa servers add NAME --url URL` and \
                     `eclusa servers login NAME` have it instead";

/// True when an entry is one of a server at an address.
pub(super) fn is_address(entry: &Value) -> bool {
    ServerAddress::KEYS.iter().any(|it| entry.get(it).is_some())
}

/// Where a server at an address stands; `None` for any other entry.
pub(super) fn position(entry: &Value) -> Option<ServerPosition> {
    is_address(entry).then(|| obstacle(entry).map_or(ServerPosition::Movable, ServerPosition::Left))
}

/// The text with a server at an address moved; `None` for any other entry.
pub(super) fn edited(
    text: &str,
    path: &[String],
    entry: &Value,
    direction: Direction<'_>,
) -> Result<Option<String>, JsoncError> {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    match (direction, source(entry)) {
        (Direction::Back, Some(source)) => jsonc::set_source(text, &keys, source).map(Some),
        (Direction::Behind(program), _) if is_address(entry) => {
            let source = jsonc::source_at(text, &keys)?.unwrap_or_default();
            match moved(last(path), entry, &source, program) {
                Some(new) => jsonc::set(text, &keys, &new).map(Some),
                None => Ok(Some(text.to_owned())),
            }
        }
        _ => Ok(None),
    }
}

/// Why a server at an address stays where it is, if it does.
fn obstacle(entry: &Value) -> Option<&'static str> {
    let logs_in = LOGINS.iter().any(|it| entry.get(it).is_some_and(|it| *it != json!(false)));
    match ServerAddress::read(entry) {
        Err(why) => Some(why),
        Ok(_) if entry.get("command").is_some() || entry.get("env").is_some() => {
            Some(ServerAddress::ODD)
        }
        Ok(address) if logs_in || address.headers.is_empty() => Some(LOGIN),
        Ok(_) => None,
    }
}

/// The entry behind the gate, where `source` is how it is written.
fn moved(name: &str, entry: &Value, source: &str, program: &str) -> Option<Value> {
    if obstacle(entry).is_some() {
        return None;
    }
    let mut words = MOVED.map(str::to_owned).to_vec();
    words.extend(["--name", &server_name(name), OPTION, VARIABLE].map(str::to_owned));
    let mut new = Map::new();
    // One agent writes program and arguments as a list.
    let is_list = entry.get("type").and_then(Value::as_str) == Some("remote");
    if is_list {
        words.insert(0, program.to_owned());
        new.insert("type".to_owned(), json!("local"));
        new.insert("command".to_owned(), json!(words));
        new.insert("environment".to_owned(), json!({ VARIABLE: source }));
    } else {
        if entry.get("type").is_some() {
            new.insert("type".to_owned(), json!("stdio"));
        }
        new.insert("command".to_owned(), json!(program));
        new.insert("args".to_owned(), json!(words));
        new.insert("env".to_owned(), json!({ VARIABLE: source }));
    }
    let gone =
        |it: &str| ServerAddress::KEYS.contains(&it) || LOGINS.contains(&it) || it == "headers";
    for (name, value) in entry.as_object()?.iter().filter(|(name, _)| !gone(name)) {
        new.entry(name.as_str()).or_insert_with(|| value.clone());
    }
    Some(Value::Object(new))
}

/// How an entry was written, where an installation moved it.
fn source(entry: &Value) -> Option<&str> {
    let words = entry.get("args").or(entry.get("command"))?.as_array()?;
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let is_moved = words.windows(MOVED.len()).take(2).any(|it| it == MOVED);
    let is_address = words.ends_with(&[OPTION, VARIABLE]);
    let variables = entry.get("env").or(entry.get("environment"))?;
    variables.get(VARIABLE)?.as_str().filter(|_| is_moved && is_address)
}
