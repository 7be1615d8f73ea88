//! What `ask` and `chat` share: a session, opened as the configuration says.

use std::{io::Read, path::Path, sync::Arc};

use eclusa::{Files, Gate, Run, Scene, parse::fenced};
use eclusa_mcp::Gateway;
use eclusa_models::Model;
use tokio::sync::mpsc::UnboundedReceiver;

use super::model_choice::{Helper, ModelChoice};
use crate::ui::{
    archive::Archive, context::AppContext, failure::Failure, gates::GateParts, servers, since,
    surface::Surface, transcript_spool,
};
use crate::{
    AgentEvent, Conversation, ConversationSetup, OpenError, Persona, SystemText, TaskRole,
    TaskTool, project_words, system_text,
};

/// No file of the project is read further than this.
const MAX_PROJECT_FILE: u64 = 64 << 10;

/// A session that is open.
pub(super) struct OpenSession {
    pub(super) conversation: Conversation,
    pub(super) events: UnboundedReceiver<AgentEvent>,
    pub(super) running: RunningSession,
}

/// What runs for a session, and ends with it.
pub(super) struct RunningSession {
    /// The gate of this session: the person's own calls pass it too.
    pub(super) gate: Gate,
    behind: Option<Arc<Gateway>>,
}

impl OpenSession {
    /// Opens a session with this model, or goes on with one that is kept.
    pub(super) async fn open(
        ctx: &AppContext,
        surface: Surface,
        mut chosen: ModelChoice,
        mut parts: GateParts,
        archive: &Archive,
        resume: Option<&str>,
    ) -> Result<OpenSession, Failure> {
        parts.secrets = std::mem::take(&mut chosen.secrets);
        let gate = ctx.gate(surface, parts)?;
        let own_session = transcript_spool::answer_references(gate.registry(), archive)?;
        let behind = servers::wake_all(ctx, gate.registry()).await?;
        let mode = chosen.persona.mode;
        let setup = conversation(ctx, gate.clone(), archive, chosen)?;
        let opened = match resume {
            Some(id) => Conversation::resume(setup, id).await,
            None => Conversation::open(setup).await,
        };
        let (conversation, events) = opened.map_err(unopened)?;
        let _ = own_session.set(conversation.id().to_owned());
        let run = Run { session: conversation.id().into(), ..gate.run().clone() };
        let gate = gate.for_run(run.held_to(mode));
        Ok(OpenSession { conversation, events, running: RunningSession { gate, behind } })
    }
}

impl RunningSession {
    /// Leaves the session: what its commands left running ends, its /tmp, and its servers.
    pub(super) async fn end(&mut self) {
        self.gate.leave_session();
        if let Some(behind) = self.behind.take() {
            behind.close().await;
        }
    }
}

pub(super) fn unopened(err: OpenError) -> Failure {
    match err {
        OpenError::Unknown(_) | OpenError::Taken(_) => Failure::usage(err),
        OpenError::Archive(_) => Failure::failed(err),
    }
}

/// A conversation with this model behind this gate. The model can give work to the helpers.
fn conversation(
    ctx: &AppContext,
    gate: Gate,
    archive: &Archive,
    chosen: ModelChoice,
) -> Result<ConversationSetup, Failure> {
    let ModelChoice { model, persona, limits, helpers, .. } = chosen;
    let scene = Scene { model: Some(model.profile().model.clone()), ..ctx.scene() };
    let project = project(ctx)?;
    // A tool of the person that has the name keeps it.
    if !helpers.is_empty() && !gate.registry().has("task") {
        let role = |it: Helper| {
            let system = match &it.model {
                Ok(model) => system(&gate, &scene, &**model, &it.persona),
                Err(_) => String::new(),
            };
            TaskRole { persona: it.persona, model: it.model, system }
        };
        let roles = helpers.into_iter().map(role).collect();
        let tool = TaskTool::registration(roles, project.clone(), scene.clone(), ctx.config.tasks);
        gate.registry().register(tool).map_err(Failure::usage)?;
    }
    let system = system(&gate, &scene, &*model, &persona);
    Ok(ConversationSetup {
        gate,
        model,
        persona,
        store: Arc::new(archive.clone()),
        limits,
        scene,
        system,
        project,
    })
}

/// The system text for a model and a persona.
fn system(gate: &Gate, scene: &Scene, model: &dyn Model, persona: &Persona) -> String {
    let instruction = model.profile().declares.is_none().then(|| {
        let mut tools = gate.registry().visible();
        if let Some(names) = &persona.tools {
            tools.retain(|it| names.iter().any(|name| name == it.name()));
        }
        fenced::instruction(&tools, scene)
    });
    system_text(&SystemText {
        persona,
        mode: persona.mode_within(gate.run().mode_in_force()),
        workspace: &scene.workspace,
        system: std::env::consts::OS,
        today: since::now(),
        instruction: instruction.as_deref(),
    })
}

/// What the project says, as far as it may be read: links lead nowhere, blocked files stay blocked.
fn project(ctx: &AppContext) -> Result<Option<String>, Failure> {
    let root = &ctx.paths.workspace;
    let files = Files::open(root, ctx.config.blocked.clone()).map_err(Failure::failed)?;
    let here = std::env::current_dir().and_then(|it| it.canonicalize());
    let here = here.unwrap_or_else(|_| root.clone());
    let read = |path: &Path| {
        let opened = files.file(path.to_str()?).ok()?;
        let mut bytes = Vec::new();
        opened.file.take(MAX_PROJECT_FILE).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|it| !it.trim().is_empty())
    };
    Ok(project_words(root, &here, read))
}
