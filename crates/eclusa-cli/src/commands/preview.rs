//! `eclusa run --discard`: a call runs staged, and what it would change is shown with what the rules
//! say of that. Nothing is applied, and nobody is asked.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{
    Answer, Approver, Decision, Gate, Mode, NotAsked, PermissionClass, Question, Verdict,
    approve::Preview, store::Store,
};
use eclusa_sandbox::Missing;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    discard_policy::{self, JudgedEffects},
    failure::Failure,
    gates::GateParts,
    screen::{diff_view::DiffView, note, sanitize},
    surface::Surface,
    terminal::Terminal,
};

/// What became of a preview.
#[derive(Clone, Default)]
pub(super) struct PreviewResult {
    changes: Arc<Mutex<Option<Preview>>>,
    judged: JudgedEffects,
}

impl PreviewResult {
    /// Whether the rules would not let the changes be applied.
    pub(super) fn is_refused(&self) -> bool {
        self.verdict().is_some_and(|it| it.decision == Decision::Deny)
    }

    fn verdict(&self) -> Option<Verdict> {
        self.judged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn changes(&self) -> Option<Preview> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// For programs: the changes, and what the rules say of them. Nothing if it changes nothing.
    pub(super) fn as_json(&self) -> Option<Value> {
        let (preview, verdict) = (self.changes()?, self.verdict()?);
        let (decision, because) = (verdict.decision.as_str(), verdict.why());
        Some(json!({
            "summary": preview.summary,
            "diff": preview.diff,
            "decision": decision,
            "because": because,
        }))
    }

    /// Shows the changes to a person.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let (Some(preview), Some(verdict)) = (self.changes(), self.verdict()) else {
            note("Preview only: it changes nothing");
            return Ok(());
        };
        let mut err = std::io::stderr().lock();
        let view = DiffView::on(&err).whole();
        writeln!(err, "{}", sanitize(&preview.summary))?;
        for line in view.lines(&preview.diff) {
            writeln!(err, "{line}")?;
        }
        drop(err);
        note(&sanitize(&discard_policy::preview_text(&verdict)));
        Ok(())
    }
}

/// A gate that applies nothing. The error says why this tool cannot be tried: what it does would
/// not wait for a yes.
pub(super) fn gate(
    ctx: &AppContext,
    store: &Arc<dyn Store>,
    tool: &str,
) -> Result<(Gate, PreviewResult), Failure> {
    // Whoever could say yes is not there.
    let changes = Arc::default();
    let people: Vec<Arc<dyn Approver>> = vec![Arc::new(Previewer(Arc::clone(&changes)))];
    let parts = GateParts::asking(store, Terminal::new(true, None));
    let gate = ctx.gate(Surface::Run, GateParts { people, preview: true, ..parts })?;
    if let Some(tool) = gate.registry().get(tool) {
        let own = |it: &eclusa_config::CommandTool| it.sandbox && it.name == tool.name();
        let runs_commands =
            tool.class() == PermissionClass::Shell || ctx.config.tools.iter().any(own);
        let staged = || {
            let sandboxes = ctx.sandboxes(&[])?;
            Ok::<_, Failure>(!sandboxes.capabilities().missing().contains(&Missing::Staging))
        };
        let waits = tool.server().is_none() && (tool.facts().stages || tool.facts().read_only);
        if !waits || runs_commands && !staged()? {
            let text = format!("what `{}` does cannot be staged, so it is not tried", tool.name());
            return Err(Failure::refused(text)
                .hint("`--dry-run` says what the rules decide, and runs nothing"));
        }
    }
    let judged = discard_policy::install(&gate);
    // A mode that never asks would apply what this is to show.
    let gate = gate.for_run(gate.run().clone().held_to(Some(Mode::AutoApprove)));
    Ok((gate, PreviewResult { changes, judged }))
}

/// Shows changes, and says no to everything.
struct Previewer(Arc<Mutex<Option<Preview>>>);

impl Approver for Previewer {
    fn name(&self) -> &str {
        "command-line"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let Some(preview) = question.preview() else {
                return Ok(Answer::No("a preview answers no question before the run".into()));
            };
            let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *shown = Some(preview.clone());
            Ok(Answer::No(question.verdict.why().into_owned()))
        })
    }
}
