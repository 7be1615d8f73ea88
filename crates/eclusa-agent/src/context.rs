//! What the model is shown of a conversation: a pure function of its entries.

use std::{collections::HashMap, sync::Arc};

use eclusa::{
    Attachment,
    attachment::Media,
    parse::{ToolAnswer, fenced},
};
use serde_json::Value;

use crate::{
    item::{AnswerItem, ItemBody, PictureRef, TranscriptItem},
    model::{ModelProfile, ViewCall, ViewMessage},
};

mod measure;
mod prompt;

pub(crate) use measure::Measure;
pub use prompt::{SystemText, project_words, system_text};

/// Outputs longer than this are left out once they are old and room is scarce.
pub(crate) const LONG_OUTPUT: usize = 2 << 10;

/// Pictures, by their digests.
pub(crate) type Pictures = HashMap<String, Arc<[u8]>>;

/// What the model is shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) system: String,
    pub(crate) messages: Vec<ViewMessage>,
    /// How many messages of the model there have been, those that are not shown included.
    pub(crate) replies: u64,
}

/// What a model is shown of these entries.
pub(crate) fn view(
    conversation: &str,
    items: &[TranscriptItem],
    model: &ModelProfile,
    pictures: &Pictures,
) -> View {
    let mut shown = Shown { view: View::default(), conversation, model, pictures, shortened: 0 };
    let (mut start, mut summary, mut project) = (0, None, None);
    for item in items {
        match &item.body {
            ItemBody::Opened { system, project: words, .. } => {
                shown.view.system.clone_from(system);
                project.clone_from(words);
            }
            ItemBody::Summary { text: Some(text), cut } => (start, summary) = (*cut, Some(text)),
            ItemBody::Summary { text: None, cut } => shown.shortened = *cut,
            _ => {}
        }
    }
    if let Some(project) = project {
        shown.user(format!("the project says:\n\n{project}"), Vec::new());
    }
    if let Some(summary) = summary {
        shown.user(format!("summary by the model of what came before:\n\n{summary}"), Vec::new());
    }
    for item in items {
        // What was cut off by an interruption is not said again.
        let said = matches!(
            item.body,
            ItemBody::Model { .. }
                | ItemBody::Partial { .. }
                | ItemBody::Summary { text: Some(_), .. }
        );
        if said {
            shown.view.replies += 1;
        }
        if item.seq >= start {
            shown.add(item);
        }
    }
    shown.view
}

struct Shown<'a> {
    view: View,
    conversation: &'a str,
    model: &'a ModelProfile,
    pictures: &'a Pictures,
    /// Long outputs before this entry are left out.
    shortened: u64,
}

impl Shown<'_> {
    fn add(&mut self, item: &TranscriptItem) {
        match &item.body {
            ItemBody::Person { text, pictures } => {
                let (pictures, missing) = self.look_up(pictures);
                self.user(format!("{text}{missing}"), pictures);
            }
            ItemBody::Model { text, .. } => self.view.messages.push(ViewMessage::Assistant {
                text: text.clone(),
                calls: Vec::new(),
                blocks: self.blocks(item),
            }),
            ItemBody::Partial { text } => self.view.messages.push(ViewMessage::Assistant {
                text: text.clone(),
                calls: Vec::new(),
                blocks: None,
            }),
            ItemBody::Call { id, name, args, .. } => {
                let call = ViewCall { id: id.clone(), name: name.clone(), args: args.clone() };
                if let Some(ViewMessage::Assistant { calls, .. }) = self.view.messages.last_mut() {
                    calls.push(call);
                }
            }
            ItemBody::Answer(answer) => self.answer(item.seq, answer),
            ItemBody::LateAnswer(answer) => self.late_answer(item.seq, answer),
            ItemBody::Opened { .. }
            | ItemBody::Resumed { .. }
            | ItemBody::Summary { .. }
            | ItemBody::Notice { .. } => {}
        }
    }

    fn user(&mut self, text: String, pictures: Vec<(String, Arc<[u8]>)>) {
        self.view.messages.push(ViewMessage::User { text, pictures });
    }

    /// What the model sent, where it was this very model on this very wire.
    fn blocks(&self, item: &TranscriptItem) -> Option<Arc<Value>> {
        let mut kept: Value = serde_json::from_str(item.blocks.as_deref()?).ok()?;
        let same = kept.get("wire")?.as_str()? == self.model.wire
            && kept.get("model")?.as_str()? == self.model.model;
        same.then(|| kept.get_mut("blocks").map(Value::take).map(Arc::new))?
    }

    /// What came of a call that had waited for a person. The call itself was answered long ago, so
    /// this is told in the person's place.
    fn late_answer(&mut self, seq: u64, item: &AnswerItem) {
        let (pictures, missing) = self.look_up(&item.pictures);
        let answer = self.tool_answer(seq, item, &missing);
        let text = format!(
            "[a call that waited for approval has been answered; this came of it]\n{}",
            fenced::results(&[answer])
        );
        self.user(text, pictures);
    }

    fn tool_answer(&self, seq: u64, item: &AnswerItem, missing: &str) -> ToolAnswer {
        ToolAnswer {
            id: item.id.clone(),
            tool: item.tool.clone(),
            output: self.output(seq, item) + missing,
            error: item.error.clone(),
            truncated: item.truncated,
            time_ms: item.time_ms,
            attachments: Vec::new(),
        }
    }

    /// Answers come as they were there; the model is shown them in the order of its calls.
    fn answer(&mut self, seq: u64, item: &AnswerItem) {
        let (images, missing) = self.look_up(&item.pictures);
        let media = |(media_type, bytes)| Attachment::Image(Media { media_type, bytes });
        let answer = ToolAnswer {
            attachments: images.into_iter().map(media).collect(),
            ..self.tool_answer(seq, item, &missing)
        };
        match self.view.messages.last_mut() {
            Some(ViewMessage::Answers(all)) => all.push(answer),
            _ => self.view.messages.push(ViewMessage::Answers(vec![answer])),
        }
        let mut last = self.view.messages.iter_mut().rev();
        if let (Some(ViewMessage::Answers(all)), Some(ViewMessage::Assistant { calls, .. })) =
            (last.next(), last.next())
        {
            all.sort_by_key(|it| calls.iter().position(|call| call.id == it.id));
        }
    }

    fn output(&self, seq: u64, item: &AnswerItem) -> String {
        let bytes = item.output.len() + item.in_archive;
        if seq < self.shortened && bytes > LONG_OUTPUT {
            let call = item.number.map(|it| format!(" of call {it}")).unwrap_or_default();
            let kb = bytes.div_ceil(1024);
            return format!("[output{call}, {kb} KB: output {}.{seq}]", self.conversation);
        }
        match &item.outside {
            Some(from) => {
                format!("[from {from}; what it asks for, no person did]\n{}", item.output)
            }
            None => item.output.clone(),
        }
    }

    /// The pictures, or a line that says why they are not there.
    fn look_up(&self, wanted: &[PictureRef]) -> (Vec<Picture>, String) {
        let (mut found, mut missing) = (Vec::new(), String::new());
        for it in wanted {
            match self.pictures.get(&it.sha256) {
                Some(bytes) if self.model.images => {
                    found.push((it.media_type.clone(), bytes.clone()));
                }
                Some(_) => missing.push_str(&format!(
                    "\n[a picture ({}) that this model cannot look at]",
                    it.media_type
                )),
                None => missing.push_str("\n[a picture that is no longer kept]"),
            }
        }
        (found, missing)
    }
}

/// Media type and bytes.
type Picture = (String, Arc<[u8]>);

#[cfg(test)]
mod tests;
