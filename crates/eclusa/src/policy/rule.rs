//! One rule: conditions, and what it decides about the calls that meet them.

use std::sync::Arc;

use super::{
    ConditionError,
    commands::Prefix,
    domains::Domains,
    effect_conditions::EffectConditions,
    matcher::{Matcher, Pointer},
    names::Names,
    paths::Globs,
    validity::Validity,
};
use crate::{Blocked, Decision, PermissionClass, Reason, ReasonId, Requirement, Source, Text};

mod applies;
mod labels;
mod outright;
mod paths;
mod protects;
pub(crate) use applies::Subject;
pub use outright::outright_denials;
pub(crate) use paths::Paths;
use paths::blocked_by;

/// One rule. It applies to a call that meets all its conditions.
///
/// Doubts go against the call: a condition that cannot be evaluated is met where the rule
/// tightens (`stage`, `ask`, `deny`) and not met where it loosens (`allow`).
///
/// ```
/// # use eclusa::prelude::*;
/// let rule = Rule::new(Decision::Ask).tool(["deploy"])?.because("people are told first");
/// assert_eq!((rule.decision(), rule.why()), (Decision::Ask, "people are told first"));
/// # Ok::<(), eclusa::policy::ConditionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    decision: Decision,
    id: Option<Arc<str>>,
    origin: Text,
    text: Text,
    tools: Option<Names>,
    servers: Option<Names>,
    classes: Vec<PermissionClass>,
    labels: labels::Labels,
    args: Vec<(Pointer, Matcher)>,
    command: Option<Matcher>,
    commands: Vec<Prefix>,
    paths: Option<Arc<Paths>>,
    domains: Option<Domains>,
    access: Option<Access>,
    effects: Option<Arc<EffectConditions>>,
    term: Validity,
    except: Vec<String>,
    tainted: bool,
    administrator: bool,
    shipped: bool,
    named_only: bool,
    requires: Option<Arc<Requirement>>,
    remark: bool,
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Read,
    /// Makes, alters or deletes it.
    Write,
}

impl Rule {
    /// A rule without conditions. One that allows has to be given some before it applies to
    /// anything.
    pub fn new(decision: Decision) -> Rule {
        let text = match decision {
            Decision::Allow => "a rule allows it",
            Decision::Stage => "a rule stages it",
            Decision::Ask => "a rule asks about it",
            Decision::Deny => "a rule denies it",
        };
        Rule {
            decision,
            id: None,
            origin: "program".into(),
            text: text.into(),
            tools: None,
            servers: None,
            classes: Vec::new(),
            labels: labels::Labels::default(),
            args: Vec::new(),
            command: None,
            commands: Vec::new(),
            paths: None,
            domains: None,
            access: None,
            effects: None,
            term: Validity::default(),
            except: Vec::new(),
            tainted: false,
            administrator: false,
            shipped: false,
            named_only: false,
            requires: None,
            remark: false,
        }
    }

    /// A name for it.
    pub fn id(self, id: impl Into<Arc<str>>) -> Rule {
        Rule { id: Some(id.into()), ..self }
    }

    /// Where it is written: `file:line`.
    pub fn origin(self, origin: impl Into<String>) -> Rule {
        Rule { origin: origin.into().into(), ..self }
    }

    /// Why it is there: lower case, no period.
    pub fn because(self, reason: impl Into<String>) -> Rule {
        Rule { text: reason.into().into(), ..self }
    }

    /// Only calls of these tools: names or globs. A rule that tightens knows a tool by its
    /// aliases too; one that allows, only tools of the program's own.
    pub fn tool<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Rule, ConditionError> {
        Ok(Rule { tools: Some(Names::of_tools(names)?), ..self })
    }

    /// Only calls of tools from these servers: names or globs.
    pub fn server<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Rule, ConditionError> {
        Ok(Rule { servers: Some(Names::of_tools(names)?), ..self })
    }

    /// Only calls of tools of these classes.
    pub fn class(
        self,
        classes: impl IntoIterator<Item = PermissionClass>,
    ) -> Result<Rule, ConditionError> {
        let classes: Vec<PermissionClass> = classes.into_iter().collect();
        match classes.is_empty() {
            true => Err(ConditionError::EmptyList),
            false => Ok(Rule { classes, ..self }),
        }
    }

    /// Only calls whose argument at this JSON pointer meets a condition. An argument that is not
    /// there meets none.
    pub fn arg(mut self, pointer: &str, matcher: Matcher) -> Result<Rule, ConditionError> {
        self.args.push((Pointer::new(pointer)?, matcher));
        Ok(self)
    }

    /// Only calls that run shell text which meets a condition. It cannot allow: the text is not
    /// taken apart, so nothing good follows from a part of it.
    pub fn command(self, matcher: Matcher) -> Result<Rule, ConditionError> {
        match self.decision {
            Decision::Allow => Err(ConditionError::CannotAllow(
                "shell text cannot be allowed by its looks; allow single \
                                    commands by their first words, like `command = \"git log\"`",
            )),
            Decision::Stage | Decision::Ask | Decision::Deny => {
                Ok(Rule { command: Some(matcher), ..self })
            }
        }
    }

    /// Only commands of shell text that begin with these words: `git push`, `cargo *`; `$` at the
    /// end says that no further words follow. Each command
    /// of a text is looked at on its own, wherever it stands; a text is allowed when every command
    /// of it is. A rule that allows covers a command that is written out: no variable set for it,
    /// nothing redirected, no word that is only known when it runs.
    pub fn commands<S: AsRef<str>>(
        self,
        beginnings: impl IntoIterator<Item = S>,
    ) -> Result<Rule, ConditionError> {
        let commands: Result<Vec<Prefix>, String> =
            beginnings.into_iter().map(|it| Prefix::new(it.as_ref())).collect();
        match commands? {
            none if none.is_empty() => Err(ConditionError::EmptyList),
            commands => Ok(Rule { commands, ..self }),
        }
    }

    /// Only calls that touch paths which fit these globs: one of the call's paths is enough for a
    /// rule that tightens, a rule that allows must cover them all.
    pub fn path<S: AsRef<str>>(
        self,
        globs: impl IntoIterator<Item = S>,
    ) -> Result<Rule, ConditionError> {
        let globs = Globs::new(globs, self.tightens())?;
        Ok(Rule { paths: Some(Arc::new(Paths::Globs(globs))), ..self })
    }

    /// Only calls that touch paths which nobody may see. It cannot allow.
    pub fn blocked(self, blocked: Blocked) -> Result<Rule, ConditionError> {
        match self.tightens() {
            false => Err(ConditionError::CannotAllow(
                "blocked files cannot be allowed by a rule; add an exception to `files.blocked`",
            )),
            true => Ok(Rule { paths: Some(Paths::blocked(&blocked)), ..self }),
        }
    }

    /// The same over other files, if it is about those that nobody may see.
    pub fn block_again(&mut self, blocked: &Blocked) {
        if self.is_about_blocked() {
            self.paths = Some(Paths::blocked(blocked));
        }
    }

    /// Only calls that talk to these hosts: `example.com`, `*.example.com` for all that is below
    /// it, `*`, each with or without `:port`; `!` makes an exception. One of the call's hosts is
    /// enough for a rule that tightens, a rule that allows must cover them all, and without a port
    /// covers the usual ones only.
    pub fn domain<S: AsRef<str>>(
        self,
        hosts: impl IntoIterator<Item = S>,
    ) -> Result<Rule, ConditionError> {
        let domains = Domains::new(hosts, self.tightens())?;
        Ok(Rule { domains: Some(domains), ..self })
    }

    /// Only what a call reads, or only what it writes.
    pub fn access(self, access: Access) -> Rule {
        Rule { access: Some(access), ..self }
    }

    /// Only what a call changed, once that is a value: see [`EffectConditions`]. The rule is then matched
    /// over effects and not before the call runs.
    pub fn effects(self, tests: EffectConditions) -> Rule {
        Rule { effects: Some(Arc::new(tests)), ..self }
    }

    /// Where it applies, the rules with these ids do not: an exception to something broader.
    pub fn except<S: Into<String>>(self, ids: impl IntoIterator<Item = S>) -> Rule {
        Rule { except: ids.into_iter().map(Into::into).collect(), ..self }
    }

    /// It holds although there is text from outside in the session.
    pub fn tainted(self) -> Rule {
        Rule { tainted: true, ..self }
    }

    /// It is about paths that the call names itself, and not about what else comes of it.
    pub fn named_only(self) -> Rule {
        Rule { named_only: true, ..self }
    }

    /// It is of whoever runs the machine: no mode answers the questions it asks.
    pub fn of_administrator(self) -> Rule {
        Rule { administrator: true, ..self }
    }

    /// The same rule as one that comes with the program.
    pub fn of_program(self) -> Rule {
        Rule { shipped: true, ..self }
    }

    /// True when it comes with the program.
    pub fn is_shipped(&self) -> bool {
        self.shipped
    }

    pub(super) fn with_validity(self, term: Validity) -> Rule {
        Rule { term, ..self }
    }

    /// Within which bounds it holds.
    pub fn validity(&self) -> &Validity {
        &self.term
    }

    /// The ids of the rules that it is an exception to.
    pub fn exceptions(&self) -> &[String] {
        &self.except
    }

    /// Whether it holds although there is text from outside in the session.
    pub fn holds_tainted(&self) -> bool {
        self.tainted
    }

    /// What it asks about changes, if anything.
    pub(super) fn effect_conditions(&self) -> Option<&EffectConditions> {
        self.effects.as_deref()
    }

    /// What it decides.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Where it is written: `file:line`.
    pub fn written_at(&self) -> &str {
        &self.origin
    }

    /// Why it is there.
    pub fn why(&self) -> &str {
        &self.text
    }

    /// Who must say yes. For rules that ask.
    pub fn requires(self, requirement: Requirement) -> Result<Rule, ConditionError> {
        match self.decision {
            Decision::Ask => Ok(Rule { requires: Some(Arc::new(requirement)), ..self }),
            _ => Err(ConditionError::Bounds("only a rule that asks can say who must answer")),
        }
    }

    /// True when it does not apply to every call.
    pub fn has_conditions(&self) -> bool {
        self.tools.is_some() || self.servers.is_some() || self.asks_beyond_names()
    }

    /// True when it is about single commands of shell text.
    pub fn is_about_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// The programs whose commands it is about.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().map(Prefix::program)
    }

    /// True when it asks which paths a call touches, and how.
    pub(super) fn is_about_paths(&self) -> bool {
        self.paths.is_some() || self.access.is_some()
    }

    /// True when it asks which paths a call reads, and nothing about hosts.
    pub(super) fn is_about_reading(&self) -> bool {
        self.is_about_paths() && self.access != Some(Access::Write) && self.domains.is_none()
    }

    /// True when it asks what is in the arguments.
    pub(super) fn looks_at_arguments(&self) -> bool {
        !self.args.is_empty()
    }

    /// The paths it is about, if it says.
    pub(super) fn paths(&self) -> Option<Arc<Paths>> {
        self.paths.clone()
    }

    /// The tools it names without globs.
    pub fn named_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().flat_map(Names::named)
    }

    /// The only names of tools it can apply to, if it names them all.
    pub(super) fn exact_tools(&self) -> Option<&[String]> {
        self.tools.as_ref().and_then(Names::exact)
    }

    /// True when it names this tool.
    pub(super) fn names(&self, tool: &str) -> bool {
        self.tools.as_ref().is_some_and(|it| it.matches(tool))
    }

    pub(super) fn reason(&self) -> Reason {
        Reason {
            decision: self.decision,
            source: if self.administrator { Source::Administrator } else { Source::Rule },
            origin: ReasonId::Rule {
                id: self.id.clone(),
                written_at: self.origin.clone(),
                requires: self.requires.clone(),
            },
            text: self.text.clone(),
        }
    }

    fn tightens(&self) -> bool {
        self.decision != Decision::Allow
    }
}
