//! What a conversation tells, on the screen of the chat.

use std::time::{Duration, Instant};

use eclusa_models::money;

use super::ScreenChat;
use crate::ui::{
    call_line::{CallEnd, EndedCall, brief},
    chat_screen::view::View,
    event_line::EventLines,
    screen::{Style, sanitize},
};
use crate::{AgentEvent, ItemBody, TranscriptItem, TurnEnd, TurnReport};

/// Tools whose output people want to see.
const SHOWN_OUTPUT: [&str; 1] = ["bash"];

const WAITING: &str = "waiting for the model";

impl ScreenChat<'_> {
    /// Shows which session it is, and the end of what was said in it before.
    pub(super) fn show_beginning(&mut self, with_past: bool) {
        let view = &mut self.screen.view;
        view.status.names = self.chat.names.iter().map(|it| sanitize(it)).collect();
        view.say(Style::Faint, &format!("session {}; /help lists the commands", self.chat.id));
        if !with_past {
            return view.say(Style::Faint, &view.status.names.join(" · "));
        }
        let shown = std::mem::take(&mut self.chat.before);
        for item in &shown {
            show_item(view, item, &shown);
        }
        view.end_text();
    }

    /// Everything that has happened by now.
    pub(super) fn show_waiting_events(&mut self) {
        while let Ok(event) = self.chat.events.try_recv() {
            self.show(event);
        }
    }

    /// Shows one event.
    pub(super) fn show(&mut self, event: AgentEvent) {
        self.changed = true;
        let (view, now) = (&mut self.screen.view, Instant::now());
        match event {
            AgentEvent::Opened { .. } => {}
            AgentEvent::Heard(text) => {
                self.busy = true;
                view.person_said(&sanitize(&text));
                view.wait_for(WAITING, now);
            }
            AgentEvent::Text(text) => view.model_wrote(&sanitize(&text)),
            AgentEvent::Thought(_) => view.wait_for("the model thinks", now),
            AgentEvent::Message(_) => view.end_text(),
            AgentEvent::Retry { .. } => {
                view.strike_partial();
                note(view, &event);
                view.wait_for(WAITING, now);
            }
            AgentEvent::Call { id, tool, args, .. } => {
                // It may go on by itself, when somebody has answered a call that waited.
                self.busy = true;
                view.call_began(&id, &sanitize(&tool), &sanitize(&brief(&args)), now);
            }
            // The call itself shows what came of it; who was asked has seen its changes.
            AgentEvent::Approval { id, .. } => drop(self.seen.insert(id)),
            AgentEvent::Progress { id, detail } => view.call_progress(&id, &sanitize(&detail)),
            AgentEvent::Answered(call) => {
                view.call_ended(&call.id, &EndedCall::from(&call));
                if SHOWN_OUTPUT.contains(&call.tool.as_str()) {
                    view.print_output(&sanitize(&call.output));
                }
                self.changes += usize::from(call.changed);
                if !self.seen.remove(&call.id)
                    && call.changed
                    && let Some((number, diff)) =
                        call.number.zip(call.number.and_then(|it| self.chat.diff_of(it)))
                {
                    view.print_diff(number, &diff);
                }
                if !view.is_busy() {
                    view.wait_for(WAITING, now);
                }
                self.last_output = sanitize(&call.output);
            }
            // The summary was seen while it was written.
            AgentEvent::Compacted { .. } | AgentEvent::Notice(_) => {
                note(view, &event);
                self.compacted();
            }
            AgentEvent::Task { call, persona, event, .. } => match *event {
                AgentEvent::Call { tool, args, .. } => {
                    let text = format!("{persona}: {tool} {}", brief(&args));
                    view.call_progress(&call, &sanitize(&text));
                }
                AgentEvent::Answered(inner) => {
                    let tool = format!("{persona}: {}", inner.tool);
                    view.print_call(&sanitize(&tool), "", &EndedCall::from(&inner));
                }
                _ => {}
            },
            AgentEvent::Ended(report) => self.turn_ended(&report),
        }
    }

    /// A summary that the person asked for is there, or will not come.
    fn compacted(&mut self) {
        if std::mem::take(&mut self.compacting) {
            self.busy = false;
            self.screen.view.idle();
        }
    }

    fn turn_ended(&mut self, report: &TurnReport) {
        self.busy = false;
        let view = &mut self.screen.view;
        view.idle();
        if let Some(why) = report.end.reason() {
            let style = match report.end {
                TurnEnd::Failed(_) | TurnEnd::Limit(_) => Style::Bad,
                _ => Style::Warn,
            };
            view.say(style, &format!("  ended: {}", sanitize(why)));
        }
        let told = match std::mem::take(&mut self.changes) {
            0 => None,
            1 => Some("1 call changed the workspace; /undo undoes it".to_owned()),
            count => {
                Some(format!("{count} calls changed the workspace; /undo takes the latest back"))
            }
        };
        if let Some(told) = told {
            view.say(Style::Faint, &format!("  {told}"));
        }
        let percent = report.context.saturating_mul(100) / self.chat.window.max(1);
        view.status.context = Some((percent, self.chat.window));
        view.status.taint = report.taint.as_deref().map(sanitize);
        if let (Some(cost), Some(currency)) = (report.cost, &report.currency) {
            self.cost += cost;
            view.status.cost = Some(format!("{} {}", money(self.cost), sanitize(currency)));
        }
    }
}

/// Shows an event that is a note for people.
fn note(view: &mut View, event: &AgentEvent) {
    if let Some(line) = EventLines::default().line(event) {
        view.say(line.style, &format!("  note: {}", line.text));
    }
}

/// One entry of what was said before.
fn show_item(view: &mut View, item: &TranscriptItem, all: &[TranscriptItem]) {
    match &item.body {
        ItemBody::Person { text, .. } => view.person_said(&sanitize(text)),
        ItemBody::Model { text, .. } | ItemBody::Partial { text } => {
            view.model_wrote(&sanitize(text));
            view.end_text();
        }
        ItemBody::Answer(answer) | ItemBody::LateAnswer(answer) => {
            let call = all.iter().find_map(|it| match &it.body {
                ItemBody::Call { id, args, .. } | ItemBody::Resumed { id, args, .. }
                    if *id == answer.id =>
                {
                    Some(args)
                }
                _ => None,
            });
            let about = call.map(brief).unwrap_or_default();
            let end = match (&answer.error, answer.approval) {
                (_, Some(_)) => CallEnd::Waits,
                (Some(_), None) => CallEnd::Failed,
                (None, None) => CallEnd::Done,
            };
            let ended = EndedCall {
                end,
                note: sanitize(answer.error.as_deref().unwrap_or_default()),
                time: Duration::from_millis(answer.time_ms),
                number: answer.number,
            };
            view.print_call(&sanitize(&answer.tool), &sanitize(&about), &ended);
        }
        ItemBody::Notice { text } => view.say(Style::Warn, &format!("  note: {}", sanitize(text))),
        ItemBody::Opened { .. }
        | ItemBody::Call { .. }
        | ItemBody::Resumed { .. }
        | ItemBody::Summary { .. }
        | ItemBody::Draft { .. } => {}
    }
}
