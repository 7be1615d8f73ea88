//! One entry of a transcript: what was said, called, answered or noted, and its face as JSON.

use serde_json::{Map, Value, json};

use crate::timestamp;

mod answer_json;

use answer_json::{pictures, read_pictures};

/// One entry of a transcript. Entries are appended and never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptItem {
    /// Its place in the conversation, from 1.
    pub seq: u64,
    /// The turn, from 1; 0 is before the first.
    pub turn: u64,
    /// Which message of the model it is part of.
    pub message: Option<u64>,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it is. Redacted: this is what is shown, exported and searched.
    pub body: ItemBody,
    /// What the model sent, byte for byte, to be sent back to the same wire and model; never
    /// exported.
    pub blocks: Option<String>,
    /// The end of the log when the message was kept: its calls are recorded after it.
    pub log_at: Option<u64>,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemBody {
    /// The conversation began, or was given another model, persona or system text.
    Opened {
        /// The system text.
        system: String,
        /// What the project says, shown to the model as the first message of the user.
        project: Option<String>,
        /// The model, as it is called in the configuration.
        model: String,
        /// The persona.
        persona: String,
        /// The call that started it, where it is a task.
        task: Option<TaskOrigin>,
    },
    /// A person spoke.
    Person {
        /// The words.
        text: String,
        /// Pictures that came with them, by digest.
        pictures: Vec<PictureRef>,
    },
    /// The model spoke. One message has one of these, before its calls.
    Model {
        /// The words.
        text: String,
        /// Its reasoning, as far as it was told.
        thoughts: Option<String>,
    },
    /// The model asked for a tool.
    Call {
        /// The model's id for it.
        id: String,
        /// The tool, in the model's word.
        name: String,
        /// The arguments; `null` when they could not be read.
        args: Value,
        /// Why the model says it wants this.
        reason: Option<String>,
    },
    /// A call was answered.
    Answer(AnswerItem),
    /// A call that waited for a person has been answered by one, and passes again under this id.
    Resumed {
        /// The id that it passes under.
        id: String,
        /// The approval that it waited for.
        approval: u64,
        /// The tool.
        name: String,
        /// The arguments.
        args: Value,
    },
    /// What came of a call that had waited: told to the model when it was there.
    LateAnswer(AnswerItem),
    /// Words of the model that were cut off by an interruption.
    Partial {
        /// The words.
        text: String,
    },
    /// From here on the model is shown less of what lies before `cut`.
    Summary {
        /// Stands for everything before `cut`. `None`: only long outputs before it are left out.
        text: Option<String>,
        /// The first entry that is shown as it is.
        cut: u64,
    },
    /// Something that people should know. The model is not told.
    Notice {
        /// The sentence.
        text: String,
    },
    /// Words that were typed and not sent when the person left. The model is not told.
    Draft {
        /// The words.
        text: String,
    },
}

/// Where the calls of a task are on record: those of its parent's conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOrigin {
    /// The conversation in whose name they pass.
    pub conversation: String,
    /// What their ids begin with.
    pub prefix: String,
}

/// How a call was answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerItem {
    /// The model's id for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it produced.
    pub output: String,
    /// Why it failed or was refused.
    pub error: Option<String>,
    /// Whether the output is less than it produced.
    pub truncated: bool,
    /// How long the tool ran.
    pub time_ms: u64,
    /// The stable code of the outcome.
    pub code: String,
    /// The number of the call in the log.
    pub number: Option<u64>,
    /// Pictures, by digest.
    pub pictures: Vec<PictureRef>,
    /// Where the output came from, if from outside: `the web: example.org`.
    pub outside: Option<String>,
    /// The pending approval that the call waits for.
    pub approval: Option<u64>,
    /// So many bytes of the output are in the archive alone; `output` is empty then.
    pub in_archive: usize,
}

/// A picture that is kept once, by its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRef {
    /// SHA-256, in hexadecimal.
    pub sha256: String,
    /// Its type, such as `image/png`.
    pub media_type: String,
}

impl ItemBody {
    /// The word for it in the archive.
    pub fn kind(&self) -> &'static str {
        match self {
            ItemBody::Opened { .. } => "opened",
            ItemBody::Person { .. } | ItemBody::Model { .. } => "said",
            ItemBody::Call { .. } => "call",
            ItemBody::Answer(_) => "answer",
            ItemBody::Resumed { .. } => "resumed",
            ItemBody::LateAnswer(_) => "late_answer",
            ItemBody::Partial { .. } => "partial",
            ItemBody::Summary { .. } => "summary",
            ItemBody::Notice { .. } => "notice",
            ItemBody::Draft { .. } => "draft",
        }
    }

    /// The same for whoever reads entries without their contents: calls that wait can be told apart.
    pub fn row_kind(&self) -> &'static str {
        match self {
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) if it.approval.is_some() => "parked",
            other => other.kind(),
        }
    }

    /// Lets go of an output that is longer than this: it can be read from the archive.
    pub fn leave_output(&mut self, longest: usize) {
        if let ItemBody::Answer(it) | ItemBody::LateAnswer(it) = self
            && it.output.len() > longest
        {
            it.in_archive = std::mem::take(&mut it.output).len();
        }
    }

    /// Whose words it holds: `system`, `user`, `assistant` or `tool`.
    pub fn role(&self) -> &'static str {
        match self {
            ItemBody::Opened { .. }
            | ItemBody::Resumed { .. }
            | ItemBody::Notice { .. }
            | ItemBody::Summary { .. } => "system",
            ItemBody::Person { .. } | ItemBody::Draft { .. } => "user",
            ItemBody::Model { .. } | ItemBody::Call { .. } | ItemBody::Partial { .. } => {
                "assistant"
            }
            ItemBody::Answer(_) | ItemBody::LateAnswer(_) => "tool",
        }
    }

    /// All of its words, for a search.
    pub fn words(&self) -> String {
        match self {
            ItemBody::Opened { .. } => String::new(),
            ItemBody::Person { text, .. }
            | ItemBody::Model { text, .. }
            | ItemBody::Partial { text }
            | ItemBody::Notice { text }
            | ItemBody::Draft { text } => text.clone(),
            ItemBody::Call { name, args, .. } | ItemBody::Resumed { name, args, .. } => {
                format!("{name} {args}")
            }
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) => match &it.error {
                Some(error) => format!("{error}\n{}", it.output),
                None => it.output.clone(),
            },
            ItemBody::Summary { text, .. } => text.clone().unwrap_or_default(),
        }
    }
}

impl TranscriptItem {
    /// The entry as one JSON object (S1.49): what is kept, exported and read back.
    pub fn json(&self, conversation: &str) -> Value {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| {
            if !value.is_null() {
                fields.insert(name.to_owned(), value);
            }
        };
        set("v", 1.into());
        set("id", format!("{conversation}.{}", self.seq).into());
        set("turn", self.turn.into());
        set("message", self.message.into());
        set("timestamp", timestamp::iso(self.at).into());
        set("role", self.body.role().into());
        set("kind", self.body.kind().into());
        match &self.body {
            ItemBody::Opened { system, project, model, persona, task } => {
                set("content", system.as_str().into());
                set("project", project.as_deref().into());
                set("model", model.as_str().into());
                set("persona", persona.as_str().into());
                let origin =
                    |it: &TaskOrigin| json!({"session": it.conversation, "prefix": it.prefix});
                set("task", task.as_ref().map(origin).into());
            }
            ItemBody::Person { text, pictures: all } => {
                set("content", text.as_str().into());
                set("pictures", pictures(all));
            }
            ItemBody::Model { text, thoughts } => {
                set("content", text.as_str().into());
                set("thoughts", thoughts.as_deref().into());
            }
            ItemBody::Call { id, name, args, reason } => {
                let call = json!({"id": id, "name": name, "args": args, "reason": reason});
                set("content", "".into());
                set("tool_call", call);
            }
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) => set("tool_result", it.json()),
            ItemBody::Resumed { id, approval, name, args } => {
                set("approval", (*approval).into());
                set("tool_call", json!({"id": id, "name": name, "args": args}));
            }
            ItemBody::Partial { text } | ItemBody::Notice { text } | ItemBody::Draft { text } => {
                set("content", text.as_str().into());
            }
            ItemBody::Summary { text, cut } => {
                set("content", text.as_deref().into());
                set("cut", (*cut).into());
            }
        }
        Value::Object(fields)
    }

    /// Reads an entry back; what only the archive knows (`blocks`, `log_at`) is not in it.
    pub fn from_json(value: &Value) -> Option<TranscriptItem> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let content = text("content");
        let body = match (text("kind")?.as_str(), text("role")?.as_str()) {
            ("opened", _) => ItemBody::Opened {
                system: content?,
                project: text("project"),
                model: text("model")?,
                persona: text("persona")?,
                task: value.get("task").and_then(|it| {
                    let field =
                        |name: &str| it.get(name).and_then(Value::as_str).map(str::to_owned);
                    Some(TaskOrigin { conversation: field("session")?, prefix: field("prefix")? })
                }),
            },
            ("said", "user") => {
                ItemBody::Person { text: content?, pictures: read_pictures(value.get("pictures")) }
            }
            ("said", _) => ItemBody::Model { text: content?, thoughts: text("thoughts") },
            ("call", _) => {
                let call = value.get("tool_call")?;
                let field = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
                ItemBody::Call {
                    id: field("id")?,
                    name: field("name")?,
                    args: call.get("args").cloned().unwrap_or_default(),
                    reason: field("reason"),
                }
            }
            ("answer", _) => ItemBody::Answer(AnswerItem::from_json(value.get("tool_result")?)?),
            ("late_answer", _) => {
                ItemBody::LateAnswer(AnswerItem::from_json(value.get("tool_result")?)?)
            }
            ("resumed", _) => {
                let call = value.get("tool_call")?;
                let field = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
                ItemBody::Resumed {
                    id: field("id")?,
                    approval: number("approval")?,
                    name: field("name")?,
                    args: call.get("args").cloned().unwrap_or_default(),
                }
            }
            ("partial", _) => ItemBody::Partial { text: content? },
            ("summary", _) => ItemBody::Summary { text: content, cut: number("cut")? },
            ("notice", _) => ItemBody::Notice { text: content? },
            ("draft", _) => ItemBody::Draft { text: content? },
            _ => return None,
        };
        Some(TranscriptItem {
            seq: text("id")?.rsplit_once('.')?.1.parse().ok()?,
            turn: number("turn")?,
            message: number("message"),
            at: timestamp::from_iso(&text("timestamp")?)?,
            body,
            blocks: None,
            log_at: None,
        })
    }
}
