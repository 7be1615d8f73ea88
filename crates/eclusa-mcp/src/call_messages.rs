//! The messages of a call, read and written in one pass.
//!
//! rmcp finds out what a message is by trying one type after the other on a copy of it, and writes
//! a request by way of a tree of values. A call and its answer have one usual form each, which is
//! read here as what it is; everything else goes rmcp's way, which decides what it means. A test
//! holds both ways against each other.

use std::{fmt, marker::PhantomData};

use rmcp::{
    RoleClient, RoleServer,
    model::{
        CallToolRequest, CallToolRequestMethod, CallToolRequestParams, CallToolResult,
        ClientRequest, ContentBlock, JsonObject, JsonRpcMessage, JsonRpcVersion2_0, MetaObject,
        RequestId, RequestMetaObject, ResultType, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

/// An answer with this in its `_meta` ends a subscription, whatever else is in it.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client sent.
pub(crate) fn from_client(text: &[u8]) -> serde_json::Result<RxJsonRpcMessage<RoleServer>> {
    match usual::<UsualCall>(text) {
        Some(call) => Ok(call.into_message()),
        None => serde_json::from_slice(text),
    }
}

/// What a server sent.
pub(crate) fn from_server(text: &[u8]) -> serde_json::Result<RxJsonRpcMessage<RoleClient>> {
    match usual::<UsualAnswer>(text).and_then(UsualAnswer::into_message) {
        Some(message) => Ok(message),
        None => serde_json::from_slice(text),
    }
}

/// What a server is sent.
pub(crate) fn to_server(message: &TxJsonRpcMessage<RoleClient>) -> serde_json::Result<Vec<u8>> {
    match SentCall::parse(message) {
        Some(call) => serde_json::to_vec(&call),
        None => serde_json::to_vec(message),
    }
}

/// What a client is sent. rmcp keeps the numbers of a question in less precision than they came with,
/// and would write digits that nobody sent.
pub(crate) fn to_client(message: &TxJsonRpcMessage<RoleServer>) -> serde_json::Result<Vec<u8>> {
    let asks = match message {
        JsonRpcMessage::Request(_) => true,
        JsonRpcMessage::Response(it) => matches!(it.result, ServerResult::InputRequiredResult(_)),
        _ => false,
    };
    if !asks {
        return serde_json::to_vec(message);
    }
    let mut value = serde_json::to_value(message)?;
    restore_numbers(&mut value);
    serde_json::to_vec(&value)
}

/// Writes the numbers that rmcp has in single precision with the digits that tell them apart.
fn restore_numbers(value: &mut Value) {
    const SINGLE: [&str; 5] =
        ["temperature", "costPriority", "speedPriority", "intelligencePriority", "priority"];
    match value {
        Value::Array(items) => items.iter_mut().for_each(restore_numbers),
        Value::Object(fields) => {
            for (name, value) in fields {
                let single = value.as_f64().filter(|_| SINGLE.contains(&name.as_str()));
                #[expect(clippy::cast_possible_truncation, reason = "it was no longer than this")]
                let short = single.map(|it| it as f32).map(|it| it.to_string().parse::<Value>());
                match short {
                    Some(Ok(short)) => *value = short,
                    _ => restore_numbers(value),
                }
            }
        }
        _ => {}
    }
}

fn usual<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<T> {
    let mut read = serde_json::Deserializer::from_slice(text);
    let message = object(&mut read).ok()?;
    read.end().is_ok().then_some(message)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsualCall {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    #[serde(deserialize_with = "object")]
    params: UsualParams,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsualParams {
    name: String,
    arguments: Option<JsonObject>,
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
}

impl UsualCall {
    fn into_message(self) -> RxJsonRpcMessage<RoleServer> {
        let mut params = CallToolRequestParams::new(self.params.name);
        params.arguments = self.params.arguments;
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.params.meta {
            request.extensions.insert(RequestMetaObject::from(meta));
        }
        JsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsualAnswer {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(deserialize_with = "object")]
    result: UsualResult,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct UsualResult {
    content: Vec<ContentBlock>,
    /// `null` is a value here, and not the same as no field.
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
    result_type: Option<ResultType>,
}

impl UsualAnswer {
    /// The message, unless the result is one of another kind that has content too.
    fn into_message(self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let read = self.result;
        let whole = read.result_type.as_ref().is_none_or(ResultType::is_complete);
        let ends_subscription = read.meta.as_ref().is_some_and(|it| it.contains_key(SUBSCRIPTION));
        if !whole || ends_subscription {
            return None;
        }
        let mut result = CallToolResult::success(read.content);
        result.structured_content = read.structured_content;
        result.is_error = read.is_error;
        result.meta = read.meta;
        result.result_type = read.result_type;
        Some(JsonRpcMessage::response(ServerResult::CallToolResult(result), self.id))
    }
}

#[derive(Serialize)]
struct SentCall<'a> {
    jsonrpc: JsonRpcVersion2_0,
    id: &'a RequestId,
    method: CallToolRequestMethod,
    params: SentParams<'a>,
}

#[derive(Serialize)]
struct SentParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    _meta: Option<&'a RequestMetaObject>,
    #[serde(flatten)]
    params: &'a CallToolRequestParams,
}

impl SentCall<'_> {
    /// The call that a message is, unless its `_meta` would have to be put together.
    fn parse(message: &TxJsonRpcMessage<RoleClient>) -> Option<SentCall<'_>> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let ClientRequest::CallToolRequest(call) = &request.request else { return None };
        if call.params.meta.is_some() || call.extensions.get::<MetaObject>().is_some() {
            return None;
        }
        Some(SentCall {
            jsonrpc: JsonRpcVersion2_0,
            id: &request.id,
            method: CallToolRequestMethod,
            params: SentParams { _meta: call.extensions.get(), params: &call.params },
        })
    }
}

/// Reads an object, and not the array of its values, which serde takes for the same.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(read: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    read.deserialize_map(Object(PhantomData))
}

fn present<'de, D: Deserializer<'de>>(read: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(read).map(Some)
}

#[cfg(test)]
mod tests;
