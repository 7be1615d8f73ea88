//! How a conversation begins: new, resumed, or forked from another.

use std::{
    convert::Infallible,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
};

use eclusa::{Event, Gate, Run, Scene};
use tokio::sync::mpsc;

use super::{
    Conversation, ConversationHandle,
    calling::Repeats,
    growing_hash::GrowingHash,
    loading::{Unread, load},
    recover::lost_answers,
    title,
};
use crate::{
    context::{Measure, Pictures, View},
    events::AgentEvent,
    item::{ItemBody, PictureRef, TaskOrigin, TranscriptItem},
    limits::{TurnBudget, TurnLimits},
    model::Model,
    persona::Persona,
    task_parent::TaskParent,
    transcript::{
        ImportFormat, ImportedTranscript, TranscriptError, TranscriptHead, TranscriptStore,
    },
};

/// What a conversation is made of. All of it comes from the program and its person, nothing from a
/// model, a tool or a pasted text.
pub struct ConversationSetup {
    /// The gate that every call passes.
    pub gate: Gate,
    /// The model.
    pub model: Arc<dyn Model>,
    /// How it is asked to behave.
    pub persona: Persona,
    /// Where the conversation is kept.
    pub store: Arc<dyn TranscriptStore>,
    /// What a turn may use.
    pub limits: TurnLimits,
    /// Where it takes place, for descriptions of tools.
    pub scene: Scene,
    /// The system text.
    pub system: String,
    /// What the project says.
    pub project: Option<String>,
}

/// Why a conversation cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is none of that name.
    #[error("there is no session `{0}`; `eclusa sessions` lists them")]
    Unknown(String),
    /// Another process has it.
    #[error(
        "the session `{0}` is open in another process; `eclusa sessions fork {0}` makes a copy"
    )]
    Taken(String),
    /// The archive cannot be read or written.
    #[error(transparent)]
    Archive(#[from] TranscriptError),
}

/// The events of a conversation, for whoever watches it.
type Events = mpsc::UnboundedReceiver<AgentEvent>;

impl ConversationSetup {
    /// The head of a conversation that begins now.
    fn head(&self) -> TranscriptHead {
        let now = self.gate.clock().unix_ms();
        TranscriptHead {
            persona: self.persona.name.clone(),
            model: self.model.profile().name.clone(),
            created: now,
            touched: now,
            ..TranscriptHead::default()
        }
    }
}

impl Conversation {
    /// Begins a conversation.
    pub async fn open(setup: ConversationSetup) -> Result<(Conversation, Events), OpenError> {
        let mut head = setup.head();
        claim(&*setup.store, &mut head).await?;
        let (mut conversation, events) = Conversation::with(setup, head, None)?;
        conversation.tell_opened(false);
        Ok((conversation.begun().await?, events))
    }

    /// Begins a task: a conversation inside a call of another.
    pub(crate) async fn open_task(
        setup: ConversationSetup,
        parent: &TaskParent,
        call: &str,
    ) -> Result<(Conversation, Events), OpenError> {
        let mut head = TranscriptHead { parent: Some(parent.session.clone()), ..setup.head() };
        claim(&*setup.store, &mut head).await?;
        let origin = TaskOrigin {
            conversation: setup.gate.run().session.to_string(),
            prefix: format!("{call}/{}:", head.id),
        };
        let (mut conversation, events) = Conversation::with(setup, head, Some(origin))?;
        conversation.outer.clone_from(&parent.budgets);
        conversation.depth = parent.depth + 1;
        conversation.tell_opened(false);
        Ok((conversation.begun().await?, events))
    }

    /// What a task that a call of this turn starts must know, and what tells that all have ended.
    pub(super) fn task_parent(&self) -> (TaskParent, mpsc::Receiver<Infallible>) {
        let (running, ended) = mpsc::channel(1);
        let parent = TaskParent {
            gate: self.gate.clone(),
            session: self.head.id.clone(),
            store: self.store.clone(),
            budgets: self.budgets().cloned().collect(),
            events: self.events.clone(),
            depth: self.depth,
            running,
        };
        (parent, ended)
    }

    /// Goes on with a conversation. Nothing is run: calls that were left open are answered with
    /// what the log knows of them.
    pub async fn resume(
        setup: ConversationSetup,
        id: &str,
    ) -> Result<(Conversation, Events), OpenError> {
        let head = setup.store.head(id).await?.ok_or_else(|| OpenError::Unknown(id.to_owned()))?;
        let (mut conversation, events) = Conversation::with(setup, head, None)?;
        // Read once nobody else can append.
        let loaded = load(&*conversation.store, id, conversation.model.profile()).await?;
        conversation.turn = loaded.items.last().map_or(0, |it| it.turn);
        (conversation.items, conversation.messages) = (loaded.items, loaded.messages);
        conversation.unread = loaded.unread;
        conversation.load_pictures().await?;
        conversation.show_since(0);
        if let Some(taint) = conversation.head.taint.clone() {
            let marked = conversation.gate.mark_tainted(&taint);
            marked.map_err(|why| TranscriptError(why.to_string()))?;
        }
        conversation.tell_opened(true);
        if conversation.recover().await? {
            conversation.tell(AgentEvent::Notice(
                "calls that were under way when the session ended were answered from the log; nothing was run again".to_owned(),
            ));
        }
        Ok((conversation.begun().await?, events))
    }

    fn with(
        setup: ConversationSetup,
        head: TranscriptHead,
        origin: Option<TaskOrigin>,
    ) -> Result<(Conversation, Events), OpenError> {
        let lock = setup.store.lock(&head.id)?.ok_or_else(|| OpenError::Taken(head.id.clone()))?;
        let (events, heard) = mpsc::unbounded_channel();
        let gate = match &origin {
            Some(_) => setup.gate,
            None => {
                let run = Run { session: head.id.as_str().into(), ..setup.gate.run().clone() };
                let gate = setup.gate.for_run(run.held_to(setup.persona.mode));
                watch(&gate, &events);
                gate
            }
        };
        let mut conversation = Conversation {
            head,
            items: Vec::new(),
            view: View::default(),
            gate,
            model: setup.model,
            persona: setup.persona,
            store: setup.store,
            _lock: lock,
            scene: setup.scene,
            events,
            handle: ConversationHandle::default(),
            turn: 0,
            messages: 0,
            budget: TurnBudget::new(setup.limits),
            outer: Vec::new(),
            reserved: false,
            depth: 0,
            origin: origin.clone(),
            measure: Measure::default(),
            pictures: Pictures::default(),
            compactions: 0,
            repeats: Repeats::default(),
            sent: GrowingHash::default(),
            last_text: String::new(),
            unread: Unread::default(),
            opening: None,
        };
        let system = conversation.redacted(&setup.system).0;
        let project = setup.project.map(|it| conversation.redacted(&it).0);
        let (model, persona) =
            (conversation.model.profile().name.clone(), conversation.persona.name.clone());
        conversation.opening =
            Some(ItemBody::Opened { system, project, model, persona, task: origin });
        Ok((conversation, heard))
    }

    /// Keeps what it is opened with, unless that is what it was opened with before.
    async fn begun(mut self) -> Result<Conversation, OpenError> {
        let last = self.items.iter().rev().find(|it| matches!(it.body, ItemBody::Opened { .. }));
        if let Some(opening) = self.opening.take()
            && last.is_none_or(|it| it.body != opening)
        {
            (self.head.model, self.head.persona) =
                (self.model.profile().name.clone(), self.persona.name.clone());
            self.keep(vec![(opening, None)]).await?;
        }
        Ok(self)
    }

    fn tell_opened(&mut self, resumed: bool) {
        self.tell(AgentEvent::Opened {
            session: self.head.id.clone(),
            model: self.model.profile().name.clone(),
            persona: self.persona.name.clone(),
            resumed,
        });
    }

    /// Pictures that the model may be shown again.
    async fn load_pictures(&mut self) -> Result<(), TranscriptError> {
        let pictures = |item: &TranscriptItem| -> Vec<PictureRef> {
            match &item.body {
                ItemBody::Person { pictures, .. } => pictures.clone(),
                ItemBody::Answer(answer) | ItemBody::LateAnswer(answer) => answer.pictures.clone(),
                _ => Vec::new(),
            }
        };
        let wanted: Vec<PictureRef> = self.items.iter().flat_map(pictures).collect();
        for picture in wanted {
            if let Some(bytes) = self.store.picture(&picture.sha256).await? {
                self.pictures.insert(picture.sha256, bytes);
            }
        }
        Ok(())
    }
}

/// Copies a conversation up to and including a turn, and gives the copy's id. The original stays
/// as it is, and may be open elsewhere.
pub async fn fork(
    store: &dyn TranscriptStore,
    id: &str,
    turn: Option<u64>,
    now: u64,
) -> Result<String, OpenError> {
    let head = store.head(id).await?.ok_or_else(|| OpenError::Unknown(id.to_owned()))?;
    let mut items = store.items(id).await?;
    items.retain(|it| turn.is_none_or(|turn| it.turn <= turn));
    // A call that the original is still waiting for has no answer in the copy.
    let answers = lost_answers(store, id, &items)?;
    let (next, turn) = items.last().map_or((1, 0), |it| (it.seq + 1, it.turn));
    items.extend((next..).zip(answers).map(|(seq, body)| TranscriptItem {
        seq,
        turn,
        message: None,
        at: now,
        body,
        blocks: None,
        log_at: None,
    }));
    let mut copy = TranscriptHead {
        parent: Some(id.to_owned()),
        created: now,
        touched: now,
        turns: 0,
        calls: 0,
        ..head
    };
    claim(store, &mut copy).await?;
    let id = copy.id.clone();
    store.append(copy, items).await?;
    Ok(id)
}

/// Keeps what was said to another agent as a conversation, and gives its id. All of it counts as
/// text from outside.
pub async fn keep_import(
    store: &dyn TranscriptStore,
    imported: ImportedTranscript,
    format: ImportFormat,
    now: u64,
) -> Result<String, OpenError> {
    let words = imported.items.iter().find_map(|it| match &it.body {
        ItemBody::Person { text, .. } => Some(title(text)),
        _ => None,
    });
    let mut head = TranscriptHead {
        title: words.unwrap_or_default(),
        persona: "imported".to_owned(),
        model: format.as_str().to_owned(),
        created: imported.items.first().map_or(now, |it| it.at),
        touched: now,
        taint: Some(format!("imported from {}", format.as_str())),
        ..TranscriptHead::default()
    };
    claim(store, &mut head).await?;
    let id = head.id.clone();
    store.append(head, imported.items).await?;
    Ok(id)
}

/// Gives the conversation an id that nobody has.
async fn claim(store: &dyn TranscriptStore, head: &mut TranscriptHead) -> Result<(), OpenError> {
    for _ in 0..32 {
        head.id = new_id();
        if store.create(head.clone()).await? {
            return Ok(());
        }
    }
    Err(TranscriptError("no free id for a session was found".to_owned()).into())
}

/// Six letters and digits, none of which looks like another.
fn new_id() -> String {
    const LETTERS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz0";
    // The standard library's hasher is keyed at random, which is all that is needed here.
    let mut random = RandomState::new().build_hasher().finish();
    let mut letter = || {
        let place = usize::try_from(random % 32).unwrap_or_default();
        random /= 32;
        char::from(LETTERS.get(place).copied().unwrap_or(b'2'))
    };
    std::iter::repeat_with(&mut letter).take(6).collect()
}

/// Tells whoever watches what the gate says of the calls of this conversation.
fn watch(gate: &Gate, events: &mpsc::UnboundedSender<AgentEvent>) {
    let (own, events) = (gate.run().session.clone(), events.clone());
    gate.events().overhear(move |event| {
        if let Event::ToolApproval { session, call, tool, params, approved, source, .. } = event {
            if *session == own {
                drop(events.send(AgentEvent::Approval {
                    id: call.clone(),
                    tool: tool.clone(),
                    args: params.clone(),
                    approved: *approved,
                    by: source.clone(),
                }));
            }
            return;
        }
        let (session, id, detail) = match event {
            Event::Queued { session, call, .. } => {
                (session, call, "waits for another question".to_owned())
            }
            Event::Asked { session, call, .. } => (session, call, "a person is asked".to_owned()),
            Event::Started { session, call, .. } => (session, call, "runs".to_owned()),
            Event::Progress { session, call, detail, .. } => (session, call, detail.clone()),
            _ => return,
        };
        // What happens to the calls of a task is shown with the call that started it.
        let id = id.split_once('/').map_or(id.as_str(), |(outer, _)| outer);
        if *session == own {
            drop(events.send(AgentEvent::Progress { id: id.to_owned(), detail }));
        }
    });
}
