//! A call of a streamed answer: what passes the gate, and what its model is told that it wrote.

use serde_json::Value;

use crate::Incoming;

/// The tool of a call that named none: every API wants a name.
const UNKNOWN_TOOL: &str = "unknown";

/// A call of a streamed answer. What goes back to the model is made from it too, so that the model is
/// told of exactly the calls that passed the gate. The gate takes it as it is.
///
/// ```
/// use eclusa::{Incoming, parse::openai_chat};
/// use serde_json::json;
///
/// let function = json!({"name": "read", "arguments": "{\"path\": \"a.txt\"}"});
/// let delta = json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]});
/// let mut stream = openai_chat::Stream::default();
/// let calls = stream.push(&json!({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}));
/// assert!(matches!(&calls[0].incoming, Incoming::Call(call) if call.args["path"] == "a.txt"));
/// assert_eq!(calls[0].arguments(), "{\"path\": \"a.txt\"}");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StreamedCall {
    /// What passes the gate.
    pub incoming: Incoming,
    /// The index of its block or item in the answer; its place among the calls where a wire has no index.
    pub index: u64,
    arguments: String,
}

impl StreamedCall {
    pub(super) fn new(index: u64, incoming: Incoming, text: &str) -> StreamedCall {
        let arguments = match object(&incoming) {
            Some(_) if !text.trim().is_empty() => text.to_owned(),
            object => object.map_or_else(|| "{}".to_owned(), Value::to_string),
        };
        StreamedCall { incoming, index, arguments }
    }

    /// The tool that it named; `unknown` where it named none.
    pub fn name(&self) -> &str {
        let name = match &self.incoming {
            Incoming::Call(call) => Some(&call.tool),
            Incoming::Malformed(bad) => bad.tool.as_ref(),
        };
        name.filter(|it| !it.is_empty()).map_or(UNKNOWN_TOOL, String::as_str)
    }

    /// Its arguments as the model wrote them; `{}` where no object could be read.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Its arguments as an object; an empty one where none could be read.
    pub fn input(&self) -> Value {
        object(&self.incoming).cloned().unwrap_or_else(|| serde_json::json!({}))
    }
}

fn object(incoming: &Incoming) -> Option<&Value> {
    match incoming {
        Incoming::Call(call) => Some(&call.args).filter(|it| it.is_object()),
        Incoming::Malformed(_) => None,
    }
}

impl From<StreamedCall> for Incoming {
    fn from(call: StreamedCall) -> Incoming {
        call.incoming
    }
}
