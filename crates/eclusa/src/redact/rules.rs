//! What a rule is, how it is read from a file, and how it finds.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use regex::{Regex, bytes};
use serde::Deserialize;

use super::{
    engine::MAX_ID,
    gitleaks,
    guess::{self, Guess},
};

/// How one kind of secret is found.
///
/// A rule applies to a text that has one of its keywords (in any case; without keywords to every
/// text). What its expression matches (the group `secret`, else the first group, else all of it)
/// is a secret if it has enough entropy and none of its exceptions matches.
#[derive(Clone)]
pub struct SecretRule {
    inner: Arc<RuleParts>,
}

/// The parts of a rule, as read.
#[derive(Default)]
pub(super) struct RuleParts {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) keywords: Vec<String>,
    /// What everything that it matches has, too. Where it is not, nothing need be compiled.
    pub(super) also: String,
    pub(super) regex: String,
    pub(super) group: Option<usize>,
    pub(super) entropy: f64,
    pub(super) guess: Option<Guess>,
    pub(super) unless: Vec<Unless>,
    pub(super) examples: Examples,
    /// Compiled when a keyword turns up for the first time. Over bytes, so that a rule can repeat
    /// them (`(?-u:…)`): so many characters take a hundred times as long to compile.
    pub(super) compiled: OnceLock<Option<bytes::Regex>>,
}

/// Texts that a rule must find, and such that it must leave.
#[derive(Debug, Clone, Default)]
pub(super) struct Examples {
    pub(super) found: Vec<String>,
    pub(super) left: Vec<String>,
}

/// An exception to a rule.
pub(super) enum Unless {
    /// The secret matches.
    Secret(Regex),
    /// All that the expression matched matches.
    Match(Regex),
    /// The line that it stands in matches.
    Line(Regex),
    /// The secret contains this word, in lower case.
    Word(String),
}

impl SecretRule {
    /// Reads rules in our own format; `redact/secrets.toml` is one such file.
    ///
    /// ```toml
    /// [[rule]]
    /// id = "acme-key"                          # lower case, digits and dashes
    /// description = "keys of Acme's shop"
    /// keywords = ["acme_"]                     # one of these must be there
    /// # also = "@"                             # and this, near it
    /// regex = 'acme_[0-9a-f]{32}'              # a group, if any, is the secret
    /// entropy = 3.0                            # bits per character, at least
    /// allow = ['^acme_0+$']                    # no secrets
    /// # guess = "strict"                       # the keyword is the name before the value; leave
    ///                                          # what looks like a word, a name or a path
    /// match = ["acme_0123456789abcdef0123456789abcdef"]
    /// not_match = ["acme_shop"]
    /// ```
    ///
    /// Every expression is compiled and every example tried, so a rule that does not do what it
    /// says is an error here and not a leak later.
    pub fn from_toml(text: &str) -> Result<Vec<SecretRule>, RuleError> {
        let rules = own(text)?;
        rules.iter().try_for_each(SecretRule::check)?;
        Ok(rules)
    }

    /// Reads rules in the format of gitleaks. What it means for paths and commits has no meaning
    /// here; rules that only look at paths are named in [`Loaded::skipped`].
    pub fn from_gitleaks(text: &str) -> Result<Loaded, RuleError> {
        let loaded = gitleaks::read(text)?;
        loaded.rules.iter().try_for_each(SecretRule::check)?;
        Ok(loaded)
    }

    pub(super) fn new(inner: RuleParts) -> SecretRule {
        SecretRule { inner: Arc::new(inner) }
    }

    /// Its name in marks.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// What it finds, for people.
    pub fn description(&self) -> &str {
        &self.inner.description
    }

    /// One of these is in every text that it applies to.
    pub fn keywords(&self) -> &[String] {
        &self.inner.keywords
    }

    #[cfg(test)]
    pub(super) fn examples(&self) -> &Examples {
        &self.inner.examples
    }

    fn regex(&self) -> Option<&bytes::Regex> {
        self.inner.compiled.get_or_init(|| bytes::Regex::new(&self.inner.regex).ok()).as_ref()
    }

    /// Whether what it finds stands beside its keyword, so that it need not look elsewhere. Rules
    /// that guess go by the name before a value, and the name is the keyword.
    pub(super) fn is_near_keyword(&self) -> bool {
        self.inner.guess.is_some()
    }

    /// Where it finds secrets in a part of a text. A rule that does not compile finds all of it.
    pub(super) fn find(&self, text: &str, window: &Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if text.get(window.clone()).is_some_and(|it| !it.contains(&self.inner.also)) {
            return found;
        }
        let Some(regex) = self.regex() else {
            found.push(0..text.len());
            return found;
        };
        let part = text.get(..window.end).unwrap_or(text).as_bytes();
        let mut at = window.start;
        while let Some(groups) = regex.captures_at(part, at) {
            let Some(whole) = groups.get(0) else { break };
            let secret = match self.inner.group {
                Some(group) => groups.get(group),
                None => groups.name("secret").or_else(|| groups.iter().skip(1).flatten().next()),
            };
            let secret = in_characters(text, secret.unwrap_or(whole).range());
            let whole = in_characters(text, whole.range());
            let next = if self.holds(text, whole.clone(), secret.clone()) {
                found.push(secret.start..self.end(text, secret.end));
                whole.end
            } else {
                // What was no secret may be the beginning of one.
                secret.start
            };
            at = text.ceil_char_boundary(next.max(whole.start + 1));
            if at >= part.len() {
                break;
            }
        }
        found
    }

    /// Where a secret ends. A guess reads only as much of a value as it needs; the rest goes too.
    fn end(&self, text: &str, end: usize) -> usize {
        if self.inner.guess.is_none() {
            return end;
        }
        let of_value = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_.~-%".contains(byte);
        end + text.bytes().skip(end).take_while(|byte| of_value(byte)).count()
    }

    fn holds(&self, text: &str, whole: Range<usize>, secret: Range<usize>) -> bool {
        let value = text.get(secret).unwrap_or_default();
        !value.is_empty()
            && self.inner.guess.is_none_or(|guess| guess.is_plausible(value))
            && (self.inner.entropy <= 0.0 || guess::entropy(value) >= self.inner.entropy)
            && !self.inner.unless.iter().any(|unless| unless.holds(text, &whole, value))
    }

    /// Whether it does what it says.
    fn check(&self) -> Result<(), RuleError> {
        if let Err(error) = bytes::Regex::new(&self.inner.regex) {
            return Err(RuleError::in_rule(self.id(), format!("its `regex` is wrong: {error}")));
        }
        let examples = &self.inner.examples;
        let applies = |text: &String| {
            let lower = text.to_ascii_lowercase();
            let named = |word: &String| lower.contains(&word.to_ascii_lowercase());
            (self.keywords().is_empty() || self.keywords().iter().any(named))
                && !self.find(text, &(0..text.len())).is_empty()
        };
        // Examples are named by their number: somebody may have pasted a real one.
        if let Some(index) = examples.found.iter().position(|text| !applies(text)) {
            let what = format!("example {} of `match` is not found", index + 1);
            return Err(RuleError::in_rule(self.id(), what));
        }
        if let Some(index) = examples.left.iter().position(applies) {
            let what = format!("example {} of `not_match` is found", index + 1);
            return Err(RuleError::in_rule(self.id(), what));
        }
        Ok(())
    }
}

/// A range of bytes, as far as the characters go that it touches.
fn in_characters(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

impl fmt::Debug for SecretRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretRule").field(&self.inner.id).finish()
    }
}

impl Unless {
    fn holds(&self, text: &str, whole: &Range<usize>, secret: &str) -> bool {
        match self {
            Unless::Secret(regex) => regex.is_match(secret),
            Unless::Match(regex) => regex.is_match(text.get(whole.clone()).unwrap_or_default()),
            Unless::Line(regex) => {
                let before = text.get(..whole.start).unwrap_or_default();
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let after = text.get(whole.end..).unwrap_or_default();
                let end = after.find('\n').map_or(text.len(), |at| whole.end + at);
                regex.is_match(text.get(start..end).unwrap_or_default())
            }
            Unless::Word(word) => secret.to_lowercase().contains(word.as_str()),
        }
    }
}

/// Rules that were read, and what was left out.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The rules.
    pub rules: Vec<SecretRule>,
    /// Ids of rules that look at paths only, and so find nothing in a text.
    pub skipped: Vec<String>,
}

/// Rules that could not be read. It never quotes an example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{what}")]
pub struct RuleError {
    place: String,
    what: String,
}

impl RuleError {
    pub(super) fn in_rule(id: &str, what: String) -> RuleError {
        RuleError { place: format!("rule `{id}`: "), what }
    }

    pub(super) fn in_toml(text: &str, error: &toml::de::Error) -> RuleError {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map(|before| format!("line {}: ", before.matches('\n').count() + 1));
        RuleError { place: line.unwrap_or_default(), what: error.message().to_owned() }
    }
}

/// A file of rules, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<RuleFile>,
}

/// A rule, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    also: String,
    regex: String,
    #[serde(default)]
    entropy: f64,
    guess: Option<Guess>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default, rename = "match")]
    found: Vec<String>,
    #[serde(default, rename = "not_match")]
    left: Vec<String>,
}

/// Reads our own format, without trying the examples.
pub(super) fn own(text: &str) -> Result<Vec<SecretRule>, RuleError> {
    let file: File = toml::from_str(text).map_err(|error| RuleError::in_toml(text, &error))?;
    file.rule.into_iter().map(into_rule).collect()
}

/// The keywords of a file in our own format, in lower case and in order, without reading the rest:
/// each list stands on a line of its own. A test holds them against those of the rules.
pub(super) fn keywords_in(text: &str) -> Vec<String> {
    let lists = text.lines().filter_map(|line| line.strip_prefix("keywords = ["));
    let words = lists.flat_map(|list| list.trim_end_matches(']').split(", "));
    let bare = |word: &str| {
        let quote = word.chars().next().filter(|it| matches!(it, '"' | '\''))?;
        word.strip_prefix(quote)?.strip_suffix(quote).map(str::to_ascii_lowercase)
    };
    let mut words: Vec<String> = words.filter_map(bare).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn into_rule(written: RuleFile) -> Result<SecretRule, RuleError> {
    let id = checked_id(written.id)?;
    let unless = written.allow.iter().map(|it| expression(&id, "allow", it).map(Unless::Secret));
    let unless = unless.collect::<Result<_, _>>()?;
    Ok(SecretRule::new(RuleParts {
        id,
        description: written.description,
        keywords: written.keywords,
        also: written.also,
        regex: written.regex,
        entropy: written.entropy,
        guess: written.guess,
        unless,
        examples: Examples { found: written.found, left: written.left },
        ..RuleParts::default()
    }))
}

/// An id goes into marks, which must be readable as such again.
pub(super) fn checked_id(id: String) -> Result<String, RuleError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(fits) {
        true => Ok(id),
        false => {
            let what = format!("an `id` has 1 to {MAX_ID} letters, digits, `-`, `_` or `.`");
            Err(RuleError::in_rule(&id, what))
        }
    }
}

pub(super) fn expression(id: &str, field: &str, text: &str) -> Result<Regex, RuleError> {
    let wrong = |error| RuleError::in_rule(id, format!("its `{field}` is wrong: {error}"));
    Regex::new(text).map_err(wrong)
}
