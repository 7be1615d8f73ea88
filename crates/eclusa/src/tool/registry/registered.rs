//! One tool as the registry keeps it, and what the embedding program says about it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::{RegistryError, arguments::Arguments};
use crate::{Facts, Hash, PermissionClass, ReviewConfig, Scene, Tool, digest};

/// A tool and what the embedding program says about it.
pub struct Registration {
    tool: Arc<dyn Tool>,
    review: ReviewConfig,
    server: Option<String>,
    trusted: bool,
    pub(super) over: bool,
    deferred: bool,
    unlisted: bool,
    when_many: bool,
    lazy: bool,
    extra: ExtraArgs,
    hidden: Vec<String>,
    time_cap: Option<Duration>,
}

/// What happens to arguments that the schema does not name, where the schema itself says nothing
/// about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtraArgs {
    /// The call is refused, and the message names them.
    #[default]
    Refuse,
    /// They are left out.
    Strip,
    /// They are passed on, as JSON Schema has it.
    Keep,
}

impl Registration {
    /// A tool that the embedding program vouches for.
    pub fn new(tool: impl Tool) -> Registration {
        Registration::shared(Arc::new(tool))
    }

    /// The same for a tool that is shared already.
    pub fn shared(tool: Arc<dyn Tool>) -> Registration {
        Registration {
            tool,
            review: ReviewConfig::default(),
            server: None,
            trusted: false,
            over: false,
            deferred: false,
            unlisted: false,
            when_many: false,
            lazy: false,
            extra: ExtraArgs::default(),
            hidden: Vec::new(),
            time_cap: None,
        }
    }

    /// Its own reviewers.
    pub fn review(self, review: ReviewConfig) -> Registration {
        Registration { review, ..self }
    }

    /// It comes from somebody else. What it says about itself can raise what is demanded of it
    /// and never lower it: a class of `read-only` counts as `generic`, and it is sensitive.
    pub fn foreign(self, server: impl Into<String>) -> Registration {
        Registration { server: Some(server.into()), ..self }
    }

    /// The person trusts the server that it comes from: what it brings is not marked as text from
    /// outside, and the labels that it gives itself are shown.
    pub fn trusted(self, trusted: bool) -> Registration {
        Registration { trusted, ..self }
    }

    /// It takes the place of a tool with the same name, if that one comes from the same place:
    /// nobody's tool can stand in for the program's own.
    pub fn replace(self) -> Registration {
        Registration { over: true, ..self }
    }

    /// It is not shown to models until a search has found it.
    pub fn deferred(self) -> Registration {
        Registration { deferred: true, ..self }
    }

    /// It is no tool for a model: never shown, and not found by a search. For what a program does
    /// through the gate on behalf of a client.
    pub fn unlisted(self) -> Registration {
        Registration { deferred: true, unlisted: true, ..self }
    }

    /// The same, where there are so many tools that a model loses sight of them
    /// ([`MANY_TOOLS`](super::MANY_TOOLS)).
    pub fn deferred_when_many(self) -> Registration {
        Registration { when_many: true, ..self }
    }

    /// Its schema is looked at when somebody asks for it, and compiled for its first call, by the
    /// rules of draft 7. For tools whose schemas a test has tried ([`check_lazy_schema`]): one that
    /// cannot be used is not told here, and every call of the tool is refused.
    ///
    /// [`check_lazy_schema`]: crate::check_lazy_schema
    pub fn lazy(self) -> Registration {
        Registration { lazy: true, ..self }
    }

    /// The most time to run that a call of it can ask for, in place of
    /// [`Limits::time_cap`](crate::Limits::time_cap).
    pub fn time_cap(self, time: Duration) -> Registration {
        Registration { time_cap: Some(time), ..self }
    }

    /// What happens to arguments that the schema does not name.
    pub fn extra(self, extra: ExtraArgs) -> Registration {
        Registration { extra, ..self }
    }

    /// Top-level arguments that models neither see nor set: what a model sends for them is
    /// left out; reviewers may fill them.
    pub fn hidden<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Registration {
        Registration { hidden: names.into_iter().map(Into::into).collect(), ..self }
    }
}

/// A tool as the registry keeps it: everything that is read of it once.
pub struct Registered {
    tool: Arc<dyn Tool>,
    name: String,
    facts: Facts,
    class: PermissionClass,
    server: Option<String>,
    trusted: bool,
    operation: String,
    review: ReviewConfig,
    deferred: bool,
    unlisted: bool,
    when_many: bool,
    /// Set once a search has found it.
    found: AtomicBool,
    extra: ExtraArgs,
    hidden: Vec<String>,
    time_cap: Option<Duration>,
    declared: OnceLock<Declared>,
}

/// What a tool says of its arguments and results.
struct Declared {
    arguments: Arguments,
    output_schema: Option<Value>,
    revision: String,
}

impl Registered {
    pub(super) fn new(it: Registration) -> Result<Registered, RegistryError> {
        let name = it.tool.name();
        let facts = it.tool.facts();
        for name in std::iter::once(name).chain(facts.aliases.iter().map(String::as_str)) {
            check_tool_name(name)?;
        }
        let class = facts.class.unwrap_or(PermissionClass::Generic);
        let foreign = it.server.is_some();
        let registered = Registered {
            name: name.to_owned(),
            class: match class {
                PermissionClass::ReadOnly if foreign => PermissionClass::Generic,
                class => class,
            },
            operation: operation(&facts, name),
            facts: Facts {
                sensitive: facts.sensitive || foreign,
                only_judges: facts.only_judges && !foreign,
                ..facts
            },
            server: it.server,
            trusted: it.trusted,
            review: it.review,
            deferred: it.deferred,
            unlisted: it.unlisted,
            when_many: it.when_many,
            found: AtomicBool::new(false),
            extra: it.extra,
            hidden: it.hidden,
            time_cap: it.time_cap,
            declared: OnceLock::new(),
            tool: it.tool,
        };
        if !it.lazy {
            let declared = registered.declare(Arguments::new).map_err(|problem| {
                RegistryError::BadSchema { tool: registered.name.clone(), problem }
            })?;
            let _ = registered.declared.set(declared);
        }
        Ok(registered)
    }

    /// Reads what the tool says of its arguments and results.
    fn declare(
        &self,
        read: impl FnOnce(Value, ExtraArgs, &[String], &[(String, String)]) -> Result<Arguments, String>,
    ) -> Result<Declared, String> {
        let schema = self.tool.input_schema();
        let revision = self.digest(&schema);
        // What a server says of its tools is not believed, so it renames nothing.
        let aliases = if self.server.is_some() { &[][..] } else { &self.facts.arg_aliases };
        let arguments = read(schema, self.extra, &self.hidden, aliases)?;
        Ok(Declared { arguments, output_schema: self.tool.output_schema(), revision })
    }

    fn declared(&self) -> &Declared {
        self.declared.get_or_init(|| {
            self.declare(Arguments::lazy).unwrap_or_else(|problem| Declared {
                arguments: Arguments::unusable(problem),
                output_schema: None,
                revision: self.digest(&Value::Null),
            })
        })
    }

    /// A digest of everything that says what a call of the tool means.
    fn digest(&self, schema: &Value) -> String {
        let hash: Hash = digest(&json!({
            "name": self.tool.name(),
            "revision": self.tool.revision(),
            "schema": schema,
            "class": self.facts.class.map(PermissionClass::as_str),
        }));
        let mut hex = hash.to_string();
        hex.truncate(16);
        hex
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What holds for every call of it, after what the registry knows better.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Which rules apply to it.
    pub fn class(&self) -> PermissionClass {
        self.class
    }

    /// The server it comes from, when it is not one of the program's own.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The most time to run that a call of it can ask for, where that is its own.
    pub fn time_cap(&self) -> Option<Duration> {
        self.time_cap
    }

    /// True when a person trusts where it comes from.
    pub fn is_trusted(&self) -> bool {
        self.server.is_none() || self.trusted
    }

    /// Changes whenever the tool may do something else: approvals are bound to it.
    pub fn revision(&self) -> &str {
        &self.declared().revision
    }

    /// The word for what it does in the audit log.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Its own reviewers.
    pub fn review(&self) -> &ReviewConfig {
        &self.review
    }

    /// What it does, for the model.
    pub fn description(&self, scene: &Scene) -> String {
        self.tool.description(scene)
    }

    /// The schema of its arguments, as models see it.
    pub fn schema(&self) -> &Value {
        self.arguments().declared()
    }

    /// The schema of its structured result, where that says everything that the text says.
    pub fn output_schema(&self) -> Option<&Value> {
        self.declared().output_schema.as_ref()
    }

    /// True when models see it only after a search has found it, and none has.
    pub fn deferred(&self) -> bool {
        self.deferred && !self.was_found()
    }

    /// True when the same holds of it where there are many tools.
    pub(super) fn deferred_when_many(&self) -> bool {
        self.when_many && !self.was_found()
    }

    pub(super) fn was_found(&self) -> bool {
        self.found.load(Ordering::Acquire)
    }

    pub(super) fn set_found(&self) {
        self.found.store(true, Ordering::Release);
    }

    /// Whether it is no tool for a model at all.
    pub fn unlisted(&self) -> bool {
        self.unlisted
    }

    pub(crate) fn tool(&self) -> &dyn Tool {
        &*self.tool
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.declared().arguments
    }
}

/// Checks a name or alias for a tool: every model API must take it.
pub fn check_tool_name(name: &str) -> Result<(), RegistryError> {
    let fits = (1..=128).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it));
    if fits { Ok(()) } else { Err(RegistryError::BadName(name.to_owned())) }
}

/// The tool's own word for what it does, or a guess from its name.
fn operation(facts: &Facts, name: &str) -> String {
    if !facts.audit_operation.is_empty() {
        return facts.audit_operation.clone();
    }
    let name = name.to_ascii_lowercase();
    let guesses = [
        ("delete", &["delete", "remove", "unlink"][..]),
        ("edit", &["edit", "patch", "replace"]),
        ("write", &["write", "create", "save", "put"]),
        ("execute", &["bash", "shell", "exec", "run"]),
        ("read", &["read", "get", "list", "search", "find", "grep", "glob", "fetch", "view"]),
    ];
    let guess = guesses.iter().find(|(_, words)| words.iter().any(|it| name.contains(it)));
    guess.map_or("invoke", |(operation, _)| operation).to_owned()
}
