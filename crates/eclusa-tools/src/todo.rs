//! `todo`: the list of what is to be done, kept by the tool for as long as the program runs.

use std::{
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool, one_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[cfg(test)]
mod tests;

/// One list. Sessions that are not to share theirs get a tool each.
#[derive(Debug, Default)]
pub struct Todo {
    list: Mutex<Vec<TodoItem>>,
}

/// The new list, if there is one.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TodoArgs {
    /// The whole list as it is from now on. Leave it out to see the list.
    #[schemars(length(max = 200))]
    todos: Option<Vec<TodoItem>>,
}

/// One thing to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct TodoItem {
    /// What is to be done.
    #[schemars(length(min = 1, max = 1000))]
    content: String,
    /// How far it is.
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl Status {
    fn mark(self) -> char {
        match self {
            Status::Pending => ' ',
            Status::InProgress => '>',
            Status::Completed => 'x',
        }
    }
}

impl Todo {
    /// An empty list.
    pub fn new() -> Todo {
        Todo::default()
    }
}

impl TypedTool for Todo {
    type Args = TodoArgs;
    const NAME: &'static str = "todo";

    fn description(&self, _: &Scene) -> String {
        "Keeps a to-do list: with `todos` it is replaced, without it is shown.\n\
         Have one item in progress at a time. Example: {\"todos\": [{\"content\": \"run the \
         tests\", \"status\": \"in_progress\"}, {\"content\": \"write the changelog\", \
         \"status\": \"pending\"}]}"
            .to_owned()
    }

    fn output_schema(&self) -> Option<Value> {
        let list = schemars::schema_for!(Vec<TodoItem>).to_value();
        Some(json!({"type": "object", "properties": {"todos": list}, "required": ["todos"]}))
    }

    fn facts(&self) -> Facts {
        Facts {
            aliases: vec!["TodoWrite".to_owned(), "TodoRead".to_owned()],
            // Not concurrent: of two lists in one turn, the later one holds.
            search_hint: "plan steps tasks checklist progress".to_owned(),
            class: Some(PermissionClass::ReadOnly),
            audit_operation: "plan".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, _: &TodoArgs) -> Vec<Touch> {
        Vec::new()
    }

    async fn run(&self, args: TodoArgs, _: &Job) -> Result<Output, ToolError> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(new) = args.todos {
            *list = new;
        }
        Ok(display(&list))
    }
}

fn display(list: &[TodoItem]) -> Output {
    let count = |status| list.iter().filter(|it| it.status == status).count();
    let mut text = String::new();
    for item in list {
        let _ = writeln!(text, "[{}] {}", item.status.mark(), one_line(&item.content));
    }
    let (done, busy) = (count(Status::Completed), count(Status::InProgress));
    let _ = match list.len() {
        0 => writeln!(text, "(the list is empty)"),
        all => writeln!(text, "({done} of {all} completed)"),
    };
    if busy > 1 {
        let _ = writeln!(text, "({busy} are in progress; one at a time is easier to follow)");
    }
    Output { text, data: Some(json!({"todos": list})), ..Output::default() }
}
