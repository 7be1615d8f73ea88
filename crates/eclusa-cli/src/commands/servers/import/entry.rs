//! One server, as other agents write it.

use std::{collections::BTreeMap, path::Path, time::Duration};

use eclusa::settings::{Endpoint, ServerSettings};
use eclusa_connect::server_name;
use serde_json::{Map, Value};

/// A server that could be read, and what of it is not brought over.
pub(super) struct ServerEntry {
    pub(super) settings: ServerSettings,
    pub(super) notes: Vec<String>,
}

/// What is understood; everything else is told.
const KNOWN: [&str; 21] = [
    "command",
    "args",
    "env",
    "environment",
    "env_vars",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "type",
    "transport",
    "disabled",
    "enabled",
    "startup_timeout_sec",
    "source",
    "name",
    "description",
    "gallery",
];

/// Reads one. The error says why it cannot be brought over.
pub(super) fn read(name: &str, written: &Value) -> Result<ServerEntry, String> {
    let fields = written.as_object().ok_or("it is no table")?;
    let flag = |key: &str| fields.get(key).and_then(Value::as_bool);
    if flag("disabled") == Some(true) || flag("enabled") == Some(false) {
        return Err("it is switched off there".to_owned());
    }
    let mut notes = Vec::new();
    let called = server_name(name);
    if called != name {
        notes.push(format!("its name `{name}`; it is `{called}` here"));
    }
    let reach = reach(&called, fields, &mut notes)?;
    let mut settings = ServerSettings::new(&called, reach);
    settings.env = match settings.reach {
        Endpoint::Command(_) => variables(fields, &mut notes),
        Endpoint::Url { .. } => Vec::new(),
    };
    if let Some(seconds) = fields.get("startup_timeout_sec").and_then(Value::as_f64) {
        // Whole seconds, and no fewer than one.
        settings.start = Duration::from_secs_f64(seconds.clamp(1.0, 3600.0).ceil());
    }
    for (key, value) in fields.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())) {
        notes.push(match (key.as_str(), value) {
            ("trust", _) => "`trust`: say `trusted = true` here if you mean it".to_owned(),
            ("cwd", Value::String(_)) => "`cwd`: it starts in the workspace here".to_owned(),
            _ => format!("`{key}`"),
        });
    }
    Ok(ServerEntry { settings, notes })
}

fn reach(
    name: &str,
    fields: &Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<Endpoint, String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    if let Some(url) = text("httpUrl").or_else(|| text("url")).or_else(|| text("serverUrl")) {
        let kind = text("type").or_else(|| text("transport"));
        if kind == Some("sse") || (url.ends_with("/sse") && kind.is_none()) {
            return Err("it speaks SSE, which is not spoken here; look for its address over \
                        streamable HTTP"
                .to_owned());
        }
        return Ok(Endpoint::Url { url: url.to_owned(), headers: headers(name, fields, notes) });
    }
    let command = match fields.get("command") {
        Some(Value::String(program)) if !program.is_empty() => program.clone(),
        // Zed writes one more level.
        Some(Value::Object(deeper)) => match deeper.get("path").and_then(Value::as_str) {
            Some(path) => path.to_owned(),
            None => return Err("its command has no program".to_owned()),
        },
        // opencode writes the program and its arguments as one list.
        Some(Value::Array(words)) => match words.first().and_then(Value::as_str) {
            Some(program) if !program.is_empty() => program.to_owned(),
            _ => return Err("its command has no program".to_owned()),
        },
        _ => return Err("it has neither a command nor an address".to_owned()),
    };
    if Path::new(&command).file_stem().is_some_and(|it| it == "eclusa") {
        return Err("it is eclusa itself".to_owned());
    }
    let listed = fields.get("command").and_then(Value::as_array).into_iter().flatten().skip(1);
    let args = fields.get("args").and_then(Value::as_array).into_iter().flatten();
    let args = listed.chain(args);
    let args = args.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    let all: Vec<String> = std::iter::once(command).chain(args).collect();
    if let Some(odd) = all.iter().find(|it| it.contains("${")) {
        // The part that names no value: it may be a default, and that a secret.
        let inner = odd.split("${").nth(1).and_then(|it| it.split('}').next()).unwrap_or_default();
        let variable = inner.split(":-").next().unwrap_or_default();
        return Err(format!(
            "its command uses `${{{variable}}}`, which is not filled in here; write the value, or \
             a script that fills it in"
        ));
    }
    Ok(Endpoint::Command(all))
}

/// The names of the variables that its program sees.
fn variables(fields: &Map<String, Value>, notes: &mut Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let object = |key: &str| fields.get(key).and_then(Value::as_object).into_iter().flatten();
    for (name, value) in object("env").chain(object("environment")) {
        all.push(name.clone());
        if let Some(other) = value.as_str().and_then(only_variable).filter(|it| it != name) {
            notes.push(format!("`{name}` was set from `{other}`: set `{name}` itself"));
        }
    }
    for it in fields.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
        let name = it.as_str().or_else(|| it.get("name").and_then(Value::as_str));
        all.extend(name.map(str::to_owned));
    }
    all.sort();
    all.dedup();
    all
}

/// Headers, and the variables that are to hold their values.
fn headers(
    name: &str,
    fields: &Map<String, Value>,
    notes: &mut Vec<String>,
) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let object = |key: &str| fields.get(key).and_then(Value::as_object).into_iter().flatten();
    for (header, value) in object("headers").chain(object("http_headers")) {
        let variable = value.as_str().and_then(only_variable);
        let variable = variable.unwrap_or_else(|| {
            let made = variable_for(name, header);
            notes.push(format!("the value of header `{header}`: put it into `{made}`"));
            made
        });
        all.insert(header.clone(), variable);
    }
    for (header, variable) in object("env_http_headers") {
        all.extend(variable.as_str().map(|it| (header.clone(), it.to_owned())));
    }
    if let Some(token) = fields.get("bearer_token_env_var").and_then(Value::as_str) {
        let made = variable_for(name, "Authorization");
        notes.push(format!("the token in `{token}`: put `Bearer ` and the token into `{made}`"));
        all.insert("Authorization".to_owned(), made);
    }
    all
}

/// The variable that a value names and nothing else: `$X`, `${X}`, `${env:X}`, `{env:X}`.
fn only_variable(value: &str) -> Option<String> {
    let inner = value.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    let inner = inner.map(|it| it.strip_prefix("env:").unwrap_or(it));
    let braced = value.strip_prefix("{env:").and_then(|it| it.strip_suffix('}'));
    let name = inner.or(braced);
    let name = name.or_else(|| value.strip_prefix('$'))?;
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

/// A variable for a header of a server.
fn variable_for(server: &str, header: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let name: String = format!("{server}_{header}").chars().map(plain).collect();
    if name.starts_with(|it: char| it.is_ascii_digit()) { format!("_{name}") } else { name }
}
