//! The registry: names, aliases, duplicates, search, declarations, and many threads.

use std::sync::Arc;

use eclusa::{
    registry::{MANY_TOOLS, Registered, RegistryError, WhichTools},
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::world::*;

struct Named {
    name: String,
    facts: Facts,
}

impl Tool for Named {
    fn name(&self) -> &str {
        &self.name
    }
    fn description(&self, scene: &Scene) -> String {
        format!("works in {}", scene.workspace)
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x", "y"]}}})
    }
    fn facts(&self) -> Facts {
        self.facts.clone()
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::text(self.name.clone())) })
    }
}

fn tool(name: impl Into<String>) -> Named {
    Named { name: name.into(), facts: Facts::default() }
}

fn names(tools: &[Arc<Registered>]) -> Vec<&str> {
    tools.iter().map(|it| it.name()).collect()
}

#[test]
fn tools_are_added_found_listed_and_removed() {
    // S1.12, S4.18-S4.20, S4.24, R1-R4
    let registry = Registry::new();
    for name in ["b", "a", "c"] {
        registry.add(tool(name)).unwrap();
    }
    assert_eq!(registry.add(tool("a")), Err(RegistryError::Duplicate("a".into())));
    registry.register(Registration::new(tool("a")).replace()).unwrap();
    assert_eq!((names(&registry.list()), registry.count()), (vec!["a", "b", "c"], 3));
    assert!(registry.has("a") && registry.get("d").is_none());
    for bad in ["", "a b", "é", &"x".repeat(129)] {
        assert_eq!(registry.add(tool(bad)), Err(RegistryError::BadName(bad.into())));
    }
    registry.remove("a").unwrap();
    assert_eq!(registry.remove("a").err(), Some(RegistryError::NotFound("a".into())));
    registry.clear();
    assert_eq!(registry.count(), 0);
}

#[test]
fn a_subset_is_exactly_the_names_given() {
    // S4.22-S4.24, C19, R6, R7
    let registry = Registry::new();
    registry.add(tool("a")).unwrap();
    registry.add(tool("b")).unwrap();
    assert_eq!(names(&registry.only(&["b", "a"]).unwrap()), ["b", "a"]);
    assert!(registry.only::<&str>(&[]).unwrap().is_empty());
    assert_eq!(registry.only(&["a", "z"]).err(), Some(RegistryError::NotFound("z".into())));
}

#[tokio::test]
async fn aliases_lead_to_the_tool_under_its_own_name() {
    // S3.15, C18
    let world = world();
    let facts = Facts { aliases: vec!["Read".into(), "read_file".into()], ..Facts::default() };
    world.registry.add(Named { name: "read".into(), facts }).unwrap();
    assert_eq!(world.registry.add(tool("Read")), Err(RegistryError::Duplicate("Read".into())));
    let world = world.close();
    let reply = world.gate.pass(ToolCall::new("c", "read_file", json!({}))).await;
    assert_eq!((reply.tool(), reply.text()), ("read", "read"));
    assert_eq!(world.bodies()[0]["tool"], "read");
}

#[test]
fn tools_are_added_at_the_same_moment_and_one_that_is_refused_alone() {
    let registry = Registry::new();
    let named = |name: &str, alias: &str| {
        let facts = Facts { aliases: vec![alias.into()], ..Facts::default() };
        Registration::new(Named { name: name.into(), facts })
    };
    let changes = registry.changes();
    let added = registry.register_all(vec![
        named("a", "x"),
        named("b", "x"),
        named("c", "a"),
        named("x", "z"),
        named("d", "y"),
        named("d", "v"),
        Registration::new(tool("no name")),
    ]);
    let taken = |name: &str| Err(RegistryError::Duplicate(name.into()));
    assert_eq!(
        added,
        [
            Ok(()),
            taken("x"),
            taken("a"),
            taken("x"),
            Ok(()),
            taken("d"),
            Err(RegistryError::BadName("no name".into())),
        ]
    );
    assert_eq!(names(&registry.list()), ["a", "d"]);
    assert!(changes.has_changed().unwrap());
    // What is replaced takes its aliases with it, and keeps them where the new one has them too.
    let added = registry.register_all(vec![
        named("a", "w").replace(),
        named("b", "x"),
        named("d", "y").replace(),
    ]);
    assert_eq!(added, [Ok(()), Ok(()), Ok(())]);
    let told = |alias: &str| registry.get(alias).map(|it| it.name().to_owned());
    assert_eq!(["w", "x", "y"].map(told), ["a", "b", "d"].map(|it| Some(it.to_owned())));
}

#[test]
fn a_tool_without_facts_is_assumed_to_be_the_worst() {
    // S3.11, S3.42, S4.1
    let registry = Registry::new();
    registry.add(tool("a")).unwrap();
    let it = registry.get("a").unwrap();
    assert_eq!(*it.facts(), Facts::default());
    assert!(!it.facts().concurrent && !it.facts().read_only);
    assert_eq!((it.class(), it.operation()), (PermissionClass::Generic, "invoke"));
}

#[test]
fn a_foreign_tool_can_raise_what_is_demanded_and_never_lower_it() {
    // S3.24
    // S3.44, S4.48, C20, C21, invariant 9
    let registry = Registry::new();
    let read_only = || Named {
        name: "look".into(),
        facts: Facts { class: Some(PermissionClass::ReadOnly), ..Facts::default() },
    };
    registry.register(Registration::new(read_only()).foreign("far")).unwrap();
    let it = registry.get("look").unwrap();
    assert_eq!((it.class(), it.facts().sensitive), (PermissionClass::Generic, true));
    assert_eq!(it.server(), Some("far"));
    // Its own server may replace it; nobody's tool stands in for one of the program's own.
    registry.register(Registration::new(read_only()).foreign("far").replace()).unwrap();
    assert!(registry.register(Registration::new(read_only()).foreign("else").replace()).is_err());
    registry.register(Registration::new(read_only()).replace()).unwrap();
    assert!(registry.register(Registration::new(read_only()).foreign("far").replace()).is_err());
    assert_eq!(registry.get("look").unwrap().class(), PermissionClass::ReadOnly);
}

#[test]
fn an_unknown_class_is_generic() {
    // S3.17, S3.45
    assert_eq!(PermissionClass::lenient("READONLY!"), PermissionClass::Generic);
    assert_eq!(PermissionClass::lenient("bash"), PermissionClass::Shell);
    assert_eq!(PermissionClass::lenient("webfetch"), PermissionClass::Web);
    assert_eq!(PermissionClass::lenient("readonly"), PermissionClass::ReadOnly);
}

#[test]
fn the_audit_operation_is_the_tools_word_or_a_guess() {
    // S3.25-S3.27
    let operation = |name: &str, declared: &str| {
        let registry = Registry::new();
        let facts = Facts { audit_operation: declared.into(), ..Facts::default() };
        registry.add(Named { name: name.into(), facts }).unwrap();
        registry.get(name).unwrap().operation().to_owned()
    };
    assert_eq!(operation("SlackSend", "write"), "write");
    assert_eq!(operation("K8sApply", "apply to a cluster"), "apply to a cluster");
    assert_eq!(operation("DeleteRow", ""), "delete");
    assert_eq!(operation("read_file", ""), "read");
    assert_eq!(operation("SlackSend", ""), "invoke");
}

#[test]
fn many_threads_register_read_and_remove() {
    // R5, S1.12
    let registry = Registry::new();
    std::thread::scope(|scope| {
        for thread in 0..100 {
            let registry = &registry;
            scope.spawn(move || {
                for n in 0..50 {
                    registry.add(tool(format!("t{thread}-{n}"))).unwrap();
                    assert!(registry.has(&format!("t{thread}-{n}")));
                }
            });
        }
    });
    assert_eq!(registry.count(), 5000);
    std::thread::scope(|scope| {
        for thread in 0..100 {
            let registry = &registry;
            scope.spawn(move || {
                for n in 0..50 {
                    registry.remove(&format!("t{thread}-{n}")).unwrap();
                    registry.get("t0-0");
                }
            });
        }
    });
    assert_eq!(registry.count(), 0);
}

#[test]
fn an_unlisted_tool_is_called_by_its_name_and_shown_to_nobody() {
    let registry = Registry::new();
    registry.register(Registration::new(tool("mcp.s.read_resource")).unlisted()).unwrap();
    let scene = Scene::default();
    assert!(registry.has("mcp.s.read_resource"));
    assert!(registry.search("mcp.s.read_resource", &scene).is_empty());
    let shown = registry.declare(Wire::Anthropic, &WhichTools::All, &scene).unwrap();
    assert_eq!(shown.as_array().unwrap().len(), 0);
}

#[test]
fn search_finds_by_name_hint_and_description_best_first() {
    // S3.16
    let registry = Registry::new();
    let hinted = Facts { search_hint: "look for text in files".into(), ..Facts::default() };
    registry
        .register(Registration::new(Named { name: "grep".into(), facts: hinted }).deferred())
        .unwrap();
    registry.add(tool("text")).unwrap();
    registry.add(tool("other")).unwrap();
    let scene = Scene { workspace: "Lisbon".into(), ..Scene::default() };
    let found = |words: &str| -> Vec<String> {
        registry.search(words, &scene).iter().map(|it| it.tool.name().to_owned()).collect()
    };
    assert_eq!(found("text"), ["text", "grep"]);
    assert_eq!(found("files look"), ["grep"]);
    assert_eq!(found("lisbon"), ["grep", "other", "text"]);
    assert!(found("files zebra").is_empty() && found("  ").is_empty());
    // Deferred tools are not shown until somebody names them.
    let shown = |shown: &WhichTools| registry.declare(Wire::Anthropic, shown, &scene).unwrap();
    assert_eq!(shown(&WhichTools::All).as_array().unwrap().len(), 2);
    assert_eq!(shown(&WhichTools::Only(vec!["grep".into()]))[0]["name"], "grep");
}

/// Shows S3.16.
#[test]
fn where_there_are_many_tools_some_are_shown_once_they_were_found() {
    let registry = Registry::new();
    for at in 0..MANY_TOOLS {
        registry.add(tool(format!("own-{at:02}"))).unwrap();
    }
    let foreign = || Registration::new(tool("foreign")).foreign("x").deferred_when_many().replace();
    let shown = || names(&registry.visible()).contains(&"foreign");
    let declared = || {
        let all = registry.declare(Wire::Anthropic, &WhichTools::All, &Scene::default()).unwrap();
        all.to_string().contains("\"foreign\"")
    };
    registry.register(foreign()).unwrap();
    assert!(!shown() && !declared());
    // With fewer there is no reason to hide it.
    let one = registry.remove("own-00").unwrap();
    assert!(shown() && declared());
    registry.add(tool(one.name())).unwrap();
    assert!(!shown());
    let mut changes = registry.changes();
    changes.borrow_and_update();
    registry.mark_found(&registry.get("foreign").unwrap());
    assert!(shown() && declared() && changes.has_changed().unwrap());
    // It stays found when its server tells it again, and nobody is told twice.
    registry.register(foreign()).unwrap();
    assert!(shown());
    changes.borrow_and_update();
    registry.mark_found(&registry.get("foreign").unwrap());
    assert!(!changes.has_changed().unwrap());
    // The same holds of one that waits for a search wherever it is.
    registry.register(Registration::new(tool("late")).deferred()).unwrap();
    assert!(!names(&registry.visible()).contains(&"late"));
    registry.mark_found(&registry.get("late").unwrap());
    assert!(names(&registry.visible()).contains(&"late"));
}

#[test]
fn tools_are_declared_in_every_shape() {
    // S4.3, S4.21, S4.25, S3.2
    let registry = Registry::new();
    registry.add(tool("a")).unwrap();
    let scene = Scene { workspace: "Lisbon".into(), ..Scene::default() };
    let declared = |shape| registry.declare(shape, &WhichTools::All, &scene).unwrap();
    let schema = registry.get("a").unwrap().schema().clone();
    let text = "works in Lisbon";
    let function = json!({"name": "a", "description": text, "parameters": schema});
    assert_eq!(*declared(Wire::OpenaiChat), json!([{"type": "function", "function": function}]));
    let flat = json!([{"type": "function", "name": "a", "description": text, "parameters": schema, "strict": false}]);
    assert_eq!(*declared(Wire::Openai), flat);
    assert_eq!(
        *declared(Wire::Anthropic),
        json!([{"name": "a", "description": text, "input_schema": schema}])
    );
    let gemini = json!([{"functionDeclarations": [{"name": "a", "description": text, "parametersJsonSchema": schema}]}]);
    assert_eq!(*declared(Wire::Gemini), gemini);
}

#[test]
fn declarations_are_rendered_once_and_follow_every_change() {
    // S4.25
    let registry = Registry::new();
    registry.add(tool("a")).unwrap();
    let scene = Scene::default();
    let declared = || registry.declare(Wire::Anthropic, &WhichTools::All, &scene).unwrap();
    assert!(Arc::ptr_eq(&declared(), &declared()));
    let before = declared();
    registry.add(tool("b")).unwrap();
    assert_eq!((before.as_array().unwrap().len(), declared().as_array().unwrap().len()), (1, 2));
    let elsewhere = Scene { workspace: "Porto".into(), ..Scene::default() };
    let there = registry.declare(Wire::Anthropic, &WhichTools::All, &elsewhere).unwrap();
    assert_eq!(there[0]["description"], "works in Porto");
    let unknown = WhichTools::Only(vec!["z".into()]);
    assert_eq!(
        registry.declare(Wire::Anthropic, &unknown, &scene),
        Err(RegistryError::NotFound("z".into()))
    );
}
