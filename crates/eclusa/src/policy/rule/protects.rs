//! Which paths a rule protects, and how it says so.

use std::{borrow::Cow, path::Path, sync::Arc};

use eclusa_net::HostSet;

use super::{Access, Paths, Rule, Subject, blocked_by};
use crate::{
    Decision, Reason,
    policy::{PathFacts, Root, domains::Domains, plainly},
};

impl Rule {
    /// It decides nothing: where it applies, its reason goes with the reply and on record. Wherever it
    /// is taken for a rule that decides, it asks.
    pub fn remarking(self) -> Rule {
        Rule { decision: Decision::Ask, remark: true, ..self }
    }

    /// True when it decides nothing.
    pub fn is_remark(&self) -> bool {
        self.remark
    }

    /// The same rule for a workspace: globs that are absolute paths in it are read as such.
    pub(in crate::policy) fn within(mut self, root: &Root) -> Rule {
        // A rule that allows says what it says: nothing becomes free by where the workspace lies.
        if self.tightens()
            && let Some(Paths::Globs(globs)) = self.paths.as_deref()
            && let Some(globs) = globs.within(root)
        {
            self.paths = Some(Arc::new(Paths::Globs(globs)));
        }
        self
    }

    /// The hosts that it is about, if it is about hosts.
    pub(in crate::policy) fn hosts(&self) -> Option<&HostSet> {
        self.domains.as_ref().map(Domains::hosts)
    }

    /// True when it is about the files that nobody may see.
    pub(in crate::policy) fn is_about_blocked(&self) -> bool {
        matches!(self.paths.as_deref(), Some(Paths::Blocked { .. }))
    }

    /// True when it is the shipped rule about what programs run by themselves.
    pub(in crate::policy) fn is_about_persistence(&self) -> bool {
        self.shipped && self.id.as_deref() == Some("persistence-files")
    }

    /// True when it is only about paths that a call names.
    pub(in crate::policy) fn is_named_only(&self) -> bool {
        self.named_only
    }

    /// True when it is not about reading alone.
    pub(in crate::policy) fn may_write(&self) -> bool {
        self.access != Some(Access::Read)
    }

    /// Whether it is about this path, of which so much is known.
    pub(in crate::policy) fn protects(&self, path: &Path, facts: PathFacts) -> bool {
        match self.paths.as_deref() {
            Some(Paths::Blocked { own, .. }) if facts.public => {
                blocked_by(own, path, true).is_some()
            }
            Some(paths) => paths.fit(path, true),
            None => false,
        }
    }

    /// The reason, and the first path of a call that it is about with the pattern that fits.
    pub(in crate::policy) fn reason_naming(&self, call: &Subject<'_>) -> Reason {
        let reason = self.reason();
        let Some(paths) = self.paths.as_deref().filter(|_| self.tightens()) else { return reason };
        let fits = |(access, path): &&(Access, Cow<'_, str>)| {
            self.access.is_none_or(|it| it == *access)
                && paths.fit(Path::new(&**path), call.changed)
        };
        let named = call.paths.iter().find(fits).and_then(|(_, path)| {
            let pattern = paths.pattern(Path::new(&**path), call.changed)?;
            Some(format!("{}: `{}` matches `{pattern}`", reason.text, plainly(path)))
        });
        match named {
            Some(text) => Reason { text: text.into(), ..reason },
            None => reason,
        }
    }
}
