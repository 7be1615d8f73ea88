//! A model that says what a file says: for demonstrations, rehearsals and tests without a network.
//!
//! ````text
//! rate: 5000
//! ## says
//! I look at the file first.
//! ```tool
//! {"name": "read", "args": {"path": "a.txt"}}
//! ```
//! ## expects two
//! ## fails 529
//! ## says
//! It has two lines.
//! ````
//!
//! `says` is a message, and its `tool` blocks are calls. `expects` must be in what the model was told
//! since its last message, `system` in its system text. `fails` and `breaks` are faults before the next message: a status, and a
//! stream that is cut.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use eclusa::parse::fenced;
use futures::future::BoxFuture;
use serde_json::{json, value::RawValue};

use crate::{
    message_cache::MessageCache,
    model::{
        Delta, Model, ModelError, ModelProfile, ModelReply, ModelRequest, StopReason, Usage,
        ViewMessage,
    },
};

/// How many bytes of text stand for a token.
const BYTES_PER_TOKEN: usize = 4;

/// A model that says what a script says.
pub struct ScriptModel {
    profile: ModelProfile,
    steps: Vec<ScriptedMessage>,
    /// Tokens a second; 0: at once.
    rate: u64,
    /// How many faults have been played, over all messages.
    faults: AtomicUsize,
    /// The words of messages, as they are written.
    cache: MessageCache<String>,
}

/// What a script is asked. Messages before `since` were told before, and are not read.
#[derive(serde::Deserialize)]
struct ScriptRequest<'a> {
    system: String,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    since: usize,
    replies: usize,
}

/// One message of a script, and what comes before it.
#[derive(Debug, Clone, Default, PartialEq)]
struct ScriptedMessage {
    expects: Vec<String>,
    system: Vec<String>,
    faults: Vec<Fault>,
    says: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Fault {
    Status(u16),
    Break,
}

impl ScriptModel {
    /// Reads a script. The error says what is wrong, and in which line.
    pub fn new(name: &str, script: &str) -> Result<ScriptModel, String> {
        let (rate, steps) = read(script)?;
        let profile = ModelProfile {
            name: name.to_owned(),
            model: "script".to_owned(),
            wire: "script",
            host: String::new(),
            declares: None,
            window: 200_000,
            output: 16_000,
            images: false,
            price: None,
        };
        let (faults, cache) = (AtomicUsize::new(0), MessageCache::default());
        Ok(ScriptModel { profile, steps, rate, faults, cache })
    }

    /// The same with another window, to see what happens when it is full.
    pub fn with_window(mut self, window: u64, output: u64) -> ScriptModel {
        (self.profile.window, self.profile.output) = (window, output);
        self
    }

    /// The fault that is due before this message, if one is left.
    fn fault(&self, place: usize) -> Option<Fault> {
        let before: usize = self.steps.iter().take(place).map(|it| it.faults.len()).sum();
        let faults = &self.steps.get(place)?.faults;
        let played = self.faults.load(Ordering::Acquire).max(before);
        let fault = faults.get(played - before).cloned();
        if fault.is_some() {
            self.faults.store(played + 1, Ordering::Release);
        }
        fault
    }

    async fn say(
        &self,
        body: &[u8],
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, ModelError> {
        let request: ScriptRequest<'_> = serde_json::from_slice(body)
            .map_err(|err| ModelError::fatal(format!("the script cannot be asked this: {err}")))?;
        let place = request.replies;
        let told = request.messages.iter().skip(request.since);
        let told = told.filter_map(|it| serde_json::from_str::<String>(it.get()).ok());
        let told = told.collect::<Vec<_>>().join("\n");
        let fault = self.fault(place);
        if let Some(Fault::Status(status)) = fault {
            let what = format!("the script fails with {status}");
            return Err(match status {
                408 | 409 | 429 | 500..=599 => ModelError::retry(what, Some(Duration::ZERO)),
                413 => ModelError::too_long(what),
                _ => ModelError::fatal(what),
            });
        }
        let step = self.steps.get(place);
        let Some(text) = step.and_then(|it| it.says.as_deref()) else {
            return Err(ModelError::fatal("the script has ended"));
        };
        let system = request.system;
        if let Some(missing) =
            step.and_then(|it| it.system.iter().find(|it| !system.contains(it.as_str())))
        {
            let what = format!("the script expects `{missing}` in the system text: {system}");
            return Err(ModelError::fatal(what));
        }
        for expected in step.iter().flat_map(|it| &it.expects) {
            if !told.contains(expected.as_str()) {
                let what =
                    format!("the script expects `{expected}`, and the model was told: {told}");
                return Err(ModelError::fatal(what));
            }
        }
        let parsed = fenced::parse(text);
        let shown = parsed.clean_text.clone();
        let half = shown.floor_char_boundary(shown.len() / 2);
        let end = if fault == Some(Fault::Break) { half } else { shown.len() };
        self.stream(shown.get(..end).unwrap_or_default(), hear).await;
        if fault == Some(Fault::Break) {
            return Err(ModelError::retry("the script breaks the stream", Some(Duration::ZERO)));
        }
        let why = if parsed.incoming.is_empty() { StopReason::Done } else { StopReason::Calls };
        let tokens = |bytes: usize| (bytes / BYTES_PER_TOKEN) as u64;
        Ok(ModelReply {
            text: parsed.clean_text,
            thoughts: None,
            asked: parsed.incoming,
            blocks: None,
            why,
            usage: Usage {
                input: tokens(body.len()),
                output: tokens(text.len()),
                ..Usage::default()
            },
        })
    }

    async fn stream(&self, text: &str, hear: &mut (dyn FnMut(Delta) + Send)) {
        if self.rate == 0 {
            if !text.is_empty() {
                hear(Delta::Text(text.to_owned()));
            }
            return;
        }
        let pause = Duration::from_secs(1) / u32::try_from(self.rate).unwrap_or(u32::MAX);
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(BYTES_PER_TOKEN));
            hear(Delta::Text(piece.to_owned()));
            rest = after;
            tokio::time::sleep(pause).await;
        }
    }
}

impl Model for ScriptModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        let since = request.messages.iter().rev();
        let since = since.take_while(|it| !matches!(***it, ViewMessage::Assistant { .. }));
        let since = request.messages.len() - since.count();
        let mut body = format!("{{\"system\":{},\"messages\":[", json!(request.system));
        let words = |it: &ViewMessage| json!(words(it)).to_string();
        self.cache.with(&request.messages, words, |all| {
            for (place, (_, words)) in all.iter().enumerate() {
                body.push_str(if place > 0 { "," } else { "" });
                body.push_str(words);
            }
        });
        body.push_str(&format!("],\"since\":{since},\"replies\":{}}}", request.replies_so_far));
        body.into_bytes()
    }

    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move { self.say(&body, hear).await })
    }
}

/// What a message says, in words.
fn words(message: &ViewMessage) -> String {
    match message {
        ViewMessage::User { text, .. } => text.clone(),
        ViewMessage::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|it| format!("\n{} {}", it.name, it.args));
            text.clone() + &calls.collect::<String>()
        }
        ViewMessage::Answers(all) => fenced::results(all),
    }
}

fn read(script: &str) -> Result<(u64, Vec<ScriptedMessage>), String> {
    let (mut rate, mut steps) = (0, vec![ScriptedMessage::default()]);
    let mut saying = false;
    for (number, line) in (1..).zip(script.lines()) {
        let Some(heading) = line.strip_prefix("## ") else {
            match steps.last_mut().and_then(|it| it.says.as_mut()) {
                Some(says) if saying => {
                    says.push_str(line);
                    says.push('\n');
                }
                _ if line.trim().is_empty() || line.starts_with("# ") => {}
                _ => {
                    let digits = line.strip_prefix("rate:").map(str::trim);
                    let wrong =
                        || format!("line {number}: `{line}` is neither a heading nor `rate: N`");
                    rate = digits.and_then(|it| it.parse().ok()).ok_or_else(wrong)?;
                }
            }
            continue;
        };
        // What stands before a message belongs to it; after a message the next begins.
        if saying {
            steps.push(ScriptedMessage::default());
        }
        saying = false;
        let Some(step) = steps.last_mut() else { continue };
        match heading.trim().split_once(' ').unwrap_or((heading.trim(), "")) {
            ("says", "") => {
                step.says = Some(String::new());
                saying = true;
            }
            ("expects", text) if !text.is_empty() => step.expects.push(text.to_owned()),
            ("system", text) if !text.is_empty() => step.system.push(text.to_owned()),
            ("breaks", "") => step.faults.push(Fault::Break),
            ("fails", status) => {
                let wrong = |_| format!("line {number}: `{status}` is not a status such as 529");
                step.faults.push(Fault::Status(status.parse().map_err(wrong)?));
            }
            _ => {
                return Err(format!(
                    "line {number}: `## {heading}` is not known; write `says`, `expects TEXT`, `system TEXT`, `fails STATUS` or `breaks`"
                ));
            }
        }
    }
    Ok((rate, steps))
}

#[cfg(test)]
mod tests;
