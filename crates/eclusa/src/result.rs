//! One result, in every shape that somebody expects it in.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Map, Value, json};

use crate::{Attachment, Body, Media, Reply, reply::millis};

/// The shapes in which a result can be written (C17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultShape {
    /// Everything that is known: the superset of all others, with a version `v`.
    Full,
    /// `{tool, success, output, truncated, execution_time_ms}` and `error` only when there is
    /// one (S1.6). Time is in whole milliseconds, and that of the tool alone.
    Timed,
    /// `{id, name, parameters?, result, error}`: the result is the structure if there is one.
    Named,
    /// `{Output, IsError, Data, UndoInfo}`.
    Undoable,
    /// `{success, output, error}`.
    Brief,
    /// An MCP `CallToolResult`: `{content, structuredContent?, isError}`.
    Mcp,
}

/// A reply as data: what happened to one call.
#[derive(Debug, Clone, Copy)]
pub struct CallResult<'a> {
    reply: &'a Reply,
    args: Option<&'a Value>,
}

impl<'a> CallResult<'a> {
    /// The result that a reply carries.
    pub fn new(reply: &'a Reply) -> CallResult<'a> {
        CallResult { reply, args: None }
    }

    /// The same, with the arguments of the call, for the shapes that have room for them.
    pub fn with_args(self, args: &'a Value) -> CallResult<'a> {
        CallResult { args: Some(args), ..self }
    }

    /// The result in this shape.
    pub fn json(&self, shape: ResultShape) -> Value {
        match shape {
            ResultShape::Full => self.full(),
            ResultShape::Timed => self.timed(),
            ResultShape::Named => self.with_name(),
            ResultShape::Undoable => self.undoable(),
            ResultShape::Brief => json!({
                "success": !self.reply.is_error(),
                "output": self.output(),
                "error": self.reply.error(),
            }),
            ResultShape::Mcp => self.mcp(),
        }
    }

    /// The structured result as MCP wants it: an object, or anything else under a name.
    pub fn structure(&self) -> Option<Value> {
        self.reply.data().map(|data| match data {
            Value::Object(_) => data.clone(),
            other => json!({"result": other}),
        })
    }

    /// What the tool produced. A call that was refused produced nothing: its reason is the error.
    fn output(&self) -> &str {
        match (self.reply.output(), self.reply.error()) {
            (Some(output), _) => output,
            (None, Some(_)) => "",
            (None, None) => self.reply.text(),
        }
    }

    fn full(&self) -> Value {
        let reply = self.reply;
        let mut fields = Fields::default();
        fields.insert("v", 1);
        fields.insert("id", reply.id());
        fields.insert("tool", reply.tool());
        fields.insert_some("args", self.args.cloned());
        fields.insert("success", !reply.is_error());
        fields.insert("code", reply.code());
        fields.insert("refused", reply.refused());
        fields.insert("output", self.output());
        fields.insert_some("error", reply.error());
        fields.insert_some("data", reply.data().cloned());
        if !reply.attachments().is_empty() {
            fields.insert("attachments", self.attachments().collect::<Value>());
        }
        fields.insert_some("undo", self.undo());
        fields.insert("truncated", reply.truncated());
        fields.insert_some("spool", reply.spool());
        fields.insert("execution_time_ms", millis(reply.run_time()));
        fields.insert("total_time_ms", millis(reply.time()));
        fields.insert_some("number", reply.number());
        if !reply.warnings().is_empty() {
            fields.insert("warnings", reply.warnings());
        }
        fields.into()
    }

    fn timed(&self) -> Value {
        let mut fields = Fields::default();
        fields.insert("tool", self.reply.tool());
        fields.insert("success", !self.reply.is_error());
        fields.insert("output", self.output());
        fields.insert("truncated", self.reply.truncated());
        fields.insert("execution_time_ms", millis(self.reply.run_time()));
        fields.insert_some("error", self.reply.error());
        fields.into()
    }

    fn with_name(&self) -> Value {
        let result = match (self.reply.data(), self.output()) {
            (Some(data), _) => data.clone(),
            (None, "") if self.reply.is_error() => Value::Null,
            (None, text) => text.into(),
        };
        let mut fields = Fields::default();
        fields.insert("id", self.reply.id());
        fields.insert("name", self.reply.tool());
        fields.insert_some("parameters", self.args.cloned());
        fields.insert("result", result);
        fields.insert("error", self.reply.error());
        fields.into()
    }

    fn undoable(&self) -> Value {
        json!({
            "Output": self.reply.content(),
            "IsError": self.reply.is_error(),
            "Data": self.reply.data(),
            "UndoInfo": self.undo(),
        })
    }

    fn mcp(&self) -> Value {
        let mut fields = Fields::default();
        let text = json!({"type": "text", "text": self.reply.content()});
        fields
            .insert("content", std::iter::once(text).chain(self.attachments()).collect::<Value>());
        fields.insert_some("structuredContent", self.structure());
        fields.insert("isError", self.reply.is_error());
        fields.into()
    }

    /// What goes out beside the text, as MCP has it.
    pub fn attachments(&self) -> impl Iterator<Item = Value> + use<'a> {
        self.reply.attachments().iter().map(attached)
    }

    fn undo(&self) -> Option<Value> {
        let undo = self.reply.undo()?;
        Some(json!({"description": undo.description, "data": undo.data}))
    }
}

/// An attachment as MCP has it.
fn attached(it: &Attachment) -> Value {
    let media = |kind: &str, it: &Media| json!({"type": kind, "data": BASE64.encode(&it.bytes), "mimeType": it.media_type});
    match it {
        Attachment::Image(it) => media("image", it),
        Attachment::Audio(it) => media("audio", it),
        Attachment::Resource { uri, media_type, body } => {
            let mut fields = Fields::default();
            fields.insert("uri", uri.as_str());
            fields.insert_some("mimeType", media_type.as_deref());
            match body {
                Body::Text(text) => fields.insert("text", text.as_str()),
                Body::Bytes(bytes) => fields.insert("blob", BASE64.encode(bytes)),
            }
            json!({"type": "resource", "resource": Value::from(fields)})
        }
        Attachment::Link { uri, name, description, media_type } => {
            let mut fields = Fields::default();
            fields.insert("type", "resource_link");
            fields.insert("uri", uri.as_str());
            fields.insert("name", name.as_str());
            fields.insert_some("description", description.as_deref());
            fields.insert_some("mimeType", media_type.as_deref());
            fields.into()
        }
    }
}

/// The fields of one JSON object, in the making.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn insert(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn insert_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(name, value);
        }
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Value {
        Value::Object(fields.0)
    }
}

#[cfg(test)]
mod tests;
