//! Invites: a signed document that says what a machine is, and the code that carries one to it.

use std::{collections::BTreeMap, fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{Digest, FleetError, SignedDocument, key::check_name};

/// What an enrolment code begins with.
const CODE: &str = "eclusa-fleet-1.";

/// The longest code that is read, in bytes.
const MAX_CODE: usize = 64 << 10;

/// The label of an invite that is for a person and not for a machine: their name.
pub const PERSON: &str = "person";

/// What an invite says of the machine that takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// Its name.
    pub id: String,
    /// The labels of the machine; `team` and `owner` are two of them.
    pub labels: BTreeMap<String, String>,
    /// Whether the machine is soon gone.
    pub ephemeral: bool,
    /// How many machines may use it; a server counts them.
    pub uses: u32,
    /// The digest of the secret that comes with the code.
    pub secret: Digest,
}

impl fmt::Display for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "id {}", self.id)?;
        for (name, value) in &self.labels {
            writeln!(f, "label {name}={value}")?;
        }
        let ephemeral = if self.ephemeral { "yes" } else { "no" };
        writeln!(f, "ephemeral {ephemeral}\nuses {}\nsecret {}", self.uses, self.secret)
    }
}

impl FromStr for Invite {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Invite, FleetError> {
        let wrong = || FleetError::malformed("the invite cannot be read");
        let mut lines = text.lines().peekable();
        let value = |line: Option<&str>, name: &str| -> Option<String> {
            Some(line?.strip_prefix(name)?.strip_prefix(' ')?.to_owned())
        };
        let id = value(lines.next(), "id").ok_or_else(wrong)?;
        let mut labels = BTreeMap::new();
        while let Some(label) = value(lines.peek().copied(), "label") {
            lines.next();
            let (name, value) = label.split_once('=').ok_or_else(wrong)?;
            labels.insert(name.to_owned(), value.to_owned());
        }
        let ephemeral = value(lines.next(), "ephemeral").ok_or_else(wrong)? == "yes";
        let uses = value(lines.next(), "uses").and_then(|it| it.parse().ok()).ok_or_else(wrong)?;
        let secret = value(lines.next(), "secret").ok_or_else(wrong)?.parse()?;
        let invite = Invite { id, labels, ephemeral, uses, secret };
        invite.check()?;
        // One meaning, one text.
        if invite.to_string() == text { Ok(invite) } else { Err(wrong()) }
    }
}

impl Invite {
    /// The person whom it is for; `None`: it is for a machine.
    pub fn person(&self) -> Option<&str> {
        self.labels.get(PERSON).map(String::as_str)
    }

    /// Names and values that fit into a line.
    pub(crate) fn check(&self) -> Result<(), FleetError> {
        let labels = self.labels.iter().flat_map(|(name, value)| [name, value]);
        labels.chain([&self.id]).try_for_each(|it| check_name(it))
    }
}

/// What `eclusa fleet invite` prints: everything that a machine needs to enrol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrolmentCode {
    /// The name of the fleet.
    pub fleet: String,
    /// Where the documents are: an address, or a file.
    pub from: String,
    /// The digest of the root that counts.
    pub root: String,
    /// The invite.
    pub invite: SignedDocument,
    /// The secret of the invite, which a server asks for.
    pub secret: String,
    /// The server to enrol at, which gives the documents as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl fmt::Display for EnrolmentCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Texts can always be written.
        let json = serde_json::to_string(self).unwrap_or_default();
        write!(f, "{CODE}{}", URL_SAFE_NO_PAD.encode(json))
    }
}

impl FromStr for EnrolmentCode {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<EnrolmentCode, FleetError> {
        let wrong = || {
            FleetError::malformed(
                "this is not an enrolment code; copy all of what `eclusa fleet invite` printed",
            )
        };
        let base64 = text.trim().strip_prefix(CODE).filter(|it| it.len() <= MAX_CODE);
        let json = URL_SAFE_NO_PAD.decode(base64.ok_or_else(wrong)?).map_err(|_| wrong())?;
        serde_json::from_slice(&json).map_err(|_| wrong())
    }
}
