//! What people have answered before, and how long it holds.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Hash, PermissionClass, Validated};

/// What a remembered answer covers: calls of one tool, as it is now, and for a shell only the
/// very same text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The tool's canonical name.
    pub tool: String,
    /// The tool's revision: another one is asked about again.
    pub revision: String,
    /// The exact arguments, where any others must be asked about.
    pub args: Option<Hash>,
}

impl Grant {
    /// The grant that a yes to this call stands for.
    pub(crate) fn covering(call: &Validated) -> Grant {
        Grant {
            tool: call.name().to_owned(),
            revision: call.revision().to_owned(),
            args: (call.class() == PermissionClass::Shell).then(|| call.digest()),
        }
    }

    /// Whether it can be kept beyond a conversation: exact texts are not worth a rule.
    pub(crate) fn can_last(&self) -> bool {
        self.args.is_none()
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.args {
            None => write!(f, "every call of `{}`", self.tool),
            Some(_) => write!(f, "`{}` with exactly these arguments", self.tool),
        }
    }
}

/// Keeps what holds beyond a conversation, for example as a rule in a file.
pub trait Remember: Send + Sync {
    /// Keeps it for good.
    fn always(&self, grant: &Grant) -> Result<(), String>;
}

/// What people have answered before.
#[derive(Default)]
pub(crate) struct Memory {
    sessions: Mutex<HashMap<Arc<str>, HashSet<Grant>>>,
    always: Mutex<HashSet<Grant>>,
    keeper: Option<Arc<dyn Remember>>,
}

impl Memory {
    pub(crate) fn new(keeper: Option<Arc<dyn Remember>>) -> Memory {
        Memory { keeper, ..Memory::default() }
    }

    /// Who said yes to this before, if anybody did.
    pub(crate) fn covers(&self, conversation: &str, grant: &Grant) -> Option<String> {
        let session = lock(&self.sessions);
        if session.get(conversation).is_some_and(|it| it.contains(grant)) {
            return Some("an earlier answer in this conversation".to_owned());
        }
        lock(&self.always).contains(grant).then(|| "an earlier answer for always".to_owned())
    }

    pub(crate) fn session(&self, conversation: &Arc<str>, grant: Grant) {
        lock(&self.sessions).entry(conversation.clone()).or_default().insert(grant);
    }

    pub(crate) fn end(&self, conversation: &str) {
        lock(&self.sessions).remove(conversation);
    }

    pub(crate) fn always(&self, grant: Grant) -> Result<(), String> {
        let keeper = self.keeper.as_ref().ok_or("there is nowhere to keep it")?;
        keeper.always(&grant)?;
        lock(&self.always).insert(grant);
        Ok(())
    }

    pub(crate) fn can_always(&self) -> bool {
        self.keeper.is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
