//! An event of a session in a line, for people: the same words for `ask`, plain lines and the screen.

use std::collections::HashMap;

use super::call_line::{CallEnd, EndedCall, brief};
use crate::ui::screen::{Style, sanitize};
use crate::{AgentEvent, CallOutcome};

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Which session it is.
    Session,
    /// A call begins.
    Tool,
    /// A call was answered.
    Answer,
    /// Something that people should know.
    Note,
}

/// An event in a line. Its text is safe to show.
pub(super) struct EventLine {
    pub(super) kind: LineKind,
    pub(super) style: Style,
    /// Who works on the task that it happened in; `None`: the session's own model.
    pub(super) persona: Option<String>,
    pub(super) text: String,
}

/// Makes lines of events. It remembers what calls are about, for their answers.
#[derive(Default)]
pub(super) struct EventLines {
    /// Words stand in the place of marks: for those who listen.
    in_words: bool,
    /// By the session of the task, and the id of the call.
    calls: HashMap<(String, String), String>,
}

impl EventLine {
    fn new(kind: LineKind, style: Style, text: &str) -> EventLine {
        EventLine { kind, style, persona: None, text: sanitize(text) }
    }
}

impl EventLines {
    /// Lines for those who listen.
    pub(super) fn in_words() -> EventLines {
        EventLines { in_words: true, ..EventLines::default() }
    }

    /// The line of an event. Text of the model, and what only a screen shows, has none.
    pub(super) fn line(&mut self, event: &AgentEvent) -> Option<EventLine> {
        let (kind, style, text) = match event {
            AgentEvent::Opened { session, model, persona, resumed } => {
                let how = if *resumed { "resumed" } else { "new" };
                let text = format!("{session} ({how}), model {model}, persona {persona}");
                (LineKind::Session, Style::Faint, text)
            }
            AgentEvent::Retry { why, wait } => {
                let text = format!("reply discarded, retrying in {} s: {why}", wait.as_secs());
                (LineKind::Note, Style::Warn, text)
            }
            AgentEvent::Compacted { before, after, .. } => {
                let text = format!("context compacted: about {before} -> {after} tokens");
                (LineKind::Note, Style::Faint, text)
            }
            AgentEvent::Notice(text) => (LineKind::Note, Style::Warn, text.clone()),
            AgentEvent::Task { persona, session, event, .. } => {
                let line = self.call(session, event)?;
                return Some(EventLine { persona: Some(sanitize(persona)), ..line });
            }
            event => return self.call("", event),
        };
        Some(EventLine::new(kind, style, &text))
    }

    /// The line of a call, or of its answer.
    fn call(&mut self, session: &str, event: &AgentEvent) -> Option<EventLine> {
        match event {
            AgentEvent::Call { id, tool, args, .. } => {
                let args = brief(args);
                let text = format!("{tool} {args}");
                self.calls.insert((session.to_owned(), id.clone()), args);
                Some(EventLine::new(LineKind::Tool, Style::Faint, &text))
            }
            AgentEvent::Answered(call) => {
                let args = self.calls.remove(&(session.to_owned(), call.id.clone()));
                let (ended, args) = (EndedCall::from(call), args.unwrap_or_default());
                let (style, mark) = ended.mark();
                let mark = if self.in_words { ended.word() } else { mark };
                let text = format!("{mark} {:<6} {args}  {}", call.tool, ended.tail());
                Some(EventLine::new(LineKind::Answer, style, &text))
            }
            _ => None,
        }
    }
}

impl From<&CallOutcome> for EndedCall {
    fn from(call: &CallOutcome) -> EndedCall {
        let end = match (&call.error, call.refused) {
            _ if call.approval.is_some() => CallEnd::Waits,
            (None, _) => CallEnd::Done,
            (Some(_), true) => CallEnd::Refused,
            (Some(_), false) => CallEnd::Failed,
        };
        let note = sanitize(call.error.as_deref().unwrap_or_default());
        EndedCall { end, note, time: call.time, number: call.number }
    }
}
