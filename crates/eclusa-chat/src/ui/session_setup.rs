//! What `ask` and `chat` share: a conversation, put together from the configuration.

use std::{io::Read, path::Path, sync::Arc};

use eclusa::{Files, Gate, Scene, parse::fenced};
use eclusa_models::{Model, TurnLimits};

use super::model_choice::Helper;
use crate::ui::{archive::Archive, context::AppContext, failure::Failure, since};
use crate::{
    ConversationSetup, Persona, SystemText, TaskRole, TaskTool, project_words, system_text,
};

/// No file of the project is read further than this.
const MAX_PROJECT_FILE: u64 = 64 << 10;

/// A conversation with this model behind this gate. The model can give work to the helpers.
pub(super) fn conversation(
    ctx: &AppContext,
    gate: Gate,
    archive: &Archive,
    model: Arc<dyn Model>,
    persona: Persona,
    limits: TurnLimits,
    helpers: Vec<Helper>,
) -> Result<ConversationSetup, Failure> {
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
