//! Any wire: its calls, whole or streamed, and results back.

use serde_json::Value;

use super::{ToolAnswer, anthropic, gemini, openai_chat, openai_responses};
use crate::{Incoming, Wire};

impl Wire {
    /// The calls of a whole answer.
    pub fn calls(self, answer: &Value) -> Vec<Incoming> {
        match self {
            Wire::Anthropic => anthropic::calls(answer),
            Wire::Openai => openai_responses::calls(answer),
            Wire::OpenaiChat => openai_chat::calls(answer),
            Wire::Gemini => gemini::calls(answer),
        }
    }

    /// The calls of an answer whose stream has ended.
    pub fn streamed_calls<'a>(self, events: impl IntoIterator<Item = &'a Value>) -> Vec<Incoming> {
        macro_rules! read {
            ($wire:ident) => {{
                let mut stream = $wire::Stream::default();
                let mut calls = Vec::new();
                events.into_iter().for_each(|it| calls.extend(stream.push(it)));
                calls.extend(stream.finish());
                calls.into_iter().map(Incoming::from).collect()
            }};
        }
        match self {
            Wire::Anthropic => read!(anthropic),
            Wire::Openai => read!(openai_responses),
            Wire::OpenaiChat => read!(openai_chat),
            Wire::Gemini => read!(gemini),
        }
    }

    /// The answers to a turn, as messages or items of the next request, in the order of the calls.
    pub fn results(self, answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Vec<Value> {
        match self {
            Wire::Anthropic => anthropic::results(answers),
            Wire::Openai => openai_responses::results(answers),
            Wire::OpenaiChat => openai_chat::results(answers),
            Wire::Gemini => gemini::results(answers),
        }
    }
}
