//! What a call is called in traces.

use crate::{Incoming, Run};

/// The span of a call, named as the OpenTelemetry conventions for generative AI have it.
pub(super) fn span(run: &Run, incoming: &Incoming) -> tracing::Span {
    let tool = match incoming {
        Incoming::Call(call) => call.tool.as_str(),
        Incoming::Malformed(bad) => bad.tool.as_deref().unwrap_or_default(),
    };
    tracing::info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {tool}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        gen_ai.tool.call.id = incoming.id(),
        gen_ai.tool.type = "function",
        gen_ai.conversation.id = &*run.session,
        eclusa.decision = tracing::field::Empty,
        eclusa.outcome = tracing::field::Empty,
        error.type = tracing::field::Empty,
    )
}
