//! A rule as written.

use std::collections::BTreeMap;

use eclusa::{PermissionClass, approve::Proof, policy::Access};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spanned::{Keyword, OneOrMany, RuleDecision, Spanned};

/// A rule: it applies to calls that meet all its conditions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Rule {
    /// What becomes of the calls that it applies to; `warn` decides nothing, and says its reason.
    pub(crate) decision: Keyword<RuleDecision>,
    /// A name for it.
    pub(crate) id: Option<Spanned<String>>,
    /// Why it is there; the model and the person are told.
    pub(crate) reason: Option<String>,
    /// Condition: the tool's name, a glob over it (`*` is any text, `?` one character), or a list.
    pub(crate) tool: Option<Spanned<OneOrMany<String>>>,
    /// Condition: the tool's class, or a list: `shell`, `file`, `web`, `read-only`, `generic`.
    pub(crate) class: Option<Spanned<OneOrMany<Keyword<PermissionClass>>>>,
    /// Condition: whether the tool says that it only looks. Tools of a server are believed where it is
    /// `trusted`.
    pub(crate) read_only: Option<bool>,
    /// Condition: whether the tool says that what it does is hard to take back. A server that is not
    /// `trusted` is believed only that it does.
    pub(crate) destructive: Option<bool>,
    /// Condition: the server that the tool comes from, a glob over its name, or a list.
    pub(crate) server: Option<Spanned<OneOrMany<String>>>,
    /// Condition: what the arguments are, by JSON pointer.
    #[serde(default)]
    pub(crate) arg: BTreeMap<String, Spanned<Matcher>>,
    /// Condition: commands of shell text that begin with these words (`*` is any one word, `$` at
    /// the end says that none follow), each looked at on its own; or a table of tests on the whole
    /// text, which cannot allow.
    pub(crate) command: Option<Spanned<CommandCondition>>,
    /// Condition: paths that the call touches, as globs relative to the workspace; `!` before a
    /// glob makes an exception.
    pub(crate) path: Option<Spanned<OneOrMany<String>>>,
    /// Condition: paths that `files.blocked` names (`true`, in place of `path`). Not for `allow`.
    pub(crate) blocked: Option<Spanned<bool>>,
    /// Condition: hosts that the call talks to: `example.com`, `*.example.com` for all below it,
    /// `*`, each with or without `:port`; `!` makes an exception.
    pub(crate) domain: Option<Spanned<OneOrMany<String>>>,
    /// Condition: only what the call reads (`read`), or only what it writes (`write`): of `path`, or
    /// of any path where that is not said.
    pub(crate) access: Option<Keyword<Access>>,
    /// Condition: only paths that the call names itself, and not what else it turns out to change.
    pub(crate) named: Option<Spanned<bool>>,
    /// Condition: what the call changed, once that is known. The rule is then one over effects.
    pub(crate) effects: Option<Spanned<Results>>,
    /// It holds until this time: `2026-12-01T00:00:00Z`, or a date, when the day begins in UTC.
    pub(crate) until: Option<Spanned<String>>,
    /// It holds for so many calls. For `allow`, with an `id`.
    #[schemars(range(min = 1))]
    pub(crate) times: Option<Spanned<u64>>,
    /// Beside `times`: in how long (`1h`). Without it, calls count for ever.
    pub(crate) per: Option<Spanned<String>>,
    /// It holds in this conversation.
    pub(crate) conversation: Option<String>,
    /// It holds in this workspace.
    pub(crate) workspace: Option<Spanned<String>>,
    /// Where it applies, the rules with these ids do not. They are of this file or of one below.
    pub(crate) except: Option<Spanned<OneOrMany<String>>>,
    /// It holds although there is text from outside in the conversation. For `allow`.
    pub(crate) tainted: Option<Spanned<bool>>,
    /// Only the yes of these people or groups counts. For `ask`; `eclusa people` lists them.
    pub(crate) of: Option<Spanned<OneOrMany<String>>>,
    /// So many different people must say yes. For `ask`.
    #[schemars(range(min = 1))]
    pub(crate) need: Option<Spanned<u64>>,
    /// How sure it must be who they are: their word, a key that signs the answer, or a passkey. For
    /// `ask`.
    pub(crate) with: Option<Spanned<Keyword<Proof>>>,
    /// Whoever asks does not count. For `ask`; so it is where `need` is more than one.
    pub(crate) separate: Option<Spanned<bool>>,
    /// How long they may take. For `ask`.
    pub(crate) within: Option<Spanned<String>>,
    /// Who else may answer after a while, and is told: { after = "5m", of = ["leads"] }. For `ask`
    /// with `of`.
    #[serde(default)]
    pub(crate) then: Vec<Spanned<Escalation>>,
    /// Calls that it must apply to; checked when the file is read.
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<Spanned<Example>>,
    /// Calls that it must not apply to; checked when the file is read.
    #[serde(default)]
    pub(crate) not_match: Vec<Spanned<Example>>,
}

/// Conditions on what a call changed, all of which must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Results {
    /// How many things are deleted: `> 5` or `<= 5`.
    pub(crate) deleted: Option<String>,
    /// How many files change.
    pub(crate) files: Option<String>,
    /// How many lines come and go.
    pub(crate) lines: Option<String>,
    /// How much is in the files that are written: `> 2MB`.
    pub(crate) bytes: Option<String>,
    /// Something that changes fits none of these globs.
    pub(crate) outside: Option<OneOrMany<String>>,
    /// Everything that changes fits one of these globs.
    pub(crate) only: Option<OneOrMany<String>>,
    /// Whether the call talks to other machines.
    pub(crate) network: Option<bool>,
}

/// A condition on shell text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum CommandCondition {
    /// The first words of a command.
    Beginning(String),
    /// The first words of several.
    Beginnings(Vec<String>),
    /// Tests on the whole text, all of which must hold.
    Tests(Box<Tests>),
}

/// A condition on a value: text is a glob (`*` is any text, `?` any one character), numbers and
/// booleans are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Matcher {
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
pub(crate) struct Tests {
    /// It is this value.
    pub(crate) equals: Option<Value>,
    /// A part of its text fits this regular expression.
    pub(crate) regex: Option<String>,
    /// Its text contains this one.
    pub(crate) contains: Option<String>,
    /// It is a path in this directory of the workspace.
    pub(crate) under: Option<String>,
    /// This condition does not hold.
    pub(crate) not: Option<Matcher>,
}

/// A call to try a rule with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Example {
    /// The tool; the one that the rule names, unless said.
    pub(crate) tool: Option<String>,
    /// Its class; the one that the rule names, unless said.
    pub(crate) class: Option<Keyword<PermissionClass>>,
    /// The server it comes from.
    pub(crate) server: Option<String>,
    /// The arguments.
    pub(crate) args: Option<Value>,
    /// Paths that the call reads.
    #[serde(default)]
    pub(crate) reads: Vec<String>,
    /// Paths that the call writes.
    #[serde(default)]
    pub(crate) writes: Vec<String>,
    /// Hosts that the call talks to.
    #[serde(default)]
    pub(crate) fetches: Vec<String>,
    /// Shell text that the call runs.
    pub(crate) runs: Option<String>,
}

/// Who else may answer after a while.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Escalation {
    /// So long after it was asked.
    pub(crate) after: Spanned<String>,
    /// These people or groups.
    pub(crate) of: OneOrMany<String>,
}
