//! Lists in pages, and hints that are true.

use eclusa::{Facts, Job, Output, Registration, ToolError, Touch};
use futures::future::BoxFuture;
use serde_json::json;

use super::*;

struct Named(String, Facts);

impl eclusa::Tool for Named {
    fn name(&self) -> &str {
        &self.0
    }
    fn description(&self, _: &Scene) -> String {
        "a tool".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn facts(&self) -> Facts {
        self.1.clone()
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::default()) })
    }
}

fn names(tools: &[Tool]) -> Vec<String> {
    tools.iter().map(|it| it.name.to_string()).collect()
}

fn paged(
    registry: &Registry,
    cursor: Option<String>,
) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
    let request = PaginatedRequestParams::default().with_cursor(cursor);
    page(tools(registry, None, true), |it| &it.name, Some(request))
}

#[test]
fn every_tool_is_on_exactly_one_page_whatever_comes_and_goes() {
    let registry = Registry::new();
    for number in 0..450 {
        registry.add(Named(format!("tool_{number:03}"), Facts::default())).unwrap();
    }
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let (tools, next) = paged(&registry, cursor).unwrap();
        all.extend(names(&tools));
        // The last tool of the page goes away; the next page still begins after it.
        if let Some(last) = tools.last().filter(|it| registry.has(&it.name)) {
            registry.remove(&last.name).unwrap();
        }
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(all.len(), 450 + 2);
    assert!(all.is_sorted());
    assert!(paged(&registry, Some("200".to_owned())).is_err());
}

#[test]
fn hints_follow_the_facts_and_nobody_elses_word() {
    let registry = Registry::new();
    let looks =
        || Facts { read_only: true, class: Some(PermissionClass::ReadOnly), ..Facts::default() };
    let class = |class| Facts { class: Some(class), ..Facts::default() };
    registry.add(Named("looks".to_owned(), looks())).unwrap();
    registry.add(Named("shell".to_owned(), class(PermissionClass::Shell))).unwrap();
    registry.add(Named("file".to_owned(), class(PermissionClass::File))).unwrap();
    registry.add(Named("other".to_owned(), Facts::default())).unwrap();
    let wipes = Facts { destructive: true, ..class(PermissionClass::File) };
    registry.add(Named("wipes".to_owned(), wipes)).unwrap();
    let theirs = Registration::new(Named("mcp_s_looks".to_owned(), looks())).foreign("s");
    registry.register(theirs).unwrap();
    let tools = tools(&registry, None, true);
    let hints = |name: &str| {
        let hints = tools.iter().find(|it| it.name == name).unwrap().annotations.clone().unwrap();
        // As the protocol has it: what only looks destroys nothing, and what does not say so writes.
        let looks = hints.read_only_hint.unwrap_or(false);
        [looks, hints.destructive_hint.unwrap_or(!looks), hints.open_world_hint.unwrap_or(true)]
    };
    assert_eq!(hints("looks"), [true, false, false]);
    assert_eq!(hints("shell"), [false, false, true]);
    assert_eq!(hints("file"), [false, false, false]);
    assert_eq!(hints("other"), [false, false, true]);
    assert_eq!(hints("wipes"), [false, true, false]);
    // C21: what we know of another server's tool is nothing, and nothing stands for the worst.
    let theirs = tools.iter().find(|it| it.name == "mcp_s_looks").unwrap();
    assert_eq!(theirs.annotations, None);
}

#[test]
fn deferred_tools_are_not_listed_and_ours_are_listed_once() {
    let registry = Registry::new();
    let hidden = Named("hidden".to_owned(), Facts::default());
    registry.register(Registration::new(hidden).deferred()).unwrap();
    registry.register(Registration::new(crate::Approve).deferred()).unwrap();
    let tools = tools(&registry, None, true);
    assert_eq!(names(&tools), ["approve", "wait"]);
    // Models of other clients have no use for it.
    assert_eq!(names(&super::tools(&registry, None, false)), ["wait"]);
}

#[test]
fn schemas_are_in_words_that_every_client_reads() {
    let mut schema = serde_json::json!({
        "type": "object",
        "properties": {
            "limit": {"type": ["integer", "null"], "format": "uint64", "minimum": 0},
            "format": {"type": "string", "format": "date-time"},
            "kind": {"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "null"}], "title": "k"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "word": {"type": ["string", "null"], "enum": ["x", null], "default": null},
        },
    });
    schema::simplify(&mut schema);
    let expected = serde_json::json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 0},
            "format": {"type": "string", "format": "date-time"},
            "kind": {"enum": ["a", "b"], "type": "string", "title": "k"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "word": {"type": "string", "enum": ["x"], "default": null},
        },
    });
    assert_eq!(schema, expected);
}
