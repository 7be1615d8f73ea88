//! What is read of a conversation that is resumed: what the model is shown, however long it is.

use super::Conversation;
use crate::{
    context::LONG_OUTPUT,
    events::AgentEvent,
    item::{ItemBody, TranscriptItem},
    model::ModelProfile,
    transcript::{ItemSize, TranscriptError, TranscriptStore},
};

/// A conversation that is no longer than this is read whole.
const WHOLE: u64 = 4 << 20;

/// What is longer than so many bytes for each token of the window does not fit into it.
const MAX_BYTES_PER_TOKEN: u64 = 4;

/// About how long the line is that stands for a long output.
const STAND_IN: u64 = 200;

/// What was not read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Messages of the model.
    pub(super) replies: u64,
    /// Entries before this one do not fit into the model's window, and nothing stands for them yet:
    /// how many there are, and where the others begin.
    cut: Option<(usize, u64)>,
}

/// What was read.
pub(super) struct Loaded {
    pub(super) items: Vec<TranscriptItem>,
    /// How many messages of the model there are.
    pub(super) messages: u64,
    pub(super) unread: Unread,
}

/// Reads what going on with a conversation needs.
pub(super) async fn load(
    store: &dyn TranscriptStore,
    id: &str,
    model: &ModelProfile,
) -> Result<Loaded, TranscriptError> {
    let sizes = store.sizes(id).await?;
    let messages = sizes.iter().filter_map(|it| it.message).max().unwrap_or_default();
    if sizes.iter().map(|it| it.bytes).sum::<u64>() <= WHOLE {
        let items = store.items(id).await?;
        return Ok(Loaded { items, messages, unread: Unread::default() });
    }
    let mut items = Vec::new();
    for it in sizes.iter().filter(|it| matters_always(it)) {
        items.extend(store.items_between(id, (it.seq, it.seq), LONG_OUTPUT).await?);
    }
    let (mut first, mut shortened) = (0, 0);
    for item in &items {
        match item.body {
            ItemBody::Summary { text: Some(_), cut } => first = cut,
            ItemBody::Summary { text: None, cut } => shortened = cut,
            _ => {}
        }
    }
    let cut = too_early(&sizes, first, shortened, model);
    first = cut.map_or(first, |(_, cut)| cut);
    items.retain(|it| it.seq < first);
    if shortened > first {
        items.extend(store.items_between(id, (first, shortened - 1), LONG_OUTPUT).await?);
    }
    let rest = (first.max(shortened), u64::MAX);
    items.extend(store.items_between(id, rest, usize::MAX).await?);
    let replies = sizes.iter().filter(|it| it.seq < first && is_reply(it)).count() as u64;
    Ok(Loaded { items, messages, unread: Unread { replies, cut } })
}

/// What is needed wherever it stands: how it was opened, what stands for what, and which calls wait.
fn matters_always(it: &ItemSize) -> bool {
    ["opened", "summary", "parked", "resumed", "late_answer"].contains(&it.kind.as_str())
}

/// A message of the model. Summaries are always read.
fn is_reply(it: &ItemSize) -> bool {
    it.kind == "partial" || it.kind == "said" && it.role == "assistant"
}

/// Where the entries begin that half of the window has room for, and how many others there are; `None`
/// when all may fit that are shown now. At the beginning of a message every call is answered.
fn too_early(
    sizes: &[ItemSize],
    first: u64,
    shortened: u64,
    model: &ModelProfile,
) -> Option<(usize, u64)> {
    let bytes = |it: &ItemSize| match it.kind.as_str() {
        // Before there, a line stands for an output that is long.
        "answer" | "late_answer" if it.seq < shortened && it.bytes > LONG_OUTPUT as u64 => STAND_IN,
        _ => it.bytes,
    };
    let later: Vec<&ItemSize> = sizes.iter().filter(|it| it.seq >= first).collect();
    let all: u64 = later.iter().map(|it| bytes(it)).sum();
    if all <= model.window.saturating_mul(MAX_BYTES_PER_TOKEN) {
        return None;
    }
    let room = model.window.saturating_sub(model.output).saturating_mul(3) / 2;
    let (mut used, mut cut) = (0, None);
    for it in later.iter().rev() {
        used += bytes(it);
        if used > room && cut.is_some() {
            break;
        }
        if it.kind == "said" {
            cut = Some(it.seq);
        }
    }
    let cut = cut?;
    Some((later.iter().filter(|it| it.seq < cut).count(), cut))
}

impl Conversation {
    /// Notes that the model is not shown what does not fit into its window, before it is asked.
    pub(super) async fn note_unread(&mut self) -> Result<(), TranscriptError> {
        let Some((count, cut)) = self.unread.cut else { return Ok(()) };
        let text = format!(
            "[{count} earlier entries are left out: they do not fit. Ask the person if you need them]"
        );
        self.keep(vec![(ItemBody::Summary { text: Some(text), cut }, None)]).await?;
        self.unread.cut = None;
        self.tell(AgentEvent::Notice(format!(
            "the session is longer than the model's window: the model gets it without the first {count} \
            entries; the transcript keeps all of it"
        )));
        Ok(())
    }
}
