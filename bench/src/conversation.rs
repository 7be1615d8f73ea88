//! A step of the loop: the model says one call, it is kept, passes the gate, its answer is kept.

use std::sync::Arc;

use eclusa::*;
use eclusa_chat::{Conversation, ConversationSetup, Persona, TurnEnd};
use eclusa_models::{ScriptModel, TurnLimits};
use serde_json::json;

use crate::{
    gate,
    measure::{Told, line, shortest},
};

#[path = "../../crates/eclusa-chat/tests/agent/memory_transcripts.rs"]
#[expect(dead_code, reason = "tests see what happens where nothing can be kept")]
mod memory_transcripts;

use memory_transcripts::MemoryTranscripts;

/// Steps of one turn.
const STEPS: u32 = 50;

pub(crate) fn run() -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    // Each step has arguments of its own, so that the loop does not take it for going in circles.
    let step = |n: u32| {
        let args = json!({"path": "src/main.rs", "count": n, "all": true, "how": "fast"});
        format!("## says\n```tool\n{}\n```\n", json!({"name": "nothing", "args": args}))
    };
    let script: String = (0..STEPS).map(step).collect::<String>() + "## says\nDone.\n";
    let turn = || -> Result<(), Box<dyn std::error::Error>> {
        let log = Arc::new(MemoryLog::default());
        let setup = ConversationSetup {
            gate: gate::setup(log.clone())?.build()?,
            model: Arc::new(ScriptModel::new("script", &script)?),
            persona: Persona::coder(),
            store: Arc::new(MemoryTranscripts::beside(log)),
            limits: TurnLimits::default(),
            scene: Scene::default(),
            system: "be brief".to_owned(),
            project: None,
        };
        let report = runtime.block_on(async {
            let (mut conversation, _events) = Conversation::open(setup).await?;
            Ok::<_, eclusa_chat::OpenError>(conversation.turn("go".into()).await)
        })?;
        match report.end {
            TurnEnd::Done => Ok(()),
            other => Err(format!("the turn ended otherwise: {}", other.as_str()).into()),
        }
    };
    turn()?;
    let one = gate::setup(Arc::new(MemoryLog::default()))?.build()?;
    let passing = shortest(21, || {
        for _ in 0..STEPS {
            let call = ToolCall::new("call_1", "nothing", gate::args());
            drop(runtime.block_on(one.pass(call)));
        }
    });
    let talking = shortest(21, || turn().is_ok());
    line("baseline: the same calls through the gate alone", passing / STEPS, passing / STEPS);
    line(
        "a step of a turn of 50, without syncs (goal: under 150 µs)",
        talking / STEPS,
        passing / STEPS,
    );
    Ok(())
}
