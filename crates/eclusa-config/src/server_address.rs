//! A server that is reached at an address, as agents write it into their settings.

use serde_json::Value;

/// A server that is reached at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The address.
    pub url: String,
    /// What it is shown: names and values.
    pub headers: Vec<(String, String)>,
}

impl ServerAddress {
    /// What agents call the address.
    pub const KEYS: [&str; 3] = ["url", "httpUrl", "serverUrl"];
    /// Why an entry cannot be read.
    pub const ODD: &str = "its address or headers are written in a way that is not known here";

    /// Reads an entry as an agent writes it; the error says what is wrong.
    pub fn read(entry: &Value) -> Result<ServerAddress, &'static str> {
        let mut urls = ServerAddress::KEYS.iter().filter_map(|it| entry.get(it));
        let (Some(url), None) = (urls.next().and_then(Value::as_str), urls.next()) else {
            return Err(ServerAddress::ODD);
        };
        let headers = match entry.get("headers") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Object(all)) => {
                all.iter().map(|(name, it)| Some((name.clone(), it.as_str()?.to_owned()))).collect()
            }
            Some(_) => None,
        };
        Ok(ServerAddress { url: url.to_owned(), headers: headers.ok_or(ServerAddress::ODD)? })
    }
}
