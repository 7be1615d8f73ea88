//! What of a message decides whether it passes as it is, looked at without reading the rest of it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// A text that is taken from the message where it stands.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What a message says that it is.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    /// None in an answer.
    pub(super) method: Option<Cow<'a, str>>,
    /// As it is written.
    pub(super) id: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// Looks at a line. The error says why it is no message: whoever reads it more generously than we
    /// do could find a request in it that nobody has judged.
    pub(super) fn read(line: &[u8]) -> Result<Envelope<'_>, String> {
        let text = std::str::from_utf8(line).map_err(|err| err.to_string())?;
        serde_json::from_str(text).map_err(|err| err.to_string())
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Envelope<'de>, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Envelope<'de>, A::Error> {
        let (mut method, mut id, mut params) = (None, None, false);
        while let Some(Text(name)) = fields.next_key()? {
            // Some read names in any case, and of two equal ones some take the first.
            if name.eq_ignore_ascii_case("method") {
                let found: Option<Text<'de>> = fields.next_value()?;
                if method.replace(found).is_some() {
                    return Err(A::Error::custom("it has two methods"));
                }
            } else if name.eq_ignore_ascii_case("id") {
                if id.replace(fields.next_value()?).is_some() || name != "id" {
                    return Err(A::Error::custom("it has two ids, or one of another name"));
                }
            } else {
                let is_params = name.eq_ignore_ascii_case("params");
                if is_params && (std::mem::replace(&mut params, true) || name != "params") {
                    return Err(A::Error::custom("it has parameters twice, or of another name"));
                }
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Envelope { method: method.flatten().map(|it| it.0), id })
    }
}

/// Whether an update of a session may tell the end of a tool call. In doubt it does.
pub(super) fn may_end_a_call(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct UpdateNotification<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: Update<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Update<'a> {
        #[serde(borrow)]
        session_update: Text<'a>,
    }
    match serde_json::from_slice::<UpdateNotification<'_>>(line) {
        Ok(it) => it.params.update.session_update.0.starts_with("tool_call"),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
