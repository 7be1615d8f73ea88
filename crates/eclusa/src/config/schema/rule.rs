//! A rule as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Access, Decision, PermissionClass,
    config::spanned::{Keyword, OneOrMany, Spanned},
};

/// A rule: it applies to calls that meet all its conditions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(in crate::config) struct Rule {
    /// What becomes of the calls that it applies to.
    pub(in crate::config) decision: Keyword<Decision>,
    /// A name for it.
    pub(in crate::config) id: Option<Spanned<String>>,
    /// Why it is there; the model and the person are told.
    pub(in crate::config) reason: Option<String>,
    /// Condition: the tool's name, or a glob over it.
    pub(in crate::config) tool: Option<Spanned<OneOrMany<String>>>,
    /// Condition: the tool's class.
    pub(in crate::config) class: Option<Spanned<OneOrMany<Keyword<PermissionClass>>>>,
    /// Condition: the server that the tool comes from, or a glob over it.
    pub(in crate::config) server: Option<Spanned<OneOrMany<String>>>,
    /// Condition: arguments, by JSON pointer.
    #[serde(default)]
    pub(in crate::config) arg: BTreeMap<String, Spanned<Matcher>>,
    /// Condition: commands of shell text that begin with these words (`*` is any one word, `$` at
    /// the end says that none follow), each looked at on its own; or a table of tests on the whole
    /// text, which cannot allow.
    pub(in crate::config) command: Option<Spanned<CommandCondition>>,
    /// Condition: paths that the call touches, as globs relative to the workspace; `!` before a
    /// glob makes an exception.
    pub(in crate::config) path: Option<Spanned<OneOrMany<String>>>,
    /// Condition: paths that `files.blocked` names. Not for `allow`, and in place of `path`.
    pub(in crate::config) blocked: Option<Spanned<bool>>,
    /// Condition: hosts that the call talks to: `example.com`, `*.example.com` for all below it,
    /// `*`, each with or without `:port`; `!` makes an exception.
    pub(in crate::config) domain: Option<Spanned<OneOrMany<String>>>,
    /// Condition: only what the call reads, or only what it writes.
    pub(in crate::config) access: Option<Keyword<Access>>,
    /// Condition: only paths that the call names itself, and not what else it turns out to change.
    pub(in crate::config) named: Option<Spanned<bool>>,
    /// Condition: what the call changed, once that is known. The rule is then heard over effects.
    pub(in crate::config) effects: Option<Spanned<Results>>,
    /// It holds until this time: `2026-12-01T00:00:00Z`, or a date, when the day begins in UTC.
    pub(in crate::config) until: Option<Spanned<String>>,
    /// It holds for so many calls. For `allow`, with an `id`.
    #[schemars(range(min = 1))]
    pub(in crate::config) times: Option<Spanned<u64>>,
    /// It holds in this conversation.
    pub(in crate::config) conversation: Option<String>,
    /// It holds in this workspace.
    pub(in crate::config) workspace: Option<Spanned<String>>,
    /// Where it applies, the rules with these ids do not. They are of this file or of one below.
    pub(in crate::config) except: Option<Spanned<OneOrMany<String>>>,
    /// It holds although there is text from outside in the conversation. For `allow`.
    pub(in crate::config) tainted: Option<Spanned<bool>>,
    /// Calls that it must apply to; checked when the file is read.
    #[serde(default, rename = "match")]
    pub(in crate::config) matches: Vec<Spanned<Example>>,
    /// Calls that it must not apply to; checked when the file is read.
    #[serde(default)]
    pub(in crate::config) not_match: Vec<Spanned<Example>>,
}

/// Conditions on what a call changed, all of which must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(in crate::config) struct Results {
    /// How many things are deleted: `> 5` or `<= 5`.
    pub(in crate::config) deleted: Option<String>,
    /// How many files change.
    pub(in crate::config) files: Option<String>,
    /// How many lines come and go.
    pub(in crate::config) lines: Option<String>,
    /// How much is in the files that are written: `> 2MB`.
    pub(in crate::config) bytes: Option<String>,
    /// Something that changes fits none of these globs.
    pub(in crate::config) outside: Option<OneOrMany<String>>,
    /// Everything that changes fits one of these globs.
    pub(in crate::config) only: Option<OneOrMany<String>>,
    /// Whether the call talks to other machines.
    pub(in crate::config) network: Option<bool>,
}

/// A condition on shell text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(in crate::config) enum CommandCondition {
    /// The first words of a command.
    Beginning(String),
    /// The first words of several.
    Beginnings(Vec<String>),
    /// Tests on the whole text, all of which must hold.
    Tests(Box<Tests>),
}

impl CommandCondition {
    /// True when it is about single commands.
    pub(in crate::config) fn is_beginning(&self) -> bool {
        !matches!(self, CommandCondition::Tests(_))
    }
}

/// A condition on a value: text is a glob (`*` is any text, `?` any one character), numbers and
/// booleans are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::config) enum Matcher {
    /// A glob over the text of the value.
    Glob(String),
    /// This truth value.
    Bool(bool),
    /// This whole number.
    Integer(i64),
    /// This number.
    Float(f64),
    /// Several conditions, all of which must hold.
    Tests(Box<Tests>),
}

/// Conditions on a value, all of which must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Tests {
    /// It is this value.
    pub(in crate::config) equals: Option<Value>,
    /// A part of its text fits this regular expression.
    pub(in crate::config) regex: Option<String>,
    /// Its text contains this one.
    pub(in crate::config) contains: Option<String>,
    /// It is a path in this directory of the workspace.
    pub(in crate::config) under: Option<String>,
    /// This condition does not hold.
    pub(in crate::config) not: Option<Matcher>,
}

/// A call to try a rule with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(in crate::config) struct Example {
    /// The tool; the one that the rule names, unless said.
    pub(in crate::config) tool: Option<String>,
    /// Its class; the one that the rule names, unless said.
    pub(in crate::config) class: Option<Keyword<PermissionClass>>,
    /// The server it comes from.
    pub(in crate::config) server: Option<String>,
    /// The arguments.
    pub(in crate::config) args: Option<Value>,
    /// Paths that the call reads.
    #[serde(default)]
    pub(in crate::config) reads: Vec<String>,
    /// Paths that the call writes.
    #[serde(default)]
    pub(in crate::config) writes: Vec<String>,
    /// Hosts that the call talks to.
    #[serde(default)]
    pub(in crate::config) fetches: Vec<String>,
    /// Shell text that the call runs.
    pub(in crate::config) runs: Option<String>,
}
