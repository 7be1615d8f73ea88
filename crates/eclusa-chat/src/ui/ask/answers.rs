//! Questions as lines of JSON on stdout, answers as lines of JSON on stdin.

use std::{
    collections::HashMap,
    io::BufRead,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{Answer, Approver, NotAsked, Question, render};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// A question, as a program is asked it.
pub(super) struct AskedQuestion(Question);

impl AskedQuestion {
    /// What is shown to whoever answers: the rendered question, and the arguments as they are shown.
    pub(super) fn json(&self) -> Value {
        let args = self.0.shown_args.as_ref().unwrap_or(&self.0.args);
        let lines: Vec<String> = render(&self.0).lines.iter().map(ToString::to_string).collect();
        json!({
            "event": "question",
            "binding": self.0.binding,
            "call": self.0.call,
            "tool": self.0.tool,
            "args": args,
            "lines": lines,
        })
    }
}

/// Who waits for an answer, by what it must be bound to.
#[derive(Default)]
struct OpenQuestions {
    waiting: HashMap<String, oneshot::Sender<Answer>>,
    /// Nothing more will be answered.
    ended: bool,
}

/// Puts questions to the program on the other side of stdin and stdout.
pub(super) struct StdinApprover {
    ask: mpsc::UnboundedSender<AskedQuestion>,
    open: Arc<Mutex<OpenQuestions>>,
}

impl StdinApprover {
    /// The approver, and the questions to be printed.
    pub(super) fn new() -> (StdinApprover, mpsc::UnboundedReceiver<AskedQuestion>) {
        let (ask, asked) = mpsc::unbounded_channel();
        let open = Arc::new(Mutex::new(OpenQuestions::default()));
        let reading = open.clone();
        // Reading blocks, and nobody waits for its end.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                take(&reading, &line);
            }
            let mut open = reading.lock().unwrap_or_else(PoisonError::into_inner);
            open.ended = true;
            open.waiting.clear();
        });
        (StdinApprover { ask, open }, asked)
    }
}

/// Takes one line. One that is no answer, or is bound to another question, counts for nothing.
fn take(open: &Mutex<OpenQuestions>, line: &str) {
    let Ok(said) = serde_json::from_str::<Value>(line) else { return };
    let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
    let answer = match text("answer") {
        "once" => Answer::Once,
        "session" => Answer::Session,
        "edits" => Answer::Edits,
        "review" => Answer::Review,
        "instead" if !text("text").trim().is_empty() => Answer::Instead(text("text").to_owned()),
        "no" => Answer::No(text("reason").to_owned()),
        "abort" => Answer::Abort,
        _ => return,
    };
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(waiting) = open.waiting.remove(text("binding")) {
        // An error means that nobody waits any more.
        drop(waiting.send(answer));
    }
}

impl Approver for StdinApprover {
    fn name(&self) -> &str {
        "stdin"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            {
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                if open.ended {
                    return Err(NotAsked::Unavailable("stdin has ended".to_owned()));
                }
                open.waiting.insert(question.binding.clone(), tell);
            }
            let gone = |_| NotAsked::Unavailable("no program reads the questions".to_owned());
            self.ask.send(AskedQuestion(question.clone())).map_err(gone)?;
            told.await.map_err(|_| NotAsked::Unavailable("stdin has ended".to_owned()))
        })
    }
}
