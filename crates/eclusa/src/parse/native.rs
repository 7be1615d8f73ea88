//! One native call, from the parts that a wire has it in.

use serde_json::{Map, Value};

use super::ids::IdGenerator;
use crate::{
    Incoming, Malformed, Origin, ToolCall,
    json::{self, TextPosition, brief, kind},
};

/// A call from a wire on which arguments are JSON.
pub(super) fn incoming(
    id: Option<&Value>,
    name: Option<&Value>,
    args: Option<&Value>,
    ids: &mut IdGenerator,
) -> Incoming {
    let args = match args {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(args) => args.clone(),
    };
    with_args(id, name, Ok(args), ids)
}

/// A call from a wire on which arguments are JSON in a string.
pub(super) fn incoming_from_text(
    id: Option<&Value>,
    name: Option<&Value>,
    args: Option<&Value>,
    ids: &mut IdGenerator,
) -> Incoming {
    match args {
        Some(Value::String(text)) => with_args(id, name, decoded(text), ids),
        args => incoming(id, name, args, ids),
    }
}

fn with_args(
    id: Option<&Value>,
    name: Option<&Value>,
    args: Result<Value, String>,
    ids: &mut IdGenerator,
) -> Incoming {
    let tool = name.and_then(Value::as_str).filter(|it| !it.is_empty());
    let problem = match (id, name, args) {
        (Some(id), ..) if !id.is_string() && !id.is_null() => {
            format!("the id of the call must be a string, not {}", kind(id))
        }
        (_, None, _) => "the call does not name a tool".to_owned(),
        (_, Some(Value::String(name)), _) if name.is_empty() => {
            "the call names a tool with the empty name".to_owned()
        }
        (_, Some(name), _) if !name.is_string() => {
            format!("the name of the tool must be a string, not {}", kind(name))
        }
        (_, _, Err(problem)) => problem,
        (_, _, Ok(args)) => {
            let id = ids.or_next(id.and_then(Value::as_str));
            return ToolCall::new(id, tool.unwrap_or_default(), args).into();
        }
    };
    malformed(ids.or_next(id.and_then(Value::as_str)), tool, problem)
}

/// Arguments that came as text. No text stands for no arguments (V5).
pub(super) fn decoded(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    json::read(text).map_err(|fault| {
        format!(
            "the arguments are not valid JSON at {}: {}; send the call again with its arguments as one JSON object",
            TextPosition::of_byte(text, fault.at),
            fault.what
        )
    })
}

/// Something that cannot be read as a call.
pub(super) fn malformed(id: String, tool: Option<&str>, problem: String) -> Incoming {
    Malformed { id, tool: tool.map(str::to_owned), problem, origin: Origin::Native }.into()
}

/// A call of a kind that nobody here declares.
pub(super) fn foreign_kind(
    id: Option<&Value>,
    name: Option<&Value>,
    kind: &str,
    ids: &mut IdGenerator,
) -> Incoming {
    let id = ids.or_next(id.and_then(Value::as_str));
    let problem = format!("calls of type `{}` cannot be read; call a function", brief(kind));
    malformed(id, name.and_then(Value::as_str), problem)
}

/// A call that the model was kept from finishing.
pub(super) fn cut_short(id: String, tool: Option<&str>, why: &str) -> Incoming {
    let problem = format!(
        "the model was stopped (`{}`) before the call was complete, so it was not run; send it again, shorter",
        brief(why)
    );
    malformed(id, tool, problem)
}

/// The items of a list that may be absent; a wire that has something else there is answered.
pub(super) fn items<'a>(
    list: Option<&'a Value>,
    what: &str,
    ids: &mut IdGenerator,
) -> Result<&'a [Value], Malformed> {
    match list {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => {
            let problem = format!("`{what}` must be an array, not {}", kind(other));
            Err(Malformed { id: ids.next(), tool: None, problem, origin: Origin::Native })
        }
    }
}
