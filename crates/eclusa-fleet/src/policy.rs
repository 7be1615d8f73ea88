//! The policy document: configuration files of the administrator's rank, and for which machines each is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FleetError, JobEnrolment};

/// What a policy says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyPayload {
    /// The files by their names, such as `team/web.toml`.
    pub files: BTreeMap<String, String>,
    /// The oldest program that understands it, such as `0.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// The oldest people document that it counts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people_min: Option<u64>,
    /// How long records may wait to be shipped; for fleets with a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<String>,
    /// Which jobs of which platforms may enrol by their identity tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enroll: Vec<JobEnrolment>,
}

/// A file of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// The labels that a machine must have; none: it is for every machine.
    pub labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct OnlyFleet {
    #[serde(default)]
    fleet: OnlyFor,
}

#[derive(Default, Deserialize)]
struct OnlyFor {
    #[serde(default, rename = "for")]
    labels: BTreeMap<String, String>,
}

impl PolicyPayload {
    /// Reads a payload.
    pub fn parse(payload: &str) -> Result<PolicyPayload, FleetError> {
        serde_json::from_str(payload).map_err(|err| {
            FleetError::malformed(format!("the policy document cannot be read: {err}"))
        })
    }

    /// The payload that says this.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Its files, and for which machines each is.
    pub fn files(&self) -> Result<Vec<PolicyFile>, FleetError> {
        let read = |(name, text): (&String, &String)| {
            check_file_name(name)?;
            let only: OnlyFleet = toml::from_str(text).map_err(|err| {
                let why = err.message().replace('\n', ", ");
                FleetError::malformed(format!("`{name}` of the policy cannot be read: {why}"))
            })?;
            Ok(PolicyFile { name: name.clone(), text: text.clone(), labels: only.fleet.labels })
        };
        self.files.iter().map(read).collect()
    }

    /// An error where an enrolment of jobs would let in whom nobody means.
    pub(crate) fn check_enrolments(&self) -> Result<(), FleetError> {
        self.enroll.iter().try_for_each(JobEnrolment::check)
    }

    /// An error where `offline` is no span of time, or none at all: a machine cannot wait for the server before each call.
    pub(crate) fn check_offline(&self) -> Result<(), FleetError> {
        match self.offline.as_deref() {
            Some(text) if parse_span(text).is_none() => Err(FleetError::malformed(format!(
                "`{}` is not how long records may wait; write it like `24h`, and at least `1m`",
                text.escape_debug()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a program of this version understands it.
    pub(crate) fn fits(&self, program: &str) -> Result<bool, FleetError> {
        let Some(needs) = &self.needs else { return Ok(true) };
        let needs = numbers(needs).ok_or_else(|| {
            FleetError::malformed(format!("`needs` of the policy is not a version: `{needs}`"))
        })?;
        Ok(numbers(program).unwrap_or_default() >= needs)
    }
}

impl PolicyFile {
    /// Whether it is for a machine with these labels.
    pub fn is_for(&self, labels: &BTreeMap<String, String>) -> bool {
        self.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
    }
}

/// Reads `30m`, `24h` or `7d`: at least a minute, in milliseconds.
pub(crate) fn parse_span(text: &str) -> Option<u64> {
    let split = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(split)?;
    let unit: u64 = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|it| *it > 0)
}

/// `0.4` or `0.4.1`, with zeros for what is not said.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split('.').map(|it| it.parse().ok());
    let mut next = || parts.next().unwrap_or(Some(0));
    let read = [next()?, next()?, next()?];
    parts.next().is_none().then_some(read)
}

/// A name that is shown to people and leads nowhere.
fn check_file_name(name: &str) -> Result<(), FleetError> {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_./".contains(&it);
    let parts = name.split('/').all(|it| !it.is_empty() && !it.starts_with('.'));
    match name.len() <= 128 && name.ends_with(".toml") && name.bytes().all(plain) && parts {
        true => Ok(()),
        false => Err(FleetError::malformed(format!(
            "`{}` is not a name for a file of a policy; write it like `team/web.toml`",
            name.escape_debug()
        ))),
    }
}
