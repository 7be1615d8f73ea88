//! A small world: tools that count, rules by name, a scripted model, everything in memory.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use eclusa::*;
use eclusa_chat::*;
use eclusa_models::*;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::memory_transcripts::MemoryTranscripts;

/// What looks like a token, in two pieces so that nobody takes this file for a leak.
pub(crate) const SECRET: &str = concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");

/// A tool that counts how often it ran and says its argument back; `wait` runs for ever.
pub(crate) struct Counting {
    name: &'static str,
    pub(crate) ran: Arc<AtomicUsize>,
}

impl Tool for Counting {
    fn name(&self) -> &str {
        self.name
    }
    fn description(&self, _: &Scene) -> String {
        "Counts.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"text": {"type": "string", "default": ""}}})
    }
    fn facts(&self) -> Facts {
        let class = match self.name {
            "fetch" => PermissionClass::Web,
            _ => PermissionClass::Generic,
        };
        Facts {
            concurrent: self.name == "look",
            class: Some(class),
            needs_reverse_thinking: self.name == "deploy",
            ..Facts::default()
        }
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            self.ran.fetch_add(1, SeqCst);
            if self.name == "wait" {
                std::future::pending::<()>().await;
            }
            if self.name == "leak" {
                return Ok(Output::text(format!("it is {SECRET}")));
            }
            let text = job.args()["text"].as_str().unwrap_or_default();
            Ok(Output::text(format!("did {text}")))
        })
    }
}

/// Everything is allowed but `no`, which is denied, and `ask`, which is asked about.
struct ByName;

impl Policy for ByName {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        let decision = match call.name() {
            "no" => Decision::Deny,
            "ask" => Decision::Ask,
            _ => Decision::Allow,
        };
        let text = "by name".into();
        Verdict::from_reasons(vec![Reason {
            decision,
            source: Source::Rule,
            origin: "test:1".into(),
            text,
        }])
    }

    fn taint_source(&self, call: &CallView<'_>) -> Option<&'static str> {
        (call.name() == "fetch").then_some("a page")
    }
}

/// A person who gives these answers, the last first, and then has gone away.
struct Scripted(Arc<Mutex<Vec<Answer>>>);

impl Approver for Scripted {
    fn name(&self) -> &str {
        "person"
    }
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        let answer = self.0.lock().unwrap().pop();
        let gone = || NotAsked::Unavailable("nobody".to_owned());
        Box::pin(std::future::ready(answer.ok_or_else(gone)))
    }
}

pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) store: MemoryTranscripts,
    pub(crate) ran: Arc<AtomicUsize>,
    pub(crate) answers: Arc<Mutex<Vec<Answer>>>,
}

pub(crate) fn world() -> World {
    world_with(|setup, _| setup)
}

/// A world whose gate is set up in another way.
pub(crate) fn world_with(change: impl FnOnce(GateBuilder, Arc<MemoryLog>) -> GateBuilder) -> World {
    let ran = Arc::new(AtomicUsize::new(0));
    let log = Arc::new(MemoryLog::default());
    let registry = Registry::new();
    for name in ["do", "look", "no", "ask", "wait", "fetch", "deploy", "leak"] {
        registry.add(Counting { name, ran: ran.clone() }).unwrap();
    }
    let answers: Arc<Mutex<Vec<Answer>>> = Arc::default();
    let setup = Gate::builder().registry(registry).policy(ByName).log(log.clone());
    let setup = change(setup, log.clone()).approver(Scripted(answers.clone()));
    let store = MemoryTranscripts::beside(log.clone());
    World { gate: setup.build().unwrap(), log, store, ran, answers }
}

/// A message with these calls: tool and text.
pub(crate) fn says(text: &str, calls: &[(&str, &str)]) -> String {
    let block = |(tool, text): &(&str, &str)| {
        format!("```tool\n{}\n```\n", json!({"name": tool, "args": {"text": text}}))
    };
    format!("## says\n{text}\n{}", calls.iter().map(block).collect::<String>())
}

impl World {
    pub(crate) fn setup(&self, model: Arc<dyn Model>) -> ConversationSetup {
        ConversationSetup {
            gate: self.gate.clone(),
            model,
            persona: Persona::coder(),
            store: Arc::new(self.store.clone()),
            limits: TurnLimits::default(),
            scene: Scene::default(),
            system: "be good".to_owned(),
            project: Some("use tabs".to_owned()),
        }
    }

    pub(crate) fn scripted(&self, script: &str) -> ConversationSetup {
        self.setup(Arc::new(ScriptModel::new("script", script).unwrap()))
    }

    pub(crate) async fn open(&self, script: &str) -> (Conversation, UnboundedReceiver<AgentEvent>) {
        Conversation::open(self.scripted(script)).await.unwrap()
    }

    /// One turn with a script, from the first word to its end.
    pub(crate) async fn turn(&self, script: &str) -> (TurnReport, Conversation) {
        let (mut conversation, _) = self.open(script).await;
        let report = conversation.turn("go".into()).await;
        (report, conversation)
    }

    pub(crate) fn ran(&self) -> usize {
        self.ran.load(SeqCst)
    }

    /// How long the requests were that were sent.
    pub(crate) fn sent_bytes(&self) -> Vec<u64> {
        let bodies = self.log.records();
        let bodies = bodies.iter().map(|it| serde_json::from_str::<Value>(&it.body).unwrap());
        bodies.filter(|it| it["event"] == "sent").filter_map(|it| it["bytes"].as_u64()).collect()
    }

    /// What happened, in words: records of the log.
    pub(crate) fn events(&self) -> Vec<String> {
        let records = self.log.records();
        let body = |it: &Record| serde_json::from_str::<Value>(&it.body).unwrap();
        records.iter().map(|it| body(it)["event"].as_str().unwrap().to_owned()).collect()
    }
}

/// The kinds of what was kept, in order.
pub(crate) fn kinds(conversation: &Conversation) -> Vec<&'static str> {
    conversation.items().iter().map(|it| it.body.kind()).collect()
}

/// The codes of the answers, in the order in which they were kept.
pub(crate) fn codes(conversation: &Conversation) -> Vec<String> {
    let code = |it: &TranscriptItem| match &it.body {
        ItemBody::Answer(it) => Some(it.code.clone()),
        _ => None,
    };
    conversation.items().iter().filter_map(code).collect()
}
