//! The tools `undo` and `redo`: an undo passes the gate and is recorded like any call. No model is
//! offered them; `eclusa undo` and `eclusa redo` call them for the person who typed that.

use std::{path::PathBuf, time::Duration};

use eclusa::{
    Answer, Approver, Durability, Facts, Job, NotAsked, Output, PermissionClass, Question,
    Registration, Registry, Scene, ToolError, Touch, TypedTool, Undo, Workspace,
    approve::QuestionAbout,
    one_line,
    registry::RegistryError,
    workspace::{ChangedBy, UndoError, Undone, natural},
};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::edits_since::{edited_by_hand, edits_since};
use crate::undo_retention::calls;

/// An undo is not given up in the middle, and takes as long as the files need.
const TIME: Duration = Duration::from_secs(600);

/// Adds both to a registry. A person's own tool of that name is not what they mean here.
pub fn add(
    registry: &Registry,
    workspace: &Workspace,
    durability: Durability,
) -> Result<(), RegistryError> {
    let undo = UndoTool { workspace: workspace.clone(), durability };
    registry.register(Registration::new(undo).replace())?;
    let redo = RedoTool { workspace: workspace.clone(), durability };
    registry.register(Registration::new(redo).replace())
}

/// Takes back what calls changed.
struct UndoTool {
    workspace: Workspace,
    durability: Durability,
}

/// Takes back an undo.
struct RedoTool {
    workspace: Workspace,
    durability: Durability,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Calls {
    /// The numbers of the calls in the log.
    #[schemars(length(min = 1))]
    pub(super) calls: Vec<u64>,
    /// Whether what somebody changed since is left as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) keep_mine: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct OfUndo {
    /// The number of the undo in the log.
    pub(super) undo: u64,
}

/// What both say of themselves. Their changes are not staged, and rules about who may write what do
/// not apply: what is restored was there before and has been judged then, undoing a creation is
/// always a deletion, and what git wrote could not be undone otherwise. A rule about the tool
/// `undo` itself holds.
fn facts() -> Facts {
    Facts {
        class: Some(PermissionClass::File),
        audit_operation: "undo".to_owned(),
        search_hint: "take back restore revert changes".to_owned(),
        ..Facts::default()
    }
}

impl TypedTool for UndoTool {
    type Args = Calls;
    const NAME: &'static str = "undo";

    fn description(&self, _: &Scene) -> String {
        "Undoes what calls changed in the workspace, all of them or none.".to_owned()
    }

    fn facts(&self) -> Facts {
        facts()
    }

    fn touches(&self, _: &Calls) -> Vec<Touch> {
        Vec::new()
    }

    fn time(&self, _: &Value) -> Option<Duration> {
        Some(TIME)
    }

    async fn run(&self, args: Calls, job: &Job) -> Result<Output, ToolError> {
        let number = job.number().ok_or_else(unnumbered)?;
        // On this very thread, so that it ends once it has begun, whoever goes away.
        let undone = tokio::task::block_in_place(|| match args.keep_mine {
            true => self.workspace.undo_keeping(number, &args.calls, self.durability),
            false => self.workspace.undo(number, &args.calls, self.durability),
        });
        match undone {
            Ok(undone) => {
                let mut output = output("undone", number, &undone);
                output.text.push_str(&edits_since(&self.workspace, &args.calls, &undone.left));
                Ok(output)
            }
            Err(err) => {
                let paths = edited_by_hand(&err);
                let output = edits_since(&self.workspace, &args.calls, &paths);
                Err(ToolError {
                    output: output.trim_start().to_owned(),
                    ..failed(&err, &args.calls)
                })
            }
        }
    }
}

impl TypedTool for RedoTool {
    type Args = OfUndo;
    const NAME: &'static str = "redo";

    fn description(&self, _: &Scene) -> String {
        "Redoes an undo.".to_owned()
    }

    fn facts(&self) -> Facts {
        facts()
    }

    fn touches(&self, _: &OfUndo) -> Vec<Touch> {
        Vec::new()
    }

    fn time(&self, _: &Value) -> Option<Duration> {
        Some(TIME)
    }

    async fn run(&self, args: OfUndo, job: &Job) -> Result<Output, ToolError> {
        let number = job.number().ok_or_else(unnumbered)?;
        let redone = tokio::task::block_in_place(|| {
            let undoes = undoes(&self.workspace, args.undo);
            let undone = self.workspace.redo(number, Some(args.undo), self.durability)?;
            Ok(Undone { calls: undoes, ..undone })
        });
        match redone {
            Ok(undone) => Ok(output("redone", number, &undone)),
            Err(err) => Err(failed(&err, &[args.undo])),
        }
    }
}

/// The calls that an undo took back: they are what a redo is about.
pub(super) fn undoes(workspace: &Workspace, undo: u64) -> Vec<u64> {
    workspace.entry(undo).ok().flatten().map_or(vec![undo], |it| it.undoes)
}

fn unnumbered() -> ToolError {
    ToolError::new("the log gave this call no number, so nothing was undone")
}

fn output(what: &str, number: u64, undone: &Undone) -> Output {
    Output {
        text: format!("{what}: {}", summary(undone)),
        data: Some(as_json(undone)),
        undo: Some(Undo {
            description: format!("undo call {number}"),
            data: json!({"call": number}),
        }),
        ..Output::default()
    }
}

/// What was undone, or would be, for people.
pub fn summary(undone: &Undone) -> String {
    let mut text = calls(&undone.calls);
    // What git did is told in git's words.
    let of_git = |it: &&PathBuf| it.components().any(|it| it.as_os_str() == ".git");
    let told = undone.git.is_empty();
    let mut paths: Vec<&PathBuf> = undone.paths.iter().filter(|it| told || !of_git(it)).collect();
    paths.sort_by(|a, b| natural(a, b));
    let shown = if paths.len() > MAX_PATHS { NAMED_PATHS } else { paths.len() };
    for path in paths.iter().take(shown) {
        text.push_str(&format!("\n  {}", one_line(&path.to_string_lossy())));
    }
    if paths.len() > shown {
        text.push_str(&format!("\n  … and {} more", paths.len() - shown));
    }
    for told in &undone.git {
        text.push_str(&format!("\n{}", one_line(told)));
    }
    for path in &undone.left {
        text.push_str(&format!("\nleft alone: {}", one_line(&path.to_string_lossy())));
    }
    for (call, why) in &undone.irreversible {
        text.push_str(&format!("\ncall {call} cannot be undone: {}", one_line(why)));
    }
    text
}

/// From so many paths on only some are named, and how many those are.
const MAX_PATHS: usize = 50;
const NAMED_PATHS: usize = 20;

/// The same for programs.
pub fn as_json(undone: &Undone) -> Value {
    let paths: Vec<_> = undone.paths.iter().map(|it| it.to_string_lossy()).collect();
    let one = |(call, why): &(u64, String)| json!({"call": call, "why": why});
    let irreversible: Vec<Value> = undone.irreversible.iter().map(one).collect();
    let mut value = json!({"calls": undone.calls, "paths": paths, "irreversible": irreversible});
    if let (false, Some(fields)) = (undone.left.is_empty(), value.as_object_mut()) {
        let left = undone.left.iter().map(|it| it.to_string_lossy().into_owned().into());
        fields.insert("left".to_owned(), Value::Array(left.collect()));
    }
    value
}

/// Why nothing was undone, and that all of it still stands.
pub(super) fn failed(err: &UndoError, asked: &[u64]) -> ToolError {
    let conflicts = match err {
        UndoError::Conflicts(obstacles) => obstacles.as_slice(),
        _ => &[],
    };
    let obstacle = |it: &eclusa::workspace::UndoConflict| {
        let by = match it.by {
            ChangedBy::Call(call) => Value::from(call),
            ChangedBy::Outside => Value::Null,
        };
        let path = it.conflict.path.to_string_lossy();
        json!({"path": path, "what": it.conflict.clash.to_string(), "by_call": by})
    };
    let conflicts: Vec<Value> = conflicts.iter().map(obstacle).collect();
    let stand = match asked {
        [_] => String::new(),
        asked => format!("; nothing was undone of {}", calls(asked)),
    };
    ToolError {
        message: format!("{err}{stand}"),
        output: String::new(),
        data: Some(json!({"calls": asked, "conflicts": conflicts})),
    }
}

/// Whoever typed the command: that was the yes. What rules deny is denied to them too.
pub struct CommandLine;

impl Approver for CommandLine {
    fn name(&self) -> &str {
        "command line"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async {
            match question.about {
                QuestionAbout::Running | QuestionAbout::Changes(_) => Ok(Answer::Once),
                QuestionAbout::Hosts(_) | QuestionAbout::Signature(..) => {
                    Err(NotAsked::Unavailable("nobody spoke of hosts or signatures".to_owned()))
                }
            }
        })
    }
}
