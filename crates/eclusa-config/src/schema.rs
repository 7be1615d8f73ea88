//! A configuration file as written. These types are its schema too: what they say of their
//! fields is what the schema says.

use std::{collections::BTreeMap, sync::LazyLock};

use eclusa::{
    Cut, Decision, Durability, Mode, OnNoApprover, audit::ArgsInLog, catalogue::Language,
    preflight::PreflightStep,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    agents::Agents,
    commands::Commands,
    diagnostics::Diagnostics,
    files::Files,
    fleet::Fleet,
    models::{Chat, ModelEntry, PersonaEntry, Turn},
    modes::WrittenMode,
    notifications::{Approvals, Notification},
    preflight::{Preflight, Thinker},
    reviewers::Reviewer,
    servers::Server,
    spanned::{Keyword, Spanned},
    tools::Tool,
    units::{Most, Size},
    web::Web,
};

mod rule;
pub(super) use rule::{CommandCondition, Example, Matcher, Results, Rule, Tests};

/// The configuration of Eclusa. Times are written like "30s" or "10m", sizes like "100KB".
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "eclusa.toml")]
pub(super) struct ConfigFile {
    /// The version of Eclusa that this file is for, like "0.5": an older program says "upgrade", and nothing else
    /// that it does not know of the file.
    #[expect(dead_code, reason = "it is looked at before the rest of the file is read")]
    pub(super) needs: Option<Spanned<String>>,
    /// When people are asked.
    pub(super) mode: Option<Spanned<Keyword<Mode>>>,
    /// Other modes for some clients or sessions.
    #[serde(default)]
    pub(super) modes: Vec<Spanned<WrittenMode>>,
    /// What happens when a person must be asked and nobody can be.
    pub(super) on_no_approver: Option<Spanned<Keyword<OnNoApprover>>>,
    /// The language in which people are asked and told what came of a call. Without it the locale
    /// of the environment decides. What models and programs read is English.
    pub(super) language: Option<Spanned<Keyword<Language>>>,
    /// The order of the passes between verdict and run. Without `reverse-thinking` or `checkpoint`
    /// the other stands for both, for tools that ask for both.
    pub(super) order: Option<Spanned<Vec<Keyword<PreflightStep>>>>,
    /// Rules of the layers below that are left out, by their ids.
    pub(super) without: Option<Spanned<Vec<Spanned<String>>>>,
    /// How much a call may use, and how long anybody may take to decide about it.
    #[serde(default)]
    pub(super) limits: Limits,
    /// What a call may do to the workspace, whichever way.
    #[serde(default)]
    pub(super) effects: EffectsSection,
    /// The log.
    #[serde(default)]
    pub(super) audit: Audit,
    /// Taking changes back.
    #[serde(default)]
    pub(super) undo: Undo,
    /// Taking secrets out of what leaves.
    #[serde(default)]
    pub(super) redact: Redact,
    /// Reviewers in general.
    #[serde(default)]
    pub(super) review: Review,
    /// The files of the workspace.
    #[serde(default)]
    pub(super) files: Files,
    /// How much one fetch from the web may cost.
    #[serde(default)]
    pub(super) web: Web,
    /// What shell commands may use and reach, and how well they must be held.
    #[serde(default)]
    pub(super) commands: Commands,
    /// How calls of other people's agents are treated, whose hooks ask before they run.
    #[serde(default)]
    pub(super) agents: Agents,
    /// The checks that the tool `diagnostics` runs.
    #[serde(default)]
    pub(super) diagnostics: Diagnostics,
    /// What may run. All rules are heard, and the strictest decides.
    #[serde(default)]
    pub(super) rules: Vec<Spanned<Rule>>,
    /// Tools that are programs, by name.
    #[serde(default)]
    pub(super) tools: BTreeMap<String, Spanned<Tool>>,
    /// MCP servers behind the gate, by name.
    #[serde(default)]
    pub(super) servers: BTreeMap<String, Spanned<Server>>,
    /// Models that can be talked to, by name.
    #[serde(default)]
    pub(super) models: BTreeMap<String, Spanned<ModelEntry>>,
    /// How they can be asked to behave, by name.
    #[serde(default)]
    pub(super) personas: BTreeMap<String, Spanned<PersonaEntry>>,
    /// Talking to a model.
    #[serde(default)]
    pub(super) chat: Chat,
    /// Reviewers that are programs or web addresses, in the order in which they are consulted.
    #[serde(default)]
    pub(super) reviewers: Vec<Spanned<Reviewer>>,
    /// Who is told of questions that wait for an approval.
    #[serde(default)]
    pub(super) notifications: Vec<Spanned<Notification>>,
    /// The page where approvals are answered.
    #[serde(default)]
    pub(super) approvals: Approvals,
    /// The fleet whose signed policy holds on this machine.
    pub(super) fleet: Option<Spanned<Fleet>>,
    /// Who argues the other side before a tool runs that demands `reverse_thinking`.
    pub(super) reverse_thinker: Option<Spanned<Thinker>>,
    /// Who opens the checkpoint of tools that demand one, in place of a person at the terminal.
    pub(super) checkpoint: Option<Spanned<Preflight>>,
}

/// The schema of a configuration file, made when the first of somebody's files is read.
pub(super) fn shared() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    &SCHEMA
}

/// TOML has no null, so neither has the schema.
fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<ConfigFile>().to_value();
    without_null(&mut schema);
    schema
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(words)) = fields.get_mut("enum") {
                words.retain(|it| !it.is_null());
            }
            if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
                choices.retain(|it| it.get("type").is_none_or(|it| it != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    fields.remove("anyOf");
                    for (key, value) in only {
                        fields.entry(key).or_insert(value);
                    }
                }
            }
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            fields.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

/// How much a call may use, and how long anybody may take to decide about it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Limits {
    /// Time to run, unless the call asks for another.
    pub(super) time: Option<Spanned<String>>,
    /// The most time to run that a call can ask for.
    pub(super) time_cap: Option<Spanned<String>>,
    /// Output the model gets, in bytes or as a size; 0 means the default, never no limit.
    pub(super) output: Option<Spanned<Size>>,
    /// Which part of a longer output it gets.
    pub(super) cut: Option<Spanned<Keyword<Cut>>>,
    /// Concurrent calls of one turn that run at once; 1 runs every call alone.
    #[schemars(range(min = 1))]
    pub(super) concurrent: Option<Spanned<usize>>,
    /// How deep tools may call tools.
    pub(super) depth: Option<Spanned<usize>>,
    /// Time for a person to answer. It is not the tool's time.
    pub(super) approval: Option<Spanned<String>>,
    /// Time for each reviewer.
    pub(super) review: Option<Spanned<String>>,
    /// Time for a checkpoint, and for reverse thinking.
    pub(super) checkpoint: Option<Spanned<String>>,
    /// Time for a record to become durable.
    pub(super) audit: Option<Spanned<String>>,
    /// How deep a task may start tasks in a session with a model: 1 is not at all, 0 is no
    /// tasks.
    #[schemars(range(max = 3))]
    pub(super) tasks: Option<Spanned<usize>>,
    /// What one turn with a model may use.
    #[serde(default)]
    pub(super) turn: Turn,
}

/// What a call may do to the workspace, whichever way.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct EffectsSection {
    /// How many files may change, or "none" for no limit; one that is moved counts once.
    pub(super) max_files: Option<Spanned<Most>>,
    /// How many lines may come and go, or "none" for no limit.
    pub(super) max_lines: Option<Spanned<Most>>,
    /// How much may be in the files that are written, in bytes or as a size, or "none".
    pub(super) max_bytes: Option<Spanned<Size>>,
    /// What becomes of deleting: allow (as of any other change), ask or deny. What git ignores is
    /// deleted without a question.
    pub(super) delete: Option<Spanned<Keyword<Decision>>>,
    /// The older way to write `delete`: false is "deny", true is "allow".
    pub(super) allow_delete: Option<Spanned<bool>>,
    /// What becomes of changes that make files executable.
    pub(super) executable: Option<Spanned<Keyword<Decision>>>,
    /// How much may change in a session before a person is asked again.
    #[serde(default)]
    pub(super) budget: Budget,
}

/// How much may change in a session before a person is asked again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Budget {
    /// How many things may be deleted, or "none" for no limit.
    pub(super) deleted: Option<Spanned<Most>>,
    /// How many files may change, or "none".
    pub(super) files: Option<Spanned<Most>>,
    /// How many lines may come and go, or "none".
    pub(super) lines: Option<Spanned<Most>>,
    /// How much may be written, in bytes or as a size, or "none".
    pub(super) bytes: Option<Spanned<Size>>,
}

/// The log.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Audit {
    /// How much of the arguments a record holds. The digest is always there.
    pub(super) args: Option<Spanned<Keyword<ArgsInLog>>>,
    /// What a record survives.
    pub(super) durability: Option<Spanned<Keyword<Durability>>>,
}

/// Taking changes back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Undo {
    /// How much may be kept of what was replaced or deleted, in bytes or as a size. Beyond it the
    /// oldest goes for good, which is told and recorded.
    pub(super) keep: Option<Spanned<Size>>,
    /// How many of the latest changes are kept as they are, and undone quickest. Older ones are
    /// compressed.
    pub(super) recent: Option<Spanned<usize>>,
    /// What a committed change survives.
    pub(super) durability: Option<Spanned<Keyword<Durability>>>,
}

/// Taking secrets out of what leaves.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Redact {
    /// Whether they are.
    pub(super) on: Option<Spanned<bool>>,
    /// Files with further kinds of secrets.
    pub(super) files: Option<Spanned<Vec<String>>>,
    /// Further kinds of secrets, beside the built-in ones.
    #[serde(default)]
    pub(super) rules: Vec<Spanned<RedactRule>>,
}

/// One more kind of secret.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct RedactRule {
    /// What the mark that takes its place calls it.
    pub(super) name: String,
    /// A regular expression for what it looks like.
    pub(super) regex: Spanned<String>,
    /// Words of which at least one stands near it; none: it is looked for everywhere.
    #[serde(default)]
    pub(super) keywords: Vec<String>,
}

/// Reviewers in general.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Review {
    /// How long a decision about the same call is kept; "0s": not at all.
    pub(super) cache_time: Option<Spanned<String>>,
    /// How many decisions are kept.
    #[schemars(range(min = 1))]
    pub(super) cache_size: Option<Spanned<usize>>,
}
