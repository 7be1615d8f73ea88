//! Whatever happened in a conversation, on whatever wire: the next request is one that providers take.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use eclusa::{ToolCall, Wire, settings::Thinking};
use eclusa_chat::*;
use eclusa_models::model::*;
use eclusa_models::*;
use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;

use crate::{fake_server::strict, world::*};

/// What the model does next.
#[derive(Debug, Clone, Copy)]
enum Step {
    Says,
    SaysNothing,
    Calls(usize),
    CallsUnknown,
    Fails,
    IsCutOff,
    Pauses,
    IsFull,
}

/// A model that plays steps, on one wire, and judges what it is asked.
struct Judging {
    wire: Arc<HttpModel>,
    path: &'static str,
    steps: Mutex<VecDeque<Step>>,
    /// Whoever is interrupted while the model speaks.
    handle: Mutex<Option<ConversationHandle>>,
    wrong: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<u32>>,
}

impl Judging {
    fn reply(&self, step: Step) -> Result<ModelReply, ModelError> {
        let mut reply = ModelReply { text: "words".to_owned(), ..ModelReply::default() };
        let mut call = |tool: &str| {
            let mut count = self.calls.lock().unwrap();
            *count += 1;
            let args = json!({"text": count.to_string()});
            reply.asked.push(ToolCall::new(format!("c{count}"), tool, args).into());
            reply.why = StopReason::Calls;
        };
        match step {
            Step::Calls(count) => ["do", "look", "no"].iter().take(count).for_each(|it| call(it)),
            Step::CallsUnknown => {
                call("nobody-knows-it");
                reply.text.clear();
            }
            Step::Pauses => reply.why = StopReason::Paused,
            Step::SaysNothing => reply.text.clear(),
            Step::Fails => return Err(ModelError::retry("busy", Some(Duration::ZERO))),
            Step::IsFull => {
                return Err(ModelError {
                    what: "too long".to_owned(),
                    kind: ModelErrorKind::TooLong,
                });
            }
            Step::Says | Step::IsCutOff => {}
        }
        Ok(reply)
    }
}

impl Model for Judging {
    fn profile(&self) -> &ModelProfile {
        self.wire.profile()
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        self.wire.body(request)
    }

    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let body = serde_json::from_slice(&body).unwrap();
            if let Err(wrong) = strict(self.path, &body, &HashSet::new()) {
                self.wrong.lock().unwrap().push(format!("{wrong}: {body}"));
            }
            let step = self.steps.lock().unwrap().pop_front().unwrap_or(Step::Says);
            if let Step::IsCutOff = step {
                hear(Delta::Text("half a".to_owned()));
                self.handle.lock().unwrap().as_ref().unwrap().interrupt();
                return std::future::pending().await;
            }
            self.reply(step)
        })
    }
}

/// What happens to the conversation.
#[derive(Debug, Clone)]
enum Happens {
    Turn(Vec<Step>),
    Compact,
    Fork,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Says),
        1 => Just(Step::SaysNothing),
        4 => (1usize..4).prop_map(Step::Calls),
        1 => Just(Step::CallsUnknown),
        1 => Just(Step::Fails),
        1 => Just(Step::IsCutOff),
        1 => Just(Step::Pauses),
        1 => Just(Step::IsFull),
    ]
}

fn happens() -> impl Strategy<Value = (usize, Happens)> {
    let what = prop_oneof![
        6 => prop::collection::vec(step(), 0..5).prop_map(Happens::Turn),
        1 => Just(Happens::Compact),
        1 => Just(Happens::Fork),
    ];
    (0usize..4, what)
}

/// What writes requests, on each wire. Making one takes long.
static WRITERS: LazyLock<[Arc<HttpModel>; 4]> = LazyLock::new(|| {
    Wire::ALL.map(|wire| {
        let settings = WireSettings {
            name: "judging".to_owned(),
            wire,
            model: "m1".to_owned(),
            url: "http://127.0.0.1:1".to_owned(),
            native: true,
            window: 100_000,
            output: 1_000,
            thinking: Thinking::Off,
            images: false,
            price: None,
        };
        Arc::new(HttpModel::new(settings, None).unwrap())
    })
});

/// A model on this wire that plays these steps.
fn judging(
    wire: Wire,
    steps: Vec<Step>,
    wrong: &Arc<Mutex<Vec<String>>>,
    calls: &Arc<Mutex<u32>>,
) -> Arc<Judging> {
    Arc::new(Judging {
        wire: WRITERS[Wire::ALL.iter().position(|it| *it == wire).unwrap()].clone(),
        path: match wire {
            Wire::Anthropic => "/v1/messages",
            Wire::Openai => "/v1/responses",
            Wire::OpenaiChat => "/v1/chat/completions",
            Wire::Gemini => "generateContent",
        },
        steps: Mutex::new(steps.into()),
        handle: Mutex::default(),
        wrong: wrong.clone(),
        calls: calls.clone(),
    })
}

/// What is wrong with the next request of a conversation, on this wire.
pub(crate) async fn judged(world: &World, id: &str, wire: Wire) -> Vec<String> {
    let wrong = Arc::<Mutex<Vec<String>>>::default();
    let model = judging(wire, Vec::new(), &wrong, &Arc::default());
    let (mut conversation, _) = Conversation::resume(world.setup(model), id).await.unwrap();
    let report = conversation.turn("and now?".into()).await;
    assert_eq!((report.end, report.requests), (TurnEnd::Done, 1));
    let wrong = wrong.lock().unwrap();
    wrong.clone()
}

/// Goes through it, each time on the wire that is named: resumed, as after a switch of models.
async fn play(history: Vec<(usize, Happens)>) -> Vec<String> {
    let world = world();
    let (wrong, calls) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<u32>>::default());
    let mut id: Option<String> = None;
    for (wire, happens) in history {
        let steps = match &happens {
            Happens::Turn(steps) => steps.clone(),
            _ => Vec::new(),
        };
        let model = judging(Wire::ALL[wire], steps, &wrong, &calls);
        let setup = world.setup(model.clone());
        let (mut conversation, _) = match &id {
            Some(id) => Conversation::resume(setup, id).await.unwrap(),
            None => Conversation::open(setup).await.unwrap(),
        };
        *model.handle.lock().unwrap() = Some(conversation.handle());
        id = Some(conversation.id().to_owned());
        match happens {
            Happens::Turn(_) => drop(conversation.turn("go".into()).await),
            Happens::Compact => conversation.compact().await,
            Happens::Fork => {
                drop(conversation);
                id = Some(fork(&world.store, &id.unwrap(), None, 1).await.unwrap());
            }
        }
    }
    let wrong = wrong.lock().unwrap();
    wrong.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn any_history_gives_requests_that_providers_take(
        history in prop::collection::vec(happens(), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let wrong = runtime.block_on(play(history));
        prop_assert!(wrong.is_empty(), "{:?}", wrong.first());
    }
}
