//! How strictly an agent reads the JSON that its hooks stand in. A file that it cannot read is to it as if it were not
//! there, and it says nothing.

use serde::de::IgnoredAny;

use super::AgentSpec;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// What an agent takes for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonForm {
    /// Comments pass, or the agent does not start, or nobody has seen what becomes of them.
    Commented,
    /// Nothing but JSON, also behind a byte order mark.
    Plain,
    /// Nothing but JSON.
    Unmarked,
}

impl JsonForm {
    /// Why the agent would not read such a text.
    pub(crate) fn refuses(self, text: &str) -> Option<String> {
        let plain = text.strip_prefix(BYTE_ORDER_MARK);
        match self {
            JsonForm::Commented => None,
            JsonForm::Unmarked if plain.is_some() => {
                Some("it begins with a byte order mark".to_owned())
            }
            JsonForm::Plain | JsonForm::Unmarked => {
                let err = serde_json::from_str::<IgnoredAny>(plain.unwrap_or(text)).err()?;
                Some(format!("comments and trailing commas are no JSON to it: {err}"))
            }
        }
    }
}

impl AgentSpec {
    /// How strictly it reads the JSON that its hooks stand in.
    pub(crate) fn json(&self) -> JsonForm {
        self.hooks.as_ref().map_or(JsonForm::Commented, |it| it.json)
    }
}
