//! Reading the fields of somebody else's JSON: what has another type than its manual says is an
//! error, never something that is left out.

use serde_json::{Map, Value};

/// The fields of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// The fields of a value that must be an object.
    pub(crate) fn new(value: &'a Value, what: &str) -> Result<Fields<'a>, String> {
        value.as_object().map(Fields).ok_or_else(|| format!("{what} is not an object"))
    }

    /// Any field, as it stands. `null` is as good as nothing.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|it| !it.is_null())
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, String> {
        self.maybe_text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A text that may be there.
    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{name}` is no text")),
        }
    }

    /// The first text that is there of these names.
    pub(crate) fn any_text(&self, names: &[&str]) -> Result<&'a str, String> {
        for name in names {
            if let Some(text) = self.maybe_text(name)? {
                return Ok(text);
            }
        }
        Err(format!("`{}` is missing", names.first().unwrap_or(&"")))
    }

    /// A flag that may be there.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| format!("`{name}` is neither true nor false"))
            }
        }
    }

    /// A list that may be there.
    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], String> {
        match self.get(name) {
            None => Ok(&[]),
            Some(value) => {
                value.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{name}` is no list"))
            }
        }
    }

    /// An object that may be there.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Fields<'a>>, String> {
        self.get(name).map(|it| Fields::new(it, &format!("`{name}`"))).transpose()
    }
}
