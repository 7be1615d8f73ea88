//! A plain answer to a call: what a wire needs of it, from a reply or from an archive.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};

use crate::{Attachment, Body, Reply, reply::millis};

/// The answer to one call, as a value that can be kept and sent again. A [`Reply`] cannot be had
/// a second time after a restart; this can.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolAnswer {
    /// The model's id for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What the tool produced.
    pub output: String,
    /// Why the call failed or was refused.
    pub error: Option<String>,
    /// Whether `output` is less than the tool produced.
    pub truncated: bool,
    /// How long the tool ran, in milliseconds.
    pub time_ms: u64,
    /// Pictures, and whatever else goes out beside the text.
    pub attachments: Vec<Attachment>,
}

impl ToolAnswer {
    /// All that the model should read, in one text: the failure, then what was produced.
    pub fn content(&self) -> String {
        match (&self.error, self.output.as_str()) {
            (Some(error), "") => error.clone(),
            (Some(error), output) => format!("{error}\n{output}"),
            (None, output) => output.to_owned(),
        }
    }

    /// True when the call did not do what was asked.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// The pictures: type, and bytes in base64.
    pub fn images(&self) -> impl Iterator<Item = (&str, String)> {
        self.attachments.iter().filter_map(|it| match it {
            Attachment::Image(it) => Some((it.media_type.as_str(), BASE64.encode(&it.bytes))),
            _ => None,
        })
    }

    /// The content, and what attachments say in words: texts of resources, addresses of others.
    pub(super) fn full_text(&self) -> String {
        let mut text = self.content();
        for it in &self.attachments {
            let line = match it {
                Attachment::Resource { body: Body::Text(body), uri, .. } => {
                    format!("{uri}:\n{body}")
                }
                Attachment::Resource { uri, .. } => uri.clone(),
                Attachment::Link { uri, name, .. } => format!("{name}: {uri}"),
                Attachment::Image(_) | Attachment::Audio(_) => continue,
            };
            text.push('\n');
            text.push_str(&line);
        }
        text
    }
}

impl From<&Reply> for ToolAnswer {
    fn from(reply: &Reply) -> ToolAnswer {
        let output = match reply.error() {
            Some(_) => reply.output().unwrap_or_default(),
            None => reply.text(),
        };
        ToolAnswer {
            id: reply.id().to_owned(),
            tool: reply.asked_tool().to_owned(),
            output: output.to_owned(),
            error: reply.error().map(str::to_owned),
            truncated: reply.truncated(),
            time_ms: millis(reply.run_time()),
            attachments: reply.attachments().to_vec(),
        }
    }
}

impl From<&ToolAnswer> for ToolAnswer {
    fn from(answer: &ToolAnswer) -> ToolAnswer {
        answer.clone()
    }
}
