//! What a program that gates its own tools needs, in one line: `use eclusa::prelude::*;`.

pub use crate::{
    Answer, Approver, AsyncFnApprover, CallView, Decision, Facts, FnApprover, FnReviewer, FnTool,
    Gate, Job, MemoryLog, Mode, NotAsked, Output, PermissionClass, Policy, Question, Reason, Reply,
    Review, Reviewer, Rule, Run, Source, Tool, ToolCall, ToolError, Touch, TypedTool, Validated,
    Verdict,
};
