//! What a server said last, for whoever has to say why it ended.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use eclusa::one_line;
use eclusa_mcp::DeniedAccess;

/// How much of it is kept, in bytes, and how much of that is told.
const MAX_KEPT: usize = 4096;
const MAX_REPORTED: usize = 400;

/// The most hosts that are remembered.
const MAX_HOSTS: usize = 8;

/// The end of what a server wrote to standard error, and whom it was not let reach.
#[derive(Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<TailState>>);

#[derive(Default)]
struct TailState {
    said: Vec<u8>,
    /// With when it last tried.
    refused: Vec<(String, Instant)>,
    unreached: Vec<String>,
}

impl StderrTail {
    fn state(&self) -> MutexGuard<'_, TailState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It said something.
    pub(super) fn add(&self, bytes: &[u8]) {
        let mut state = self.state();
        let new = bytes.get(bytes.len().saturating_sub(MAX_KEPT)..).unwrap_or_default();
        let over = (state.said.len() + new.len()).saturating_sub(MAX_KEPT);
        state.said.drain(..over);
        state.said.extend_from_slice(new);
    }

    /// It was not let reach a host; this entry would have let it.
    pub(super) fn refused(&self, host: String) {
        let refused = &mut self.state().refused;
        refused.retain(|(it, _)| *it != host);
        if refused.len() < MAX_HOSTS {
            refused.push((host, Instant::now()));
        }
    }

    /// It did not reach a host that it may reach, for this reason.
    pub(super) fn unreached(&self, why: String) {
        let mut state = self.state();
        if state.unreached.len() < MAX_HOSTS && !state.unreached.contains(&why) {
            state.unreached.push(why);
        }
    }

    /// How it ended, and what there is to say about it.
    pub(super) fn after(&self, how: &str) -> String {
        match self.report() {
            None => how.to_owned(),
            Some(told) => format!("{how}; {told}"),
        }
    }

    /// What it said last and whom it could not reach, if anything.
    pub(super) fn report(&self) -> Option<String> {
        let state = self.state();
        let said = String::from_utf8_lossy(&state.said);
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" / ");
        let last = one_line(&last);
        let from = last.ceil_char_boundary(last.len().saturating_sub(MAX_REPORTED));
        let last = last.get(from..).unwrap_or_default();
        let mut told = Vec::new();
        if !last.is_empty() {
            told.push(format!("it said last: `{last}`"));
        }
        if !state.refused.is_empty() {
            let hosts: Vec<&str> = state.refused.iter().map(|(it, _)| it.as_str()).collect();
            let hosts = hosts.join("`, `");
            told.push(format!("it was not let reach `{hosts}`: its `hosts` do not name that"));
        }
        told.extend(state.unreached.iter().cloned());
        (!told.is_empty()).then(|| told.join("; "))
    }
}

impl DeniedAccess for StderrTail {
    fn hosts(&self, since: Instant) -> Vec<String> {
        let state = self.state();
        state.refused.iter().filter(|(_, at)| *at >= since).map(|(it, _)| it.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
