//! Native calls that come in fragments, until they are whole.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    CALL_BYTES, StreamedCall,
    ids::IdGenerator,
    native::{cut_short, incoming_from_text, malformed},
};
use crate::json::brief;

/// How many calls of one stream may be unfinished at once.
const MAX_CALLS: usize = 256;

/// How many contradicting ids of one call are answered.
const MAX_IDS: usize = 16;

/// How the fragments of a call came to an end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending<'a> {
    /// The wire says that the call is whole.
    Complete,
    /// The model was stopped, for this reason; the call may not be whole.
    Stopped(&'a str),
    /// The stream ended, and the call had not.
    Broken,
}

/// The unfinished calls of one stream, by the index that the wire gives them.
#[derive(Debug)]
pub(super) struct Fragments {
    open: BTreeMap<u64, Fragment>,
    /// Bytes held for all of them, and how many that may be.
    held: usize,
    limit: usize,
    /// A call was left out because there were too many.
    too_many: bool,
    /// For calls to which the model gave no id.
    pub(super) ids: IdGenerator,
}

impl Default for Fragments {
    fn default() -> Fragments {
        Fragments::new(CALL_BYTES)
    }
}

/// What has come of one call.
#[derive(Debug, Default)]
struct Fragment {
    id: Option<String>,
    /// Further ids that came for the same call, by mistake.
    other_ids: Vec<String>,
    name: String,
    text: String,
    fault: Option<String>,
}

impl Fragments {
    pub(super) fn new(limit: usize) -> Fragments {
        let (open, ids) = (BTreeMap::new(), IdGenerator::default());
        Fragments { open, held: 0, limit, too_many: false, ids }
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    pub(super) fn is_open(&self, index: u64) -> bool {
        self.open.contains_key(&index)
    }

    /// The index that was opened last, in the order of indices.
    pub(super) fn last(&self) -> Option<u64> {
        self.open.last_key_value().map(|(index, _)| *index)
    }

    /// The id under which a call came.
    pub(super) fn id_of(&self, index: u64) -> Option<&str> {
        self.open.get(&index).and_then(|it| it.id.as_deref())
    }

    /// Opens a call, if it is not open yet and there is room.
    pub(super) fn open(&mut self, index: u64) {
        if self.open.len() < MAX_CALLS {
            self.open.entry(index).or_default();
        } else if !self.is_open(index) {
            self.too_many = true;
        }
    }

    /// The id of a call. It comes once, or stays the same.
    pub(super) fn id(&mut self, index: u64, id: &str) {
        if id.is_empty() || self.id_of(index) == Some(id) || !self.has_room(index, id.len()) {
            return;
        }
        let Some(it) = self.open.get_mut(&index) else { return };
        let Some(known) = &it.id else {
            self.held += id.len();
            it.id = Some(id.to_owned());
            return;
        };
        it.fault = Some(format!(
            "fragments of one call came under the ids `{}` and `{}`, so it was not run; send each call again by itself",
            brief(known),
            brief(id)
        ));
        if it.other_ids.len() < MAX_IDS && it.other_ids.iter().all(|other| other != id) {
            self.held += id.len();
            it.other_ids.push(id.to_owned());
        }
    }

    /// A fragment of the tool's name. Some wires repeat the whole name instead.
    pub(super) fn name(&mut self, index: u64, part: &str) {
        let repeated = self.open.get(&index).is_some_and(|it| it.name == part);
        if repeated || !self.has_room(index, part.len()) {
            return;
        }
        if let Some(it) = self.open.get_mut(&index) {
            self.held += part.len();
            it.name.push_str(part);
        }
    }

    /// A fragment of the arguments, as text.
    pub(super) fn text(&mut self, index: u64, part: &str) {
        if !self.has_room(index, part.len()) {
            return;
        }
        if let Some(it) = self.open.get_mut(&index) {
            self.held += part.len();
            it.text.push_str(part);
        }
    }

    /// The whole arguments as text, after fragments of them or instead.
    pub(super) fn whole_text(&mut self, index: u64, whole: &str) {
        match self.open.get_mut(&index) {
            Some(it) if it.text.is_empty() => self.text(index, whole),
            Some(it) if it.text != whole && it.fault.is_none() => {
                it.fault = Some(
                    "the fragments of the arguments do not add up to the whole, so the call was not run; send it again".to_owned(),
                );
            }
            _ => {}
        }
    }

    /// The whole arguments as JSON. The empty object says nothing: wires put it where arguments
    /// will come.
    pub(super) fn whole_value(&mut self, index: u64, value: &Value) {
        if !value.as_object().is_some_and(serde_json::Map::is_empty) && !value.is_null() {
            self.whole_text(index, &value.to_string());
        }
    }

    /// Gives up one call for a reason that only the wire knows.
    pub(super) fn fault(&mut self, index: u64, problem: String) {
        if let Some(it) = self.open.get_mut(&index) {
            it.fault.get_or_insert(problem);
        }
    }

    /// Ends one call.
    pub(super) fn end(&mut self, index: u64, ending: Ending<'_>) -> Vec<StreamedCall> {
        let Some(it) = self.open.remove(&index) else { return Vec::new() };
        self.held = self.held.saturating_sub(it.bytes());
        it.streamed(index, ending, &mut self.ids)
    }

    /// True when a call has no arguments so far: it is either complete or has not begun.
    pub(super) fn is_bare(&self, index: u64) -> bool {
        self.open.get(&index).is_some_and(Fragment::is_bare)
    }

    /// Ends all calls, in the order of their indices.
    pub(super) fn end_all(&mut self, ending: Ending<'_>) -> Vec<StreamedCall> {
        self.held = 0;
        let open = std::mem::take(&mut self.open);
        let ids = &mut self.ids;
        let mut all: Vec<StreamedCall> =
            open.into_iter().flat_map(|(index, it)| it.streamed(index, ending, ids)).collect();
        if std::mem::take(&mut self.too_many) {
            let problem = format!(
                "more than {MAX_CALLS} calls were begun at once; the further ones were not read, send fewer"
            );
            let further = malformed(ids.next(), None, problem);
            all.push(StreamedCall::new(u64::MAX, further, ""));
        }
        all
    }

    /// True when that much more may be held. If not, what is held of this call is let go, and it
    /// will be answered with that.
    fn has_room(&mut self, index: u64, bytes: usize) -> bool {
        let Some(it) = self.open.get_mut(&index) else { return false };
        if self.held + bytes <= self.limit {
            return true;
        }
        self.held = self.held.saturating_sub(it.text.len());
        it.text = String::new();
        it.fault.get_or_insert_with(|| {
            format!(
                "the unfinished calls are larger than {} bytes, so this one was not read; send less in one call",
                self.limit
            )
        });
        false
    }
}

impl Fragment {
    fn bytes(&self) -> usize {
        let ids = self.id.iter().chain(&self.other_ids).map(String::len).sum::<usize>();
        ids + self.name.len() + self.text.len()
    }

    fn is_bare(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn streamed(self, index: u64, ending: Ending<'_>, ids: &mut IdGenerator) -> Vec<StreamedCall> {
        let tool = (!self.name.is_empty()).then_some(self.name.as_str());
        let id = self.id.as_deref();
        let incoming = match (&self.fault, ending) {
            (Some(fault), _) => {
                let mut all = vec![malformed(ids.or_next(id), tool, fault.clone())];
                all.extend(
                    self.other_ids.iter().map(|it| malformed(it.clone(), tool, fault.clone())),
                );
                all
            }
            (None, Ending::Broken) => {
                let problem = "the stream ended before the call was complete, so it was not run; send it again";
                vec![malformed(ids.or_next(id), tool, problem.to_owned())]
            }
            (None, Ending::Stopped(why)) if self.is_bare() => {
                vec![cut_short(ids.or_next(id), tool, why)]
            }
            (None, Ending::Stopped(_) | Ending::Complete) => {
                let (id, name) = (id.map(Value::from), tool.map(Value::from));
                let text = Value::from(self.text.as_str());
                vec![incoming_from_text(id.as_ref(), name.as_ref(), Some(&text), ids)]
            }
        };
        incoming.into_iter().map(|it| StreamedCall::new(index, it, &self.text)).collect()
    }
}
