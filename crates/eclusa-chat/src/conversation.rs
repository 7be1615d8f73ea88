//! The conversation: write down, then act; act, then write down. Read `turn` first.

use std::sync::Arc;

use eclusa::{Gate, Run, Scene};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    context::{Measure, Pictures, View, ViewContext},
    events::{AgentEvent, TurnEnd, TurnReport},
    item::{ItemBody, TaskOrigin, TranscriptItem},
    limits::TurnBudget,
    model::{Model, ModelReply, ModelRequest, StopReason},
    persona::Persona,
    transcript::{ConversationLock, TranscriptError, TranscriptHead, TranscriptStore},
};

mod approvals;
mod asking;
mod calling;
mod compact;
mod growing_hash;
mod inbox;
mod keeping;
mod loading;
mod opening;
mod recover;
mod spending;

pub use approvals::WaitingCall;
pub use inbox::{ConversationHandle, UserMessage};
pub use opening::{ConversationSetup, OpenError, fork, keep_import};

use calling::Repeats;
use growing_hash::GrowingHash;
use inbox::Next;
use loading::Unread;

/// Pictures larger than this are not sent.
const MAX_PICTURE: usize = 5 << 20;

/// A conversation with a model. One process has it at a time.
pub struct Conversation {
    head: TranscriptHead,
    items: Vec<TranscriptItem>,
    /// What the model is shown of them.
    view: View,
    gate: Gate,
    model: Arc<dyn Model>,
    persona: Persona,
    store: Arc<dyn TranscriptStore>,
    _lock: Box<dyn ConversationLock>,
    scene: Scene,
    events: mpsc::UnboundedSender<AgentEvent>,
    handle: ConversationHandle,
    turn: u64,
    messages: u64,
    /// What this turn may use and has used.
    budget: TurnBudget,
    /// For a task: what the turns that it works for may use and have used.
    outer: Vec<TurnBudget>,
    /// The next request has been counted.
    reserved: bool,
    /// For a task: how many there are above it, itself included; 0 otherwise.
    depth: usize,
    /// For a task: where its calls are on record.
    origin: Option<TaskOrigin>,
    measure: Measure,
    pictures: Pictures,
    compactions: u32,
    repeats: Repeats,
    sent: GrowingHash,
    last_text: String,
    /// What of it was not read.
    unread: Unread,
    /// What it is opened with, until that is kept.
    opening: Option<ItemBody>,
}

/// A request as it is sent.
struct RequestBody {
    bytes: Vec<u8>,
    /// It asks for a summary.
    summary: bool,
}

/// Why a turn cannot go on.
enum TurnFailure {
    /// What must be durable is not.
    Archive(TranscriptError),
    /// What must be on record is not, or the model gives no reply.
    Other(String),
    /// What is to be summed up does not fit the model's window.
    TooLong(String),
    /// It has ended in a way that is no failure.
    Ended(TurnEnd),
}

impl From<TranscriptError> for TurnFailure {
    fn from(err: TranscriptError) -> TurnFailure {
        TurnFailure::Archive(err)
    }
}

impl Conversation {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.head.id
    }

    /// What is known of it.
    pub fn head(&self) -> &TranscriptHead {
        &self.head
    }

    /// What was kept so far; of a very long conversation that was resumed, what the model is shown.
    pub fn items(&self) -> &[TranscriptItem] {
        &self.items
    }

    /// The way in, for whoever speaks while it works.
    pub fn handle(&self) -> ConversationHandle {
        self.handle.clone()
    }

    /// Lives until the handle closes it: a turn for everything that is said.
    pub async fn run(mut self) -> Conversation {
        loop {
            let handle = self.handle.clone();
            let next = tokio::select! {
                biased;
                next = handle.next() => next,
                () = self.answered(), if handle.takes_up() => Next::GoOn,
            };
            match next {
                Next::Turn(words) => drop(self.turn(words).await),
                Next::GoOn => drop(self.go_on().await),
                Next::Compact => self.compact_now().await,
                Next::Close => return self,
            }
        }
    }

    /// Makes what the model is shown smaller, outside of a turn.
    pub async fn compact(&mut self) {
        self.compact_now().await;
    }

    /// One turn: from what a person said to where the model stops asking.
    pub async fn turn(&mut self, words: UserMessage) -> TurnReport {
        self.whole_turn(Some(words)).await
    }

    /// A turn that begins with what came of calls that waited for a person. Without any the model is
    /// not asked.
    pub async fn go_on(&mut self) -> TurnReport {
        self.whole_turn(None).await
    }

    async fn take_turn(
        &mut self,
        words: Option<UserMessage>,
        cancel: &CancellationToken,
    ) -> Result<TurnEnd, TurnFailure> {
        self.note_unread().await?;
        let mut news = words.is_some();
        if let Some(words) = words {
            self.hear(words).await?; // kept before anything leaves
        }
        loop {
            self.take_what_waits().await?; // typed meanwhile goes in here
            news |= self.take_up_answered(cancel).await?; // calls that waited for a person
            if !news {
                return Ok(TurnEnd::Done);
            }
            let request = self.request().await?; // made smaller if it must be
            if let Some(limit) = self.reserve(&request) {
                return Ok(TurnEnd::Limit(limit));
            }
            let said = self.ask(request, cancel).await?; // streamed, retried; whole or not at all
            let why = said.why;
            let asked = self.keep_message(said).await?; // words, thoughts, calls: one transaction
            match why {
                // The gate; each answer is kept when it is there.
                _ if !asked.is_empty() => self.pass(asked, cancel).await?,
                StopReason::Calls | StopReason::Done => return Ok(TurnEnd::Done),
                StopReason::Paused => {}
                StopReason::Window => self.make_room_or_end(cancel).await?,
                StopReason::Length => return Ok(TurnEnd::Length),
                StopReason::Refused => return Ok(TurnEnd::Refused),
            }
            if cancel.is_cancelled() {
                return Ok(TurnEnd::Interrupted);
            }
            if let Some(why) = self.repeats.stuck() {
                return Ok(TurnEnd::Stuck(why));
            }
        }
    }

    fn begin_turn(&mut self) -> CancellationToken {
        self.turn += 1;
        self.budget = TurnBudget::new(self.budget.limits.clone());
        self.reserved = false;
        self.compactions = 0;
        self.repeats = Repeats::default();
        self.last_text.clear();
        let run = self.gate.run();
        if self.origin.is_some() {
            // A task passes its calls in its parent's name, which has narrowed everything already.
            let cancel = self.handle.begin(run.cancel.child_token());
            self.gate = self.gate.for_run(Run { cancel: cancel.clone(), ..run.clone() });
            return cancel;
        }
        let cancel = self.handle.begin(CancellationToken::new());
        let run = Run {
            session: self.head.id.as_str().into(),
            turn: self.turn,
            cancel: cancel.clone(),
            tools: self.persona.tools.as_ref().map(|it| {
                let registry = self.gate.registry();
                // By their own names, whichever the person used.
                let own = |name: &String| registry.get(name).map(|it| it.name().to_owned());
                it.iter().map(|it| own(it).unwrap_or_else(|| it.clone())).collect()
            }),
            park_absent: true,
            ..run.clone()
        };
        self.gate = self.gate.for_run(run.held_to(self.persona.mode));
        cancel
    }

    /// Takes in what a person said: redacted, its pictures kept, and marked if it is not theirs.
    async fn hear(&mut self, words: UserMessage) -> Result<(), TurnFailure> {
        if let Some(how) = &words.outside {
            let marked = self.gate.mark_tainted(how);
            marked.map_err(|why| {
                TurnFailure::Other(format!("that text came from outside cannot be kept: {why}"))
            })?;
        }
        let (text, secrets) = self.redacted(&words.text);
        if secrets > 0 {
            let what = if secrets == 1 { "a secret was" } else { "secrets were" };
            self.tell(AgentEvent::Notice(format!(
                "{what} taken out of your words before they were kept or sent"
            )));
        }
        let mut pictures = Vec::new();
        for (media_type, bytes) in words.pictures {
            if bytes.len() > MAX_PICTURE {
                self.tell(AgentEvent::Notice(
                    "a picture of more than 5 MB was left out".to_owned(),
                ));
                continue;
            }
            pictures.push(self.keep_picture(media_type, bytes).await?);
        }
        if self.head.title.is_empty() {
            self.head.title = title(&text);
        }
        self.tell(AgentEvent::Heard(text.clone()));
        self.keep(vec![(ItemBody::Person { text, pictures }, None)]).await?;
        Ok(())
    }

    async fn take_what_waits(&mut self) -> Result<(), TurnFailure> {
        for words in self.handle.take_now() {
            self.hear(words).await?;
        }
        Ok(())
    }

    /// The next request: what the model is shown now, and the tools there are now.
    async fn request(&mut self) -> Result<RequestBody, TurnFailure> {
        let body = self.body();
        match self.make_room(&body).await? {
            true => Ok(self.body()),
            false => Ok(body),
        }
    }

    /// What would be sent now, byte for byte.
    fn body(&self) -> RequestBody {
        RequestBody { bytes: self.model.body(&self.plain_request()), summary: false }
    }

    fn plain_request(&self) -> ModelRequest {
        let tools = self.model.profile().declares.and_then(|shape| self.declared(shape));
        ModelRequest {
            system: self.view.system.clone(),
            messages: self.view.messages.clone(),
            tools,
            conversation: self.head.id.clone(),
            replies_so_far: self.view.replies + self.unread.replies,
        }
    }

    /// Shows the model what was kept since there were so many entries.
    fn show_since(&mut self, count: usize) {
        let (conversation, model) = (self.head.id.as_str(), self.model.profile());
        let shown = ViewContext { conversation, model, pictures: &self.pictures };
        self.view.grow(&self.items, count, shown);
    }

    /// Keeps a message of the model, whole: its words, and its calls before any of them passes.
    async fn keep_message(
        &mut self,
        said: ModelReply,
    ) -> Result<Vec<eclusa::Incoming>, TurnFailure> {
        self.messages += 1;
        let message = Some(self.messages);
        let profile = self.model.profile();
        let blocks = said.blocks.map(|blocks| {
            json!({"wire": profile.wire, "model": profile.model, "blocks": blocks}).to_string()
        });
        let (text, _) = self.redacted(&said.text);
        let thoughts = said.thoughts.map(|it| self.redacted(&it).0);
        self.last_text.clone_from(&text);
        self.tell(AgentEvent::Message(text.clone()));
        let mut items = vec![(ItemBody::Model { text, thoughts }, blocks)];
        for asked in &said.asked {
            let call = self.call_item(asked);
            if let ItemBody::Call { id, name, args, reason } = &call {
                self.tell(AgentEvent::Call {
                    id: id.clone(),
                    tool: name.clone(),
                    args: args.clone(),
                    reason: reason.clone(),
                });
            }
            items.push((call, None));
        }
        let log_at = self.store.log_head()?;
        self.keep_at(items, message, Some(log_at)).await?;
        Ok(said.asked)
    }

    /// The turn is over, whatever way: people are told, and the archive knows what it cost.
    async fn end(&mut self, end: TurnEnd) -> TurnReport {
        if let TurnEnd::Limit(_) | TurnEnd::Stuck(_) | TurnEnd::Failed(_) = &end {
            let text = match &end {
                TurnEnd::Limit(what) => format!("the turn ended at a limit: {what}"),
                TurnEnd::Failed(what) => format!("the turn failed: {what}"),
                _ => "the turn ended: the same calls had the same answers five times".to_owned(),
            };
            let text = self.redacted(&text).0;
            // An archive that failed before may fail again; the report says so.
            drop(self.keep(vec![(ItemBody::Notice { text }, None)]).await);
        }
        self.count_aside();
        let profile = self.model.profile();
        let used = self.budget.used().clone();
        let report = TurnReport {
            end,
            text: self.last_text.clone(),
            requests: used.requests,
            usage: used.usage,
            cost: profile.price.is_some().then_some(used.cost),
            currency: profile.price.as_ref().map(|it| it.currency.clone()),
            context: self.tokens_now(),
            taint: self.gate.taint().map(|it| it.to_string()),
        };
        self.tell(AgentEvent::Ended(report.clone()));
        report
    }

    fn redacted(&self, text: &str) -> (String, usize) {
        let (text, count) = self.gate.redactor().text(text);
        (text.into_owned(), count)
    }

    fn tell(&self, event: AgentEvent) {
        // An error means that nobody watches.
        drop(self.events.send(event));
    }
}

/// The beginning of the first words, in one line.
fn title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((end, _)) => line.get(..end).unwrap_or_default().to_owned() + "…",
        None => line,
    }
}
