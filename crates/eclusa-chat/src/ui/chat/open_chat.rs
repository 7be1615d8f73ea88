//! A conversation that is open: its task, the way in, and everything that ends with it.

use eclusa::{
    Gate, Mode,
    session::chosen_mode,
    workspace::{Bounds, Diff},
};
use eclusa_config::{KeySource, ModelSettings};
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinHandle};

use super::{
    hand_over::{HandOverRequests, borrow, lend_terminal},
    model_choice, sessions,
};
use crate::ui::{
    archive::Archive,
    context::AppContext,
    failure::Failure,
    gates::GateParts,
    global::Global,
    session_setup::{OpenSession, RunningSession},
    surface::Surface,
    terminal::Terminal,
};
use crate::{AgentEvent, Conversation, ConversationHandle, TranscriptItem};

/// So many entries of a session that is resumed are shown.
const SHOWN_ITEMS: usize = 24;

/// What a chat is opened with. Commands of the person change it, nothing else does.
#[derive(Debug, Clone, Default)]
pub(super) struct ChatChoice {
    pub(super) model: Option<String>,
    pub(super) persona: Option<String>,
    pub(super) mode: Option<Mode>,
    /// Whether the mode was chosen for the session, which keeps it, and not for this run.
    pub(super) keep_mode: bool,
    /// The session to go on with.
    pub(super) resume: Option<String>,
    /// Go on with the latest one.
    pub(super) last: bool,
}

/// A conversation that is open.
pub(super) struct OpenChat {
    pub(super) ctx: AppContext,
    /// For the person's own calls: they belong to the same conversation.
    pub(super) gate: Gate,
    pub(super) archive: Archive,
    pub(super) id: String,
    /// Model, persona and mode.
    pub(super) names: [String; 3],
    /// How many tokens the model can look at.
    pub(super) window: u64,
    /// The end of what was there when it was opened.
    pub(super) before: Vec<TranscriptItem>,
    /// Words that were not sent when the person left it.
    pub(super) draft: Option<String>,
    pub(super) handle: ConversationHandle,
    pub(super) events: UnboundedReceiver<AgentEvent>,
    conversation: Option<JoinHandle<Conversation>>,
    running: RunningSession,
}

/// The mode that a person chose for the session that is gone on with, unless one is chosen now. A session that is not
/// there is told before anything else.
async fn kept_mode(ctx: &AppContext, choice: &ChatChoice) -> Result<Option<Mode>, Failure> {
    if choice.resume.is_none() && !choice.last {
        return Ok(None);
    }
    let archive = Archive::new(ctx.store()?, ctx.paths.sessions());
    let id = sessions::find(&archive, choice.resume.as_deref()).await?.id;
    Ok(chosen_mode(&*archive.store, &id).filter(|_| choice.mode.is_none()))
}

impl OpenChat {
    /// Opens a conversation. Questions go to the terminal, which `lender` may have to give away first,
    /// as it has to for commands that print keys: they may ask for a passphrase.
    pub(super) async fn open(
        global: &Global,
        choice: &ChatChoice,
        lender: Option<&HandOverRequests>,
    ) -> Result<OpenChat, Failure> {
        // The mode is a layer of the configuration: what the administrator says holds.
        let in_mode = |mode| AppContext::open(&Global { mode, ..global.clone() });
        let mut ctx = in_mode(choice.mode)?;
        // One that the administrator no longer allows is not taken up again.
        if let Some(mode) = kept_mode(&ctx, choice).await?
            && let Ok(kept) = in_mode(Some(mode))
        {
            ctx = kept;
        }
        let asks = |it: &ModelSettings| matches!(it.key, Some(KeySource::Command(_)));
        let terminal = match lender {
            Some(lender) if ctx.config.models.iter().any(asks) => {
                Some(borrow(lender).await.map_err(Failure::failed)?)
            }
            _ => None,
        };
        let (model, persona) = (choice.model.as_deref(), choice.persona.as_deref());
        let chosen = model_choice::choose(&ctx, model, persona, None).await?;
        drop(terminal);
        let store = ctx.store()?;
        let terminal = Terminal::new(true, ctx.paths.always_files());
        let mut parts = GateParts::asking(&store, terminal);
        if let Some(lender) = lender {
            lend_terminal(&mut parts, lender);
        }
        let archive = Archive::new(store.clone(), ctx.paths.sessions());
        let resume = match (&choice.resume, choice.last) {
            (Some(id), _) => Some(id.clone()),
            (None, true) => Some(sessions::find(&archive, None).await?.id),
            (None, false) => None,
        };
        let (persona, profile) = (chosen.persona.name.clone(), chosen.model.profile());
        let (model, window) = (profile.name.clone(), profile.window);
        let resume = resume.as_deref();
        let session =
            OpenSession::open(&ctx, Surface::Chat, chosen, parts, &archive, resume).await?;
        let OpenSession { conversation, events, running } = session;
        if let (Some(mode), true) = (choice.mode, choice.keep_mode) {
            let kept = store.update(conversation.id(), &mut |it| it.set_mode(mode));
            kept.map_err(|why| Failure::failed(format!("the mode cannot be kept: {why}")))?;
        }
        let names = [persona, model, running.gate.run().mode_in_force().to_string()];
        Ok(OpenChat {
            gate: running.gate.clone(),
            ctx,
            archive,
            id: conversation.id().to_owned(),
            names,
            window,
            before: last_items(conversation.items()),
            draft: conversation.draft().map(str::to_owned),
            handle: conversation.handle(),
            events,
            conversation: Some(tokio::spawn(conversation.run())),
            running,
        })
    }

    /// What a call changed, for a person.
    pub(super) fn diff_of(&self, call: u64) -> Option<String> {
        let workspace = self.ctx.workspace().ok()?;
        let changes = workspace.changes(call).ok()?;
        let diff = Diff::of(&changes, &workspace, Bounds::default()).shown();
        (!diff.is_empty()).then_some(diff)
    }

    /// Ends it: what runs is interrupted and answered, words that have not gone in are kept with what
    /// stands in the input, and others may open the session.
    pub(super) async fn close(&mut self, input: &str) {
        let waiting = self.handle.leave();
        if let Some(conversation) = self.conversation.take() {
            // An error means that it panicked: what was kept until then is there.
            if let Ok(mut conversation) = conversation.await {
                let unsent = waiting.iter().map(|it| it.text.as_str()).chain([input]);
                let unsent: Vec<&str> = unsent.filter(|it| !it.trim().is_empty()).collect();
                if !unsent.is_empty()
                    && let Err(err) = conversation.keep_draft(&unsent.join("\n\n")).await
                {
                    crate::ui::screen::note(&format!("your draft could not be saved: {err}"));
                }
            }
        }
        self.running.end().await;
    }
}

fn last_items(items: &[TranscriptItem]) -> Vec<TranscriptItem> {
    items.iter().skip(items.len().saturating_sub(SHOWN_ITEMS)).cloned().collect()
}
