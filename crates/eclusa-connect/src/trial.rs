//! How an agent is started for a trial: with a copy of the person's own settings, and a scripted
//! model in the place of its own.

use eclusa_config::jsonc;
use serde_json::{Map, Value};

/// What is particular to an agent that is tried.
pub(crate) struct TrialSpec {
    /// What it is started with.
    pub(crate) arguments: &'static [&'static str],
    /// What has it run hooks that nobody has trusted, put before the last argument.
    pub(crate) untrusted: &'static [&'static str],
    /// Its variables; `HOME` in a value is the home of the trial, `URL` is where the model is.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// The call of its shell tool that runs a command: the names that the tool has in one version or
    /// another, and its arguments.
    pub(crate) shell_call: fn(&str) -> (&'static [&'static str], Value),
    /// True when its hooks depend on settings in files without hooks.
    pub(crate) all_settings: bool,
    /// The person's settings without what leads to their own model and servers.
    pub(crate) settings: fn(&str) -> Result<String, String>,
    /// The file below the home that names the scripted model, and its text, made from what stands
    /// there and the model's address.
    pub(crate) model: Option<ModelFile>,
}

/// A file, and what makes its text.
pub(crate) type ModelFile = (&'static str, fn(&str, &str) -> Result<String, String>);

/// The settings in a JSON file without what leads to the person's own model and servers.
pub(crate) fn neutral_settings(text: &str) -> Result<Map<String, Value>, String> {
    let settings = jsonc::read(text).map_err(|err| err.to_string())?;
    let Value::Object(mut fields) = settings else {
        return Err("its settings are not an object".to_owned());
    };
    for key in ["apiKeyHelper", "env", "model", "mcpServers", "statusLine", "enabledPlugins"] {
        fields.remove(key);
    }
    Ok(fields)
}
