//! A call whose arguments fit the schema of its tool. The only file that makes a [`Validated`].

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use crate::{
    CallView, Facts, Hash, JudgeContext, Origin, PermissionClass, Stop, ToolCall, Touch, digest,
    policy::Script, registry::Registered,
};

/// A call whose tool exists and whose arguments fit that tool's schema.
///
/// INVARIANT: `args` satisfies the schema of `tool`, and `digest`, `touches`, `directory` and
/// `scripts` are those of `args`. New arguments, whoever writes them, come back through `with_args`.
///
/// ```
/// use eclusa::prelude::*;
///
/// // Nobody but the gate makes one. A reviewer is shown it.
/// let short = FnReviewer::input("short", |call: &Validated| {
///     Ok(call.args().to_string().len() < 10_000)
/// });
/// assert_eq!(short.name(), "short");
/// ```
pub struct Validated {
    call: Arc<ToolCall>,
    tool: Arc<Registered>,
    /// The arguments, where they are no longer those of the call.
    args: Option<Arc<Value>>,
    digest: Hash,
    touches: Vec<Touch>,
    directory: Option<String>,
    /// The shell texts among the touches, read once and by nobody before somebody asks.
    scripts: OnceLock<Vec<Script>>,
    /// The moment, once it is known.
    moment: Option<Arc<JudgeContext>>,
}

/// Who wrote the arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgsAuthor {
    Model,
    Reader,
}

/// The arguments in their final form (`None`: as they are), or what is wrong with them.
fn checked(
    tool: &Registered,
    args: &Value,
    by: ArgsAuthor,
    session: &str,
) -> Result<Option<Value>, Stop> {
    let arguments = tool.arguments();
    let new = arguments.normalised(args, by == ArgsAuthor::Model).map_err(Stop::InvalidArgs)?;
    arguments.check(new.as_ref().unwrap_or(args)).map_err(Stop::InvalidArgs)?;
    let completed = tool.tool().completed(new.as_ref().unwrap_or(args), session);
    if let Some(completed) = &completed {
        arguments.check(completed).map_err(Stop::InvalidArgs)?;
    }
    Ok(completed.or(new))
}

impl fmt::Debug for Validated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Validated");
        shown.field("tool", &self.name()).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Validated {
    /// Checks a call of a session against its tool.
    pub(crate) fn check(
        tool: Arc<Registered>,
        call: Arc<ToolCall>,
        session: &str,
    ) -> Result<Validated, Stop> {
        let args = checked(&tool, &call.args, ArgsAuthor::Model, session)?.map(Arc::new);
        Ok(Validated::admit(call, tool, args))
    }

    fn admit(call: Arc<ToolCall>, tool: Arc<Registered>, args: Option<Arc<Value>>) -> Validated {
        let now = args.as_deref().unwrap_or(&call.args);
        let digest = digest(now);
        let touches = tool.tool().touches(now);
        let directory = tool.tool().directory(now);
        let (scripts, moment) = (OnceLock::new(), None);
        Validated { call, tool, args, digest, touches, directory, scripts, moment }
    }

    /// The call as those who judge it see it.
    pub fn view(&self) -> CallView<'_> {
        CallView {
            id: self.id(),
            name: self.name(),
            class: self.class(),
            server: self.server(),
            trusted: self.is_trusted(),
            facts: self.facts(),
            args: self.args(),
            touches: &self.touches,
            directory: self.directory(),
            origin: self.origin(),
            context: self.context(),
            scripts: &self.scripts,
        }
    }

    /// The model's id for the call.
    pub fn id(&self) -> &str {
        &self.call.id
    }

    /// The tool's canonical name.
    pub fn name(&self) -> &str {
        self.tool.name()
    }

    /// The arguments, as they stand now.
    pub fn args(&self) -> &Value {
        self.args.as_deref().unwrap_or(&self.call.args)
    }

    /// Digest of the arguments, as they stand now.
    pub fn digest(&self) -> Hash {
        self.digest
    }

    /// Why the model says it wants this.
    pub fn reason(&self) -> Option<&str> {
        self.call.reason.as_deref()
    }

    /// Which door the call came through.
    pub fn origin(&self) -> Origin {
        self.call.origin
    }

    /// What this call would touch.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Where the relative paths in its shell text start, if that is not the workspace.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The shell texts that it runs, read: the one analysis that rules, prompt, effects, record and
    /// explanation share.
    pub(crate) fn scripts(&self) -> &[Script] {
        self.view().scripts()
    }

    /// True when it runs shell text of which no command does more than read, as far as the text
    /// tells. It can then run where nothing can be written.
    pub fn only_reads_files(&self) -> bool {
        !self.scripts().is_empty() && self.scripts().iter().all(Script::is_read_only)
    }

    /// True when it runs shell text that talks to other machines only to fetch something, as far as
    /// the text tells.
    pub fn only_fetches(&self) -> bool {
        self.scripts().iter().any(Script::fetches)
    }

    /// True when its shell text runs one of these programs, as far as the text tells.
    pub fn runs_any(&self, programs: &[&str]) -> bool {
        self.scripts().iter().any(|it| it.runs_any(programs))
    }

    /// What is said of it where one of its programs needs a service that no sandbox has (`docker`,
    /// `psql`): which one, and what a person can do about it.
    pub fn needs_service(&self) -> Option<String> {
        self.scripts().iter().find_map(Script::service)
    }

    /// When and in which session it is judged, as far as rules ask.
    pub fn context(&self) -> &JudgeContext {
        self.moment.as_deref().unwrap_or_else(|| JudgeContext::unknown())
    }

    /// The same call at this moment.
    pub(crate) fn with_context(self, moment: JudgeContext) -> Validated {
        Validated { moment: Some(Arc::new(moment)), ..self }
    }

    /// Which rules apply.
    pub fn class(&self) -> PermissionClass {
        self.tool.class()
    }

    /// What holds for every call of the tool.
    pub fn facts(&self) -> &Facts {
        self.tool.facts()
    }

    /// The server the tool comes from, when it is not one of the program's own.
    pub fn server(&self) -> Option<&str> {
        self.tool.server()
    }

    /// True when a person trusts where the tool comes from.
    pub fn is_trusted(&self) -> bool {
        self.tool.is_trusted()
    }

    /// The tool's revision.
    pub fn revision(&self) -> &str {
        self.tool.revision()
    }

    /// What an approval of this call is bound to: tool, revision and final arguments.
    pub fn binding(&self) -> Hash {
        let digest = self.digest.hex();
        let parts = [self.name().as_bytes(), self.revision().as_bytes(), &digest];
        Hash::sha256(&parts.join(&b'\n'))
    }

    /// True when the run itself has no effect that anybody could ask about afterwards: a tool of
    /// the program's own that only reads. What it finds leaves with the reply, which is recorded.
    pub(crate) fn is_read_only_call(&self) -> bool {
        let facts = self.facts();
        (facts.read_only && !facts.destructive && self.class() == PermissionClass::ReadOnly)
            && self.tool.server().is_none()
            && self.touches.iter().all(|it| matches!(it, Touch::Read(_)))
    }

    pub(crate) fn tool(&self) -> &Arc<Registered> {
        &self.tool
    }

    pub(crate) fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The arguments, where they are no longer those of the call.
    pub(crate) fn new_args(&self) -> Option<&Arc<Value>> {
        self.args.as_ref()
    }

    /// The same call with other arguments, checked again.
    pub(crate) fn with_args(self, args: Value, session: &str) -> Result<Validated, Stop> {
        let new = checked(&self.tool, &args, ArgsAuthor::Reader, session)?.unwrap_or(args);
        let moment = self.moment;
        Ok(Validated { moment, ..Validated::admit(self.call, self.tool, Some(Arc::new(new))) })
    }
}

#[cfg(test)]
mod tests;
