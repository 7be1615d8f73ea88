//! A variable that holds the entry of a server at an address, headers included.

use std::env;

use eclusa_config::{ServerAddress, jsonc};

/// Stands between a variable with an entry and the name of one of its headers.
const OF: char = '#';

/// The name by which [`header_in_variable`] finds a header of the entry in a variable.
pub fn header_variable(variable: &str, header: &str) -> String {
    format!("{variable}{OF}{header}")
}

/// The value of a header in a variable that holds an entry.
pub fn header_in_variable(name: &str) -> Option<String> {
    let (variable, header) = name.split_once(OF)?;
    let headers = address(variable).ok()?.headers;
    headers.into_iter().find(|(name, _)| name == header).map(|(_, value)| value)
}

/// The entry in a variable.
pub fn address(variable: &str) -> Result<ServerAddress, String> {
    let text = env::var(variable).map_err(|_| format!("the variable `{variable}` is not set"))?;
    let entry = jsonc::read(&text).map_err(|err| format!("the variable `{variable}`: {err}"))?;
    ServerAddress::read(&entry).map_err(|why| format!("the variable `{variable}`: {why}"))
}
