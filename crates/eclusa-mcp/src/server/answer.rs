//! A reply of the gate as the result of a request.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use eclusa::{Attachment, Registry, Reply, attachment::Body};
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, ErrorCode, GetPromptResult, MetaObject, PromptMessage,
        ReadResourceResult, Resource, ResourceContents, Role,
    },
};
use serde_json::{Value, json};

use crate::uris::{CHANGES, OUTPUTS};

/// The result. Everything in it is redacted: the reply is.
///
/// Claude Code and Codex show a model the structure instead of the text, where there is one. So it
/// goes out as structure only where the tool says that it tells everything, and beside the result
/// otherwise.
pub(crate) fn result(reply: &Reply, registry: &Registry) -> CallToolResult {
    // What a server gives out as structure is meant to be one.
    let tool = registry.get(reply.tool());
    let complete =
        tool.as_ref().is_some_and(|it| it.output_schema().is_some() || it.server().is_some());
    let mut content = vec![ContentBlock::text(reply.content())];
    content.extend(attachments(reply));
    let mut result = if reply.is_error() {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    let mut data = reply.data().map(structure);
    if complete && !reply.is_error() {
        result.structured_content = data.take();
    }
    if let Some(reference) = reply.spool() {
        let link = Resource::new(format!("{OUTPUTS}{reference}"), reference)
            .with_title("The whole output")
            .with_description("This output was cut; here is all of it.")
            .with_mime_type("text/plain");
        result.content.push(ContentBlock::ResourceLink(link));
    }
    if let (Some(_), Some(number)) = (reply.undo(), reply.number()) {
        let link = Resource::new(format!("{CHANGES}{number}"), format!("call {number}"))
            .with_title("What it changed")
            .with_description("The changes that this call made, as a unified diff.")
            .with_mime_type("text/x-diff");
        result.content.push(ContentBlock::ResourceLink(link));
    }
    let mut about = meta(reply, data);
    if let Some(server) = tool.as_ref().and_then(|it| it.server()) {
        // Nobody vouches for what another server says.
        about.0.insert("eclusa/outside".to_owned(), json!({"server": server}));
    }
    result.meta = Some(about);
    result
}

/// What programs may want to know: the outcome's code, the number in the log, the structure.
fn meta(reply: &Reply, data: Option<Value>) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("eclusa/code".to_owned(), reply.code().into());
    if let Some(number) = reply.number() {
        meta.0.insert("eclusa/number".to_owned(), number.into());
    }
    if let Some(data) = data {
        meta.0.insert("eclusa/data".to_owned(), data);
    }
    if !reply.warnings().is_empty() {
        meta.0.insert("eclusa/warnings".to_owned(), json!(reply.warnings()));
    }
    meta
}

/// Puts a remark of the gate's in the place of an empty text: no client is sent an empty block. It
/// is among the notes of the result too, so that a program can tell it from what a command printed.
pub(crate) fn set_remark(result: &mut CallToolResult, remark: String) {
    let data = result.meta.as_mut().and_then(|it| it.0.get_mut("eclusa/data"));
    if let Some(Value::Array(notes)) = data.and_then(|it| it.get_mut("notes")) {
        notes.push(remark.clone().into());
    }
    if let Some(first) = result.content.first_mut() {
        *first = ContentBlock::text(format!("[{remark}]"));
    }
}

/// True for a client that takes a text that is JSON for the structure of a result, and then refuses
/// the result unless that is an object: Gemini CLI, as seen with 0.61.
pub(crate) fn reads_texts_as_json(client: &str) -> bool {
    client.starts_with("gemini-cli")
}

/// Says what the structure of a result is, where such a client would make a wrong one of its text.
pub(crate) fn state_structure(result: &mut CallToolResult) {
    let first = result.content.first().and_then(ContentBlock::as_text);
    let read = first.and_then(|it| serde_json::from_str::<Value>(&it.text).ok());
    if let Some(value) = read.filter(|it| !it.is_object())
        && result.structured_content.is_none()
    {
        result.structured_content = Some(json!({"result": value}));
    }
}

/// What a model is told that goes on after a person has ended the turn.
pub(crate) fn turn_ended() -> CallToolResult {
    let text = "A person has ended this turn, and this call was not run. Make no further calls: \
    summarise your work so far, and wait for their next message.";
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let mut meta = MetaObject::new();
    meta.0.insert("eclusa/code".to_owned(), "aborted".into());
    result.meta = Some(meta);
    result
}

/// What a client is told that would otherwise give up.
pub(crate) fn still_waiting(id: &str) -> CallToolResult {
    let text = format!(
        "Still waiting for a person to approve this call. Nothing was applied yet; it continues as soon \
        as they approve. Do not repeat the call: get its answer with the tool `wait` and \
         {{\"id\": \"{id}\"}}"
    );
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let mut meta = MetaObject::new();
    meta.0.insert("eclusa/code".to_owned(), "waiting".into());
    meta.0.insert("eclusa/id".to_owned(), id.into());
    result.meta = Some(meta);
    result
}

/// What was read of a server's resource. The error says why it was not.
pub(crate) fn contents(reply: &Reply, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let about = |key: &str| reply.data().and_then(|it| it.get(key)).and_then(Value::as_str);
    let mut contents: Vec<ResourceContents> = attachments(reply)
        .filter_map(|it| match it {
            ContentBlock::Resource(it) => Some(it.resource),
            _ => None,
        })
        .collect();
    if let Some(own) = about("uri") {
        let text = ResourceContents::TextResourceContents {
            uri: own.to_owned(),
            mime_type: about("mimeType").map(str::to_owned),
            text: reply.text().to_owned(),
            meta: None,
        };
        contents.insert(0, text);
    }
    match contents.is_empty() {
        false => Ok(ReadResourceResult::new(contents)),
        true if reply.truncated() => Err(too_large(uri)),
        true => {
            let problem = format!("`{uri}` has nothing in it");
            Err(ErrorData::resource_not_found(problem, Some(json!({"uri": uri}))))
        }
    }
}

/// A prompt of a server. The error says why it cannot be had.
pub(crate) fn prompt(reply: &Reply, name: &str) -> Result<GetPromptResult, ErrorData> {
    // What was left out for its size is missing among the attachments, which are counted.
    let data = reply.data().filter(|_| !reply.truncated()).ok_or_else(|| too_large(name))?;
    let blocks: Vec<ContentBlock> = attachments(reply).collect();
    let messages = data.get("messages").and_then(Value::as_array).into_iter().flatten();
    let message = |it: &Value| {
        let role: Role = serde_json::from_value(it.get("role")?.clone()).ok()?;
        let content = match it.get("text").and_then(Value::as_str) {
            Some(text) => ContentBlock::text(text),
            None => {
                let at = it.get("attachment").and_then(Value::as_u64)?;
                blocks.get(usize::try_from(at).ok()?)?.clone()
            }
        };
        Some(PromptMessage::new(role, content))
    };
    let mut prompt = GetPromptResult::new(messages.filter_map(message).collect());
    prompt.description = data.get("description").and_then(Value::as_str).map(str::to_owned);
    Ok(prompt)
}

/// Why a request was refused, in the words of the gate and with the code of the protocol: what the
/// server gave, where it was the server.
pub(crate) fn refusal(reply: &Reply, refused: Option<&ErrorData>, about: Value) -> ErrorData {
    let mut code = refused.map_or(ErrorCode::INVALID_REQUEST, |it| it.code);
    let data = refused.and_then(|it| it.data.clone()).unwrap_or_else(|| about.clone());
    // The newer era's way to say that there is no such resource. rmcp says it in the client's.
    if code == ErrorCode::INVALID_PARAMS && data == about && about.get("uri").is_some() {
        code = ErrorCode::RESOURCE_NOT_FOUND;
    }
    ErrorData::new(code, reply.content().into_owned(), Some(data))
}

/// The structured result as MCP wants it: an object, or anything else under a name.
fn structure(data: &Value) -> Value {
    match data {
        Value::Object(_) => data.clone(),
        other => json!({"result": other}),
    }
}

/// What goes with a reply besides its text.
fn attachments(reply: &Reply) -> impl Iterator<Item = ContentBlock> {
    reply.attachments().iter().map(block)
}

/// An attachment as MCP has it.
fn block(attachment: &Attachment) -> ContentBlock {
    match attachment {
        Attachment::Image(it) => {
            ContentBlock::image(BASE64.encode(&it.bytes), it.media_type.as_str())
        }
        Attachment::Audio(it) => {
            ContentBlock::audio(BASE64.encode(&it.bytes), it.media_type.as_str())
        }
        Attachment::Resource { uri, media_type, body } => {
            let (uri, mime_type, meta) = (uri.clone(), media_type.clone(), None);
            ContentBlock::resource(match body {
                Body::Text(text) => {
                    let text = text.clone();
                    ResourceContents::TextResourceContents { uri, mime_type, text, meta }
                }
                Body::Bytes(bytes) => {
                    let blob = BASE64.encode(bytes);
                    ResourceContents::BlobResourceContents { uri, mime_type, blob, meta }
                }
            })
        }
        Attachment::Link { uri, name, description, media_type } => {
            let mut link = Resource::new(uri.as_str(), name.as_str());
            link.description.clone_from(description);
            link.mime_type.clone_from(media_type);
            ContentBlock::ResourceLink(link)
        }
    }
}

fn too_large(what: &str) -> ErrorData {
    ErrorData::invalid_request(format!("`{what}` is too large to be passed on"), None)
}
