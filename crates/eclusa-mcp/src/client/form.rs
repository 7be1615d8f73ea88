//! A question as a form that every client can show: one text, one choice, one line of reason.

use std::time::{Duration, Instant};

use eclusa::{Answer, Question, approve::Role, render};
use serde_json::{Map, Value, json};

/// The word for each answer of the renderer, by its key there. Editing has no place in a form.
const WORDS: [(&str, &str); 8] = [
    ("y", "yes"),
    ("s", "session"),
    ("A", "edits"),
    ("r", "review"),
    ("a", "always"),
    ("n", "no"),
    ("i", "instead"),
    ("q", "stop"),
];

/// A form that is dismissed within this time was not read by anybody: it is what programs send
/// that have no person in front of them.
const UNREAD: Duration = Duration::from_secs(1);

/// What came back for a form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormAnswer {
    /// A person's answer.
    Given(Answer),
    /// It was dismissed before anybody can have read it.
    Unread,
}

/// A question, as a client shows it.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// What the person reads: the one renderer's text.
    pub(crate) message: String,
    /// The answers there are.
    choices: Vec<&'static str>,
    /// What the answer is bound to.
    pub(crate) binding: String,
    /// How long an answer is waited for.
    pub(crate) time: Duration,
    /// When it was sent to the client.
    sent: Instant,
}

impl Form {
    pub(crate) fn new(question: &Question) -> Form {
        let mut choices = vec!["yes"];
        if question.grant.is_some() {
            choices.push("session");
            if question.offers_edits() {
                choices.push("edits");
            }
            if question.can_always {
                choices.push("always");
            }
        }
        if question.offers_review() {
            choices.push("review");
        }
        choices.push("no");
        if question.offers_instead() {
            choices.push("instead");
        }
        choices.push("stop");
        Form {
            message: message(question, &choices),
            choices,
            binding: question.binding.clone(),
            time: question.time,
            sent: Instant::now(),
        }
    }

    /// Notes that it goes out to the client now.
    pub(crate) fn goes_out(&mut self) {
        self.sent = Instant::now();
    }

    /// The schema of the answer. Codex takes nothing at its root beyond `$schema`, `type`,
    /// `properties` and `required`; nothing is nested, and there is no default to slip through.
    pub(crate) fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string",
                    "title": "Answer",
                    "description": "What becomes of the call",
                    "enum": self.choices,
                },
                "reason": {
                    "type": "string",
                    "title": "Reason",
                    "description": "With `no`: the reason for the model; with `instead`: the result in \
                    place of the tool's",
                },
            },
            "required": ["answer"],
        })
    }

    /// What a client's answer means: `None` when it is none, and the question still stands.
    ///
    /// Only an accepted form with a choice that was offered is a yes. A form that is declined or
    /// dismissed is a no; where that takes no time at all, nobody has seen it.
    pub(crate) fn read(&self, said: &Value) -> Option<FormAnswer> {
        let content = said.get("content").and_then(Value::as_object);
        let reason = reason(content).filter(|it| !it.is_empty());
        match said.get("action").and_then(Value::as_str)? {
            "accept" => self.chosen(content?).map(FormAnswer::Given),
            "decline" | "cancel" if reason.is_none() && self.sent.elapsed() < UNREAD => {
                Some(FormAnswer::Unread)
            }
            "decline" => Some(FormAnswer::Given(Answer::No(reason.unwrap_or_default()))),
            "cancel" => {
                let closed = "the question was closed without an answer".to_owned();
                Some(FormAnswer::Given(Answer::No(closed)))
            }
            _ => None,
        }
    }

    fn chosen(&self, content: &Map<String, Value>) -> Option<Answer> {
        let choice = content.get("answer").and_then(Value::as_str)?;
        if !self.choices.contains(&choice) {
            return None;
        }
        Some(match choice {
            "yes" => Answer::Once,
            "session" => Answer::Session,
            "edits" => Answer::Edits,
            "review" => Answer::Review,
            "always" => Answer::Always,
            "stop" => Answer::Abort,
            // Without words it is no answer.
            "instead" => Answer::Instead(reason(Some(content)).filter(|it| !it.trim().is_empty())?),
            _ => Answer::No(reason(Some(content)).unwrap_or_default()),
        })
    }
}

fn reason(content: Option<&Map<String, Value>>) -> Option<String> {
    content?.get("reason").and_then(Value::as_str).map(str::to_owned)
}

/// The renderer's lines; the keys of a terminal give way to the words of the form.
fn message(question: &Question, choices: &[&str]) -> String {
    let mut text = String::new();
    for line in render(question).lines {
        let line = match line.role {
            Role::Answer => match worded(&line.label, choices) {
                Some(line) => line,
                None => continue,
            },
            _ => line.to_string(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn worded(line: &str, choices: &[&str]) -> Option<String> {
    let (key, meaning) = line.trim_start().split_once("  ")?;
    let (_, word) = WORDS.iter().find(|(it, _)| *it == key)?;
    choices.contains(word).then(|| format!("  {word:7}  {meaning}"))
}

#[cfg(test)]
pub(crate) mod tests;
