//! What is known of a call so far, collected on its way through the gates.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::Value;

use super::body::{Approval, ReviewNote};
use crate::{
    CallUses, Changes, Hash, Reason, ReverseThinkingReport, ToolCall, Verdict, registry::Registered,
};

/// What is known of a call so far: everything that its records will say.
pub(crate) struct Trail {
    pub(crate) call: Arc<ToolCall>,
    /// The session that it is part of.
    pub(crate) session: Arc<str>,
    /// The tool, once it is found.
    pub(crate) tool: Option<Arc<Registered>>,
    /// The arguments, where they are no longer those of the call.
    pub(crate) args: Option<Arc<Value>>,
    pub(crate) digest: Option<Hash>,
    pub(crate) reviews: Vec<ReviewNote>,
    /// Which reviewers want a person to look at the call, and why.
    pub(crate) review_questions: Vec<Reason>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) approval: Option<Approval>,
    /// Whether a person let it run to see what it changes.
    pub(crate) review_changes: bool,
    /// Whether a person wrote other arguments than the model.
    pub(crate) edited: bool,
    /// What it took to let it pass.
    pub(crate) uses: CallUses,
    pub(crate) reverse_thinking: Option<ReverseThinkingReport>,
    pub(crate) checkpoint: Option<String>,
    pub(crate) warnings: Vec<String>,
    /// What held the program that did it, once one ran.
    pub(crate) sandbox: Option<String>,
    /// What brought text from outside into the session, once something has.
    pub(crate) taint: Option<Arc<str>>,
    /// What it would change, and what became of that.
    pub(crate) changes: Option<ChangesTrail>,
}

/// What is known of the changes of a call.
pub(crate) struct ChangesTrail {
    pub(crate) digest: Hash,
    /// How many paths there are, and the first of them.
    pub(crate) count: usize,
    pub(crate) paths: Vec<String>,
    pub(crate) verdict: Option<Verdict>,
    /// How many of them are of each kind.
    pub(crate) kinds: BTreeMap<&'static str, usize>,
    pub(crate) approval: Option<Approval>,
    /// What the session has used of what it may change without a question, and how much that is.
    pub(crate) budget: BTreeMap<&'static str, [u64; 2]>,
    /// What is told in a line each: the line, and the path it is about if it is about one.
    pub(crate) folded: Vec<(String, Option<String>)>,
    /// The first paths that a person left out when they picked some.
    pub(crate) declined: Vec<String>,
    pub(crate) outcome: ChangesOutcome,
}

/// What became of the changes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangesOutcome {
    /// Nothing was applied. So it is until they are being committed.
    Discarded,
    /// They are being applied: what a record says whose call nobody waited for.
    Committing,
    /// All of them are applied.
    Committed,
    /// They are kept until whoever has the answer takes them.
    Pending,
    /// They were permitted, and whoever asked applies them.
    Delegated,
    /// Something that they rest on had changed; nothing was applied.
    Conflict,
    /// They could not be applied.
    Failed,
}

impl ChangesOutcome {
    /// The word for it in records.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ChangesOutcome::Discarded => "discarded",
            ChangesOutcome::Committing => "committing",
            ChangesOutcome::Committed => "committed",
            ChangesOutcome::Pending => "pending",
            ChangesOutcome::Delegated => "delegated",
            ChangesOutcome::Conflict => "conflict",
            ChangesOutcome::Failed => "failed",
        }
    }
}

impl ChangesTrail {
    /// How many paths a record names.
    const MAX_PATHS: usize = 32;

    pub(crate) fn new(changes: &Changes) -> ChangesTrail {
        let paths = changes.iter().take(Self::MAX_PATHS);
        ChangesTrail {
            digest: changes.digest(),
            count: changes.len(),
            paths: paths.map(|it| it.path.to_string_lossy().into_owned()).collect(),
            verdict: None,
            kinds: BTreeMap::new(),
            approval: None,
            budget: BTreeMap::new(),
            folded: Vec::new(),
            declined: Vec::new(),
            outcome: ChangesOutcome::Discarded,
        }
    }

    /// A person picked these of the changes: what is said of them is about these from now on.
    pub(crate) fn pick(
        &mut self,
        changes: &Changes,
        declined: &[PathBuf],
        kinds: BTreeMap<&'static str, usize>,
    ) {
        let ChangesTrail { digest, count, paths, .. } = ChangesTrail::new(changes);
        (self.digest, self.count, self.paths, self.kinds) = (digest, count, paths, kinds);
        let named = declined.iter().take(Self::MAX_PATHS);
        self.declined = named.map(|it| it.to_string_lossy().into_owned()).collect();
    }
}

/// Writes into what is known of the changes, where there are any.
pub(crate) fn note_changes(trail: &mut Trail, write: impl FnOnce(&mut ChangesTrail)) {
    if let Some(changes) = &mut trail.changes {
        write(changes);
    }
}

impl Trail {
    pub(crate) fn new(call: ToolCall, session: Arc<str>) -> Trail {
        Trail {
            call: Arc::new(call),
            session,
            tool: None,
            args: None,
            digest: None,
            reviews: Vec::new(),
            review_questions: Vec::new(),
            verdict: None,
            approval: None,
            review_changes: false,
            edited: false,
            uses: CallUses::default(),
            reverse_thinking: None,
            checkpoint: None,
            warnings: Vec::new(),
            sandbox: None,
            taint: None,
            changes: None,
        }
    }

    /// The arguments as they stand now.
    pub(crate) fn args(&self) -> &Value {
        self.args.as_deref().unwrap_or(&self.call.args)
    }

    /// The tool's own name once it is known, the model's word for it before.
    pub(crate) fn name(&self) -> &str {
        self.tool.as_ref().map_or(&self.call.tool, |tool| tool.name())
    }
}
