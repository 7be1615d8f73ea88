//! What a server answered to a call, as the output of a tool.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use eclusa::{
    Attachment, Output,
    attachment::{Body, Media},
};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::sanitize::{visible, visible_value};

/// The output. A result that says it is an error is a failure (S4.52).
pub(super) fn output(server: &str, result: CallToolResult) -> Output {
    let mut data = result.structured_content;
    data.iter_mut().for_each(visible_value);
    let mut output = Output { data, ..Output::default() };
    for block in result.content {
        match attached(block) {
            Ok(text) => {
                if !output.text.is_empty() {
                    output.text.push('\n');
                }
                output.text.push_str(&text);
            }
            Err(attachment) => output.attachments.push(attachment),
        }
    }
    if result.is_error == Some(true) {
        output.error = Some(format!("the tool of server `{server}` failed"));
    }
    output
}

/// Text, or something that goes beside it.
pub(super) fn attached(block: ContentBlock) -> Result<String, Attachment> {
    let media =
        |kind: fn(Media) -> Attachment, media_type: String, data: &str| match BASE64.decode(data) {
            Ok(bytes) => Err(kind(Media { media_type, bytes: bytes.into() })),
            Err(_) => Ok(format!("[{media_type} that cannot be read: it is not base64]")),
        };
    match block {
        ContentBlock::Text(it) => Ok(visible(it.text)),
        ContentBlock::Image(it) => media(Attachment::Image, it.mime_type, &it.data),
        ContentBlock::Audio(it) => media(Attachment::Audio, it.mime_type, &it.data),
        ContentBlock::Resource(it) => embedded(it.resource),
        ContentBlock::ResourceLink(it) => Err(Attachment::Link {
            uri: it.uri,
            name: visible(it.name),
            description: it.description.map(visible),
            media_type: it.mime_type,
        }),
        _ => Ok("[content of a kind that is not known here]".to_owned()),
    }
}

pub(super) fn embedded(resource: ResourceContents) -> Result<String, Attachment> {
    match resource {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            let body = Body::Text(visible(text));
            Err(Attachment::Resource { uri, media_type: mime_type, body })
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            match BASE64.decode(&blob) {
                Ok(bytes) => Err(Attachment::Resource {
                    uri,
                    media_type: mime_type,
                    body: Body::Bytes(bytes.into()),
                }),
                Err(_) => Ok(format!("[`{uri}` cannot be read: it is not base64]")),
            }
        }
        _ => Ok("[a resource of a kind that is not known here]".to_owned()),
    }
}
