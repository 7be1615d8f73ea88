//! While somebody is asked: who is told, and what ends the waiting.

use crate::{Event, Question, Run, gate::Setup};

/// Tells whoever is listening that somebody is being asked.
pub(super) fn emit_asked(setup: &Setup, run: &Run, question: &Question) {
    setup.events.send(|| Event::Asked {
        session: run.session.clone(),
        call: question.call.clone(),
        tool: question.tool.clone(),
    });
}

/// Resolves when an answer to another question covers this call too.
pub(super) async fn covered_meanwhile(
    setup: &Setup,
    covered: impl Fn() -> Option<String>,
) -> String {
    loop {
        // Listen before looking, so that nothing falls in between.
        let mut changed = std::pin::pin!(setup.state.memory.changed.notified());
        changed.as_mut().enable();
        if let Some(by) = covered() {
            return by;
        }
        changed.await;
    }
}
