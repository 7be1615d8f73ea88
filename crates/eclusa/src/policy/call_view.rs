//! A call as those who judge it see it: what it is, and nothing that lets it run.

use std::{borrow::Cow, sync::OnceLock};

use serde_json::Value;

use super::{JudgeContext, Script, scripts};
use crate::{Facts, Origin, PermissionClass, Touch};

/// A call as rules see it. It is a view of a [`Validated`](crate::Validated), and no proof of
/// anything: judging needs to know the call, not to hold it.
///
/// ```
/// use eclusa::prelude::*;
///
/// /// Denies what writes; everything else is asked about.
/// struct NothingWritten;
///
/// impl Policy for NothingWritten {
///     fn judge(&self, call: &CallView<'_>) -> Verdict {
///         let writes = call.touches().iter().any(|it| matches!(it, Touch::Write(_)));
///         let decision = if writes { Decision::Deny } else { Decision::Ask };
///         let text = format!("`{}` was looked at", call.name()).into();
///         let (source, origin) = (Source::Rule, "nothing-written".into());
///         Verdict::from_reasons(vec![Reason { decision, source, origin, text }])
///     }
/// }
/// # let _ = Gate::builder().policy(NothingWritten);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) class: PermissionClass,
    pub(crate) server: Option<&'a str>,
    pub(crate) trusted: bool,
    pub(crate) facts: &'a Facts,
    pub(crate) args: &'a Value,
    pub(crate) touches: &'a [Touch],
    pub(crate) directory: Option<&'a str>,
    pub(crate) origin: Origin,
    pub(crate) context: &'a JudgeContext,
    /// The shell texts among the touches, read once and by nobody before somebody asks.
    pub(crate) scripts: &'a OnceLock<Vec<Script>>,
}

impl<'a> CallView<'a> {
    /// The model's id for the call.
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// The tool's canonical name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Which rules apply.
    pub fn class(&self) -> PermissionClass {
        self.class
    }

    /// The server the tool comes from, when it is not one of the program's own.
    pub fn server(&self) -> Option<&'a str> {
        self.server
    }

    /// True when a person trusts where the tool comes from.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// What holds for every call of the tool.
    pub fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// The arguments, as they stand now.
    pub fn args(&self) -> &'a Value {
        self.args
    }

    /// What this call would touch.
    pub fn touches(&self) -> &'a [Touch] {
        self.touches
    }

    /// Where the relative paths in its shell text start, if that is not the workspace.
    pub fn directory(&self) -> Option<&'a str> {
        self.directory
    }

    /// Which door the call came through.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// When and in which session it is judged, as far as rules ask.
    pub fn context(&self) -> &'a JudgeContext {
        self.context
    }

    /// The shell texts that it runs, read: the one analysis that rules, prompt, effects, record and
    /// explanation share.
    pub(crate) fn scripts(&self) -> &'a [Script] {
        self.scripts.get_or_init(|| scripts(self.touches, self.directory))
    }
}

/// Who calls, or has changed something, as far as rules ask.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its other names.
    pub aliases: &'a [String],
    /// Its class.
    pub class: PermissionClass,
    /// The server it comes from.
    pub server: Option<&'a str>,
    /// The arguments of the call.
    pub args: &'a Value,
    /// What the call said it would touch.
    pub touches: &'a [Touch],
    /// The call itself, where there is one: its shell text is not read again.
    pub call: Option<CallView<'a>>,
}

impl<'a> From<CallView<'a>> for Author<'a> {
    fn from(call: CallView<'a>) -> Author<'a> {
        Author {
            name: call.name(),
            aliases: &call.facts().aliases,
            class: call.class(),
            server: call.server(),
            args: call.args(),
            touches: call.touches(),
            call: Some(call),
        }
    }
}

impl<'a> Author<'a> {
    /// The shell texts that the call ran, as they were read before it did.
    pub(super) fn scripts(&self) -> Cow<'a, [Script]> {
        match self.call {
            Some(call) => Cow::Borrowed(call.scripts()),
            None => Cow::Owned(scripts(self.touches, None)),
        }
    }
}
