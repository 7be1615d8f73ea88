//! Parts of a record: reasons, answers and changes, as they were written down.

use serde_json::Value;

/// A reason of a decision, as it was written down.
#[derive(Debug, Clone, Copy)]
pub struct LoggedReason<'a>(pub(super) &'a Value);

impl<'a> LoggedReason<'a> {
    /// What it decided.
    pub fn decision(self) -> &'a str {
        text(self.0.get("decision"))
    }

    /// The sentence.
    pub fn text(self) -> &'a str {
        text(self.0.get("text"))
    }

    /// The rule, or what else said so.
    pub fn origin(self) -> &'a str {
        text(self.0.get("origin"))
    }
}

/// How a question was answered, as it was written down.
#[derive(Debug, Clone, Copy)]
pub struct LoggedApproval<'a>(pub(super) &'a Value);

impl<'a> LoggedApproval<'a> {
    /// The answer, or the code of why there was none.
    pub fn answer(self) -> &'a str {
        text(self.0.get("answer"))
    }

    /// True when it let the call run as it was.
    pub fn is_yes(self) -> bool {
        ["once", "session", "always"].contains(&self.answer())
    }

    /// True when nobody could be asked.
    pub fn had_nobody(self) -> bool {
        self.answer() == "no_approver"
    }

    /// Who answered.
    pub fn by(self) -> &'a str {
        text(self.0.get("by"))
    }

    /// What it is bound to.
    pub fn binding(self) -> &'a str {
        text(self.0.get("binding"))
    }

    /// The number of the question in the approval queue.
    pub fn question(self) -> Option<u64> {
        self.0.get("question").and_then(Value::as_u64)
    }
}

/// Changes of a call, as they were written down.
#[derive(Debug, Clone, Copy)]
pub struct LoggedChanges<'a>(pub(super) &'a Value);

impl<'a> LoggedChanges<'a> {
    /// What became of them: `committed`, `discarded` and the like.
    pub fn outcome(self) -> &'a str {
        text(self.0.get("outcome"))
    }

    /// True when nothing of them was applied: they were discarded, or wait for an answer.
    pub fn is_discarded(self) -> bool {
        matches!(self.outcome(), "discarded" | "pending")
    }

    /// What led to the decision about them.
    pub fn because(self) -> Vec<LoggedReason<'a>> {
        reasons(self.0.get("because"))
    }

    /// How a question about them was answered.
    pub fn approval(self) -> Option<LoggedApproval<'a>> {
        self.0.get("approval").map(LoggedApproval)
    }

    /// How many paths change.
    pub fn count(self) -> u64 {
        self.0.get("count").and_then(Value::as_u64).unwrap_or_default()
    }

    /// The paths, as far as the record names them.
    pub fn paths(self) -> Vec<&'a str> {
        items(self.0.get("paths")).filter_map(Value::as_str).collect()
    }

    /// The paths that a person did not want.
    pub fn declined(self) -> Vec<&'a str> {
        items(self.0.get("declined")).filter_map(Value::as_str).collect()
    }

    /// What is told in a line each, and the path that a line stands for; none for what git did.
    pub fn folded(self) -> Vec<(&'a str, Option<&'a str>)> {
        let line = |it: &'a Value| {
            Some((it.get("text")?.as_str()?, it.get("path").and_then(Value::as_str)))
        };
        items(self.0.get("folded")).filter_map(line).collect()
    }

    /// What the session has used of each part of its budget, and how much that is.
    pub fn budget(self) -> Vec<(&'a str, u64, u64)> {
        let parts = self.0.get("budget").and_then(Value::as_object).into_iter().flatten();
        parts
            .filter_map(|(part, of)| {
                Some((part.as_str(), of.get(0)?.as_u64()?, of.get(1)?.as_u64()?))
            })
            .collect()
    }

    /// All of it, for programs.
    pub fn as_json(self) -> &'a Value {
        self.0
    }
}

pub(super) fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

pub(super) fn reasons(value: Option<&Value>) -> Vec<LoggedReason<'_>> {
    items(value).map(LoggedReason).collect()
}
