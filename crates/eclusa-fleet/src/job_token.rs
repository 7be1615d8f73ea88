//! Identity tokens of jobs (OpenID Connect): a platform says by its signature which job this is, and the signed policy says
//! which jobs may enrol. Nothing of a token counts before its signature, its time and its audience are checked.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::FleetError;

/// The longest token that is read, in bytes.
const MAX_TOKEN: usize = 16 << 10;

/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 60;

/// For how long a token may be good at most, in seconds: a job's is short-lived.
const MAX_LIFE: u64 = 24 * 3_600;

/// Which jobs may enrol, and what their machines are then: a part of the policy, signed with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEnrolment {
    /// Who must have issued the token: `https://token.actions.githubusercontent.com`.
    pub issuer: String,
    /// For whom it must have been issued.
    pub audience: String,
    /// What the token must say; `*` stands for any text.
    pub claims: BTreeMap<String, String>,
    /// The labels of the machine.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The keys of the issuer. Without any they are fetched from the issuer over HTTPS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<IssuerKey>,
}

/// A public key of an issuer, as a JSON Web Key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuerKey {
    /// Its name, which a token must name.
    pub kid: String,
    /// `RSA` or `EC`.
    pub kty: String,
    /// The only algorithm that it is for, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// `sig` where it says what it is for.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub used_for: Option<String>,
    /// Of RSA: the modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// Of RSA: the exponent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// Of EC: the curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// Of EC: a coordinate of the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Of EC: the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
}

/// What an issuer publishes.
#[derive(Deserialize)]
struct IssuerKeys {
    keys: Vec<Value>,
}

impl IssuerKey {
    /// Reads a JSON Web Key Set. Keys of kinds that are not known here are left out.
    pub fn parse_all(text: &str) -> Result<Vec<IssuerKey>, FleetError> {
        let read: IssuerKeys = serde_json::from_str(text).map_err(|err| {
            FleetError::malformed(format!("the keys of the issuer cannot be read: {err}"))
        })?;
        Ok(read.keys.into_iter().filter_map(|it| serde_json::from_value(it).ok()).collect())
    }

    /// Whether this key made this signature by exactly this algorithm.
    fn signed(&self, algorithm: &str, text: &str, signature: &[u8]) -> bool {
        let is_for = |it: &Option<String>, only: &str| it.as_deref().is_none_or(|it| it == only);
        if !is_for(&self.alg, algorithm) || !is_for(&self.used_for, "sig") {
            return false;
        }
        let bytes = |it: &Option<String>| URL_SAFE_NO_PAD.decode(it.as_deref()?).ok();
        // The kind of the key decides, and never the token alone.
        match (self.kty.as_str(), algorithm) {
            ("RSA", "RS256") => {
                let (Some(n), Some(e)) = (bytes(&self.n), bytes(&self.e)) else { return false };
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, text.as_bytes(), signature).is_ok()
            }
            ("EC", "ES256") if self.crv.as_deref() == Some("P-256") => {
                let (Some(x), Some(y)) = (bytes(&self.x), bytes(&self.y)) else { return false };
                let point = [&[4][..], &x, &y].concat();
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(text.as_bytes(), signature).is_ok()
            }
            _ => false,
        }
    }
}

/// A token as it was read. Nothing in it is checked.
pub struct JobToken {
    algorithm: String,
    key: String,
    claims: Map<String, Value>,
    /// What was signed.
    text: String,
    signature: Vec<u8>,
}

/// What a token says of the job, once everything about it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobIdentity {
    /// Whose job it is, as the issuer says.
    pub subject: String,
    /// The labels that the policy gives it.
    pub labels: BTreeMap<String, String>,
}

impl JobToken {
    /// Reads a JSON Web Token.
    pub fn parse(token: &str) -> Result<JobToken, FleetError> {
        let wrong = |why: &str| FleetError::malformed(format!("the token of the job {why}"));
        if token.len() > MAX_TOKEN {
            return Err(wrong("is longer than 16 KiB"));
        }
        let no_token = || wrong("is not a JSON Web Token; pass it as the platform gave it");
        let (text, signature) = token.trim().rsplit_once('.').ok_or_else(no_token)?;
        let (head, body) = text.split_once('.').ok_or_else(no_token)?;
        let object = |part: &str| -> Option<Map<String, Value>> {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
        };
        let head = object(head).ok_or_else(no_token)?;
        let claims = object(body).ok_or_else(no_token)?;
        if head.contains_key("crit") {
            return Err(wrong("asks for extensions (`crit`) that are not known here"));
        }
        let word = |name: &str| head.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(JobToken {
            algorithm: word("alg").unwrap_or_default(),
            key: word("kid").ok_or_else(|| wrong("does not say which key signed it (`kid`)"))?,
            claims,
            signature: URL_SAFE_NO_PAD.decode(signature).map_err(|_| no_token())?,
            text: text.to_owned(),
        })
    }

    /// Who says that they issued it.
    pub fn issuer(&self) -> &str {
        self.claim("iss").unwrap_or_default()
    }

    /// The name of the key that it says it was signed with.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What its issuer signed. Signatures of one text can be several: whoever has one by ES256 can make a second.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name).and_then(Value::as_str)
    }

    fn time(&self, name: &str) -> Option<u64> {
        let time = self.claims.get(name)?;
        time.as_u64().or_else(|| time.as_f64().filter(|it| *it >= 0.0).map(|it| it as u64))
    }

    /// What the job is, by the first of these enrolments that takes it. `keys` are those of its issuer, unless the enrolment
    /// names them; `now` is in milliseconds since 1970. The error says why the last one that could does not.
    pub fn check(
        &self,
        enrolments: &[JobEnrolment],
        keys: &[IssuerKey],
        now: u64,
    ) -> Result<JobIdentity, FleetError> {
        let refused = |why: String| Err(FleetError::Job(why));
        let issuer = self.issuer().escape_debug();
        let mut may: Vec<&JobEnrolment> = enrolments.iter().collect();
        may.retain(|it| it.issuer == self.issuer());
        if may.is_empty() {
            return refused(format!("the policy lets no job of the issuer `{issuer}` enrol"));
        }
        may.retain(|it| is_for(&self.claims, &it.audience));
        if may.is_empty() {
            let why = "the token was issued for another audience than the policy names";
            return refused(why.to_owned());
        }
        if !["RS256", "ES256"].contains(&self.algorithm.as_str()) {
            let algorithm = self.algorithm.escape_debug();
            return refused(format!(
                "the token is signed by `{algorithm}`; only RS256 and ES256 count"
            ));
        }
        may.retain(|it| {
            let known: &[IssuerKey] = if it.keys.is_empty() { keys } else { &it.keys };
            let mut own = known.iter().filter(|key| key.kid == self.key);
            own.any(|key| key.signed(&self.algorithm, &self.text, &self.signature))
        });
        if may.is_empty() {
            let key = self.key.escape_debug();
            return refused(format!("no key `{key}` of the issuer `{issuer}` signed the token"));
        }
        if let Err(why) = self.check_time(now / 1_000) {
            return refused(why.to_owned());
        }
        may.retain(|it| it.takes(&self.claims));
        let Some(taken) = may.first() else {
            let why = "what the token says of the job is not what the policy lets enrol";
            return refused(why.to_owned());
        };
        let subject = self.claim("sub").unwrap_or_default().to_owned();
        Ok(JobIdentity { subject, labels: taken.labels.clone() })
    }

    fn check_time(&self, now: u64) -> Result<(), &'static str> {
        let until = self.time("exp").ok_or("the token does not say until when it is good")?;
        if until.saturating_add(LEEWAY) <= now {
            return Err("the token has expired; ask the platform for another one");
        }
        if until > now.saturating_add(MAX_LIFE) {
            return Err("the token is good for more than a day: it is not that of a job");
        }
        let begun = |name: &str| self.time(name).is_none_or(|it| it <= now.saturating_add(LEEWAY));
        match begun("nbf") && begun("iat") {
            true => Ok(()),
            false => Err("the token is of a time that has not come yet"),
        }
    }

    /// What the token says, without its signature: for whoever keeps what it is of.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }
}

/// Whether it was issued for them.
fn is_for(claims: &Map<String, Value>, audience: &str) -> bool {
    match claims.get("aud") {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(several)) => several.iter().any(|it| it.as_str() == Some(audience)),
        _ => false,
    }
}

/// A file of enrolments: `[[enroll]]`, each with `issuer`, `audience`, `claims` and `labels`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnrolmentsFile {
    #[serde(default)]
    enroll: Vec<JobEnrolment>,
}

impl JobEnrolment {
    /// Reads a file of them.
    pub fn parse_all(text: &str) -> Result<Vec<JobEnrolment>, FleetError> {
        let read: EnrolmentsFile = toml::from_str(text)
            .map_err(|err| FleetError::malformed(err.message().replace('\n', ", ")))?;
        Ok(read.enroll)
    }

    /// Whether a token that says this is of a job that it is for.
    pub(crate) fn takes(&self, claims: &Map<String, Value>) -> bool {
        let is = |(name, pattern): (&String, &String)| {
            let said = match claims.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(it)) => it.to_string(),
                Some(Value::Number(it)) => it.to_string(),
                _ => return false,
            };
            fits(pattern, &said)
        };
        claims.get("iss").and_then(Value::as_str) == Some(self.issuer.as_str())
            && is_for(claims, &self.audience)
            && !self.claims.is_empty()
            && self.claims.iter().all(is)
    }

    /// An error where it would let in whom nobody means.
    pub(crate) fn check(&self) -> Result<(), FleetError> {
        let wrong = |why: &str| {
            let issuer = self.issuer.escape_debug();
            Err(FleetError::malformed(format!("the enrolment of jobs of `{issuer}` {why}")))
        };
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        if !self.issuer.starts_with("https://")
            && !local.iter().any(|it| self.issuer.starts_with(it))
        {
            return wrong("names no issuer that is reached over HTTPS");
        }
        if self.audience.is_empty() {
            return wrong("names no audience");
        }
        let narrow = self.claims.values().any(|it| it.chars().any(|it| it != '*'));
        if !narrow {
            return wrong(
                "lets every job of everybody in; name a claim, such as repository = \"acme/*\"",
            );
        }
        for it in self.labels.iter().flat_map(|(name, value)| [name, value]) {
            crate::key::check_name(it)?;
        }
        Ok(())
    }
}

/// Whether a text is of a pattern in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|it| text.strip_prefix(it)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
