//! A small world: tools that behave and misbehave, rules by prefix, people with a script.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use eclusa::*;
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// How often tools ran, and how many at once at the most.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) ran: AtomicUsize,
    busy: AtomicUsize,
    pub(crate) peak: AtomicUsize,
}

/// A tool whose name says what it does: `echo` and `look` are concurrent, `bash` runs alone,
/// `deploy` needs a checkpoint, `choose` needs reverse thinking, `panic`, `hang`, `fail`, `nest`.
pub(crate) struct TestTool {
    pub(crate) name: &'static str,
    pub(crate) counters: Arc<Counters>,
}

impl Tool for TestTool {
    fn name(&self) -> &str {
        self.name
    }
    fn description(&self, scene: &Scene) -> String {
        format!("{} something in {}", self.name, scene.workspace)
    }
    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "count": {"type": "integer", "default": 1}},
            "required": ["text"],
        })
    }
    fn facts(&self) -> Facts {
        Facts {
            concurrent: matches!(self.name, "echo" | "look"),
            needs_checkpoint: self.name == "deploy",
            needs_reverse_thinking: self.name == "choose",
            destructive: self.name == "deploy",
            class: match self.name {
                "bash" => Some(PermissionClass::Shell),
                "echo" | "look" => Some(PermissionClass::ReadOnly),
                _ => None,
            },
            ..Facts::default()
        }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Run(args["text"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        if self.name == "panic early" {
            panic!("before there is a future");
        }
        Box::pin(async move {
            self.counters.ran.fetch_add(1, SeqCst);
            let now = self.counters.busy.fetch_add(1, SeqCst) + 1;
            self.counters.peak.fetch_max(now, SeqCst);
            let text = job.args()["text"].as_str().unwrap_or_default();
            let said = match self.name {
                "panic" => panic!("boom"),
                "hang" => {
                    if let Ok(thinks) = text.parse() {
                        let _asking = job.asking();
                        tokio::time::sleep(Duration::from_secs(thinks)).await;
                    }
                    std::future::pending().await
                }
                "fail" => Err(ToolError {
                    message: "exit status 3".to_owned(),
                    output: format!("partly: {text}"),
                    data: None,
                }),
                "nest" => {
                    let inner = ToolCall::new("inner", "nest", json!({"text": text}));
                    let call = match text.strip_prefix("call ") {
                        Some(rest) => {
                            ToolCall { args: json!({"text": rest}), tool: "bash".into(), ..inner }
                        }
                        None => inner,
                    };
                    let reply = job.pass(call).await;
                    Ok(Output::text(format!("inner said: {}", reply.content())))
                }
                _ => {
                    for _ in 0..3 {
                        tokio::task::yield_now().await;
                    }
                    job.progress(0.5, "half way");
                    Ok(Output::text(format!("did: {text}")))
                }
            };
            self.counters.busy.fetch_sub(1, SeqCst);
            said
        })
    }
}

/// Rules by prefix of the text: `rm` is denied, `git` is asked about, `stage` staged, the rest
/// allowed.
pub(crate) struct Prefixes;

impl Policy for Prefixes {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        let text = call.args()["text"].as_str().unwrap_or_default();
        let decision = match text {
            "policy panics" => panic!("policy"),
            _ if text.starts_with("rm") => Decision::Deny,
            _ if ["git", "default", "closed"].iter().any(|it| text.starts_with(it)) => {
                Decision::Ask
            }
            _ if text.starts_with("stage") => Decision::Stage,
            _ => Decision::Allow,
        };
        let source = match text {
            _ if text.starts_with("default") => Source::Default,
            _ if text.starts_with("closed") => Source::Administrator,
            _ => Source::Rule,
        };
        let text = format!("{decision} `{text}`").into();
        Verdict::from_reasons(vec![Reason { decision, source, origin: "test:1".into(), text }])
    }
}

/// A person who answers from a list, and notes what was asked.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answers: Mutex<VecDeque<Result<Answer, NotAsked>>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Approver for Person {
    fn name(&self) -> &str {
        "person"
    }
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            answer.unwrap_or_else(|| Err(NotAsked::Failed("the script ran out".into())))
        })
    }
}

pub(crate) const TOOLS: [&str; 9] =
    ["echo", "look", "bash", "deploy", "choose", "panic", "hang", "fail", "nest"];

/// The world before its gate is closed.
pub(crate) struct World {
    pub(crate) setup: GateBuilder,
    pub(crate) registry: Arc<Registry>,
    pub(crate) limits: Limits,
    pub(crate) events: Events,
    pub(crate) run: Run,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) person: Arc<Person>,
}

pub(crate) fn world() -> World {
    let counters = Arc::new(Counters::default());
    let registry = Arc::new(Registry::new());
    for name in TOOLS {
        registry.add(TestTool { name, counters: counters.clone() }).unwrap();
    }
    let log = Arc::new(MemoryLog::default());
    let events = Events::default();
    let setup = Gate::builder().registry(registry.clone()).policy(Prefixes).log(log.clone());
    let setup = setup.events(events.clone());
    // Long for a busy machine; tests in which something hangs run on a clock that jumps.
    let limit = Duration::from_secs(5);
    let limits = Limits {
        time: limit,
        review: limit,
        checkpoint: limit,
        approval: limit,
        audit: limit,
        output: 40,
        ..Limits::default()
    };
    let (run, person) = (Run::default(), Arc::default());
    World { setup, registry, limits, events, run, log, counters, person }
}

impl World {
    /// With room for so many bytes of output.
    pub(crate) fn output(mut self, bytes: usize) -> World {
        self.limits.output = bytes;
        self
    }

    /// With somebody who gives these answers.
    pub(crate) fn person(mut self, answers: impl IntoIterator<Item = Answer>) -> World {
        self.person.answers.lock().unwrap().extend(answers.into_iter().map(Ok));
        self.setup = self.setup.approvers(vec![self.person.clone()]);
        self
    }

    pub(crate) fn mode(mut self, mode: Mode) -> World {
        self.run.mode = mode;
        self
    }

    pub(crate) fn reviewer(mut self, reviewer: impl Reviewer + 'static) -> World {
        self.setup = self.setup.reviewer(reviewer);
        self
    }

    pub(crate) fn close(self) -> Closed {
        let gate = self.setup.limits(self.limits).run(self.run).build().unwrap();
        Closed { gate, log: self.log, counters: self.counters, person: self.person }
    }
}

/// The world with its gate closed around it.
pub(crate) struct Closed {
    pub(crate) gate: Gate,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) person: Arc<Person>,
}

impl Closed {
    /// The bodies of all records.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let records = self.log.records();
        records.iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect()
    }

    /// What happened, in words: `started ended:ok`.
    pub(crate) fn events(&self) -> String {
        let words = self.bodies().into_iter().map(|body| {
            let event = body["event"].as_str().unwrap().to_owned();
            match body["code"].as_str() {
                Some(code) => format!("{event}:{code}"),
                None => event,
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn ran(&self) -> usize {
        self.counters.ran.load(SeqCst)
    }

    pub(crate) fn questions(&self) -> usize {
        self.person.asked.lock().unwrap().len()
    }
}

pub(crate) fn call(tool: &str, text: &str) -> ToolCall {
    ToolCall::new("c1", tool, json!({"text": text}))
}

/// The one place that exercises the API: a call in; the reply's text and the log out.
///
/// Whatever happens, the chain verifies, there is one end for the call, the end is on record,
/// and the tool ran if and only if its start is on record.
pub(crate) async fn check(world: World, call: ToolCall, reply: &str, log: &str) -> Closed {
    let world = world.close();
    let got = world.gate.pass(call).await;
    assert_eq!((&*got.content(), &*world.events()), (reply, log));
    world.log.verify().unwrap();
    assert_eq!(world.events().matches("ended:").count(), 1);
    assert!(got.receipt().is_some());
    assert_eq!(world.ran(), world.events().matches("started").count());
    world
}
