//! Why settings were not changed.

use std::fmt;

use eclusa_config::jsonc::JsoncError;

/// Why a file was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryError(pub String);

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EntryError {}

impl From<JsoncError> for EntryError {
    fn from(err: JsoncError) -> EntryError {
        EntryError(err.to_string())
    }
}
