//! Arguments: every violation in words, defaults, text that is JSON, and what is not the model's.

use eclusa::{
    registry::{ExtraArgs, RegistryError},
    *,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::world::*;

struct Schema(Value);

impl Tool for Schema {
    fn name(&self) -> &str {
        "schema"
    }
    fn description(&self, _: &Scene) -> String {
        String::new()
    }
    fn input_schema(&self) -> Value {
        self.0.clone()
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::text(job.args().to_string())) })
    }
}

fn wide() -> World {
    let mut world = world();
    world.limits.output = 10_000;
    world
}

/// Passes these arguments to a tool that prints what it got; gives the text the model reads.
async fn passed(
    register: impl FnOnce(Registration) -> Registration,
    schema: Value,
    args: Value,
) -> String {
    let world = wide();
    world.registry.register(register(Registration::new(Schema(schema)))).unwrap();
    let world = world.close();
    let reply = world.gate.pass(ToolCall::new("c", "schema", args)).await;
    let text = reply.content().into_owned();
    assert_eq!(world.ran(), 0);
    text.replace("the arguments do not fit the tool's schema, so nothing was run: ", "! ")
}

async fn got(schema: Value, args: Value) -> String {
    passed(|it| it, schema, args).await
}

fn file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "lines": {"type": "integer", "minimum": 1, "default": 100},
            "how": {"enum": ["text", "hex"], "default": "text"},
            "where": {
                "type": "object",
                "properties": {"from": {"type": "integer", "default": 0}, "to": {"type": ["integer", "null"]}},
                "required": ["to"],
            },
        },
        "required": ["path"],
    })
}

#[tokio::test]
async fn every_violation_is_named_with_its_place() {
    // S1.26, S4.5, S4.28, S4.53, V1, V2, V3
    assert_eq!(got(file(), json!({})).await, "! the arguments must have `path`");
    let all = json!({"path": 7, "lines": 0, "how": "loud", "where": {}, "extra": 1, "more": 2});
    let said = got(file(), all).await;
    for part in [
        "`/path`: expected type \"string\" (it is a number)",
        "`/lines`: 0 is less than the minimum of 1",
        "`/how`: \"loud\" is not one of",
        "`/where` must have `to`",
        "the arguments must not have `extra`, `more`",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let many: Value =
        (0..50).map(|n| (format!("x{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into();
    let strings = json!({"type": "object", "additionalProperties": {"type": "string"}});
    assert!(got(strings, many).await.ends_with("and 30 more"));
}

#[tokio::test]
async fn defaults_are_filled_in_at_every_depth() {
    // S4.33, S4.50, V6
    let full = json!({"path": "a", "lines": 100, "how": "text"});
    assert_eq!(got(file(), json!({"path": "a"})).await, full.to_string());
    assert_eq!(
        got(file(), json!({"path": "a", "lines": null, "how": null})).await,
        full.to_string()
    );
    let inner = got(file(), json!({"path": "a", "where": {"to": null}})).await;
    assert_eq!(
        serde_json::from_str::<Value>(&inner).unwrap()["where"],
        json!({"from": 0, "to": null})
    );
    // A schema that refers to itself ends.
    let tree = json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "value": {"type": "integer", "default": 1}},
    });
    let grown = got(tree, json!({"left": {"left": {}}})).await;
    assert_eq!(grown, r#"{"left":{"left":{"value":1},"value":1},"value":1}"#);
}

#[tokio::test]
async fn arguments_as_text_are_parsed() {
    // V4, V5
    let any = || json!({"type": "object", "additionalProperties": true});
    assert_eq!(got(any(), json!("{\"a\": 1}")).await, r#"{"a":1}"#);
    for empty in [json!(""), json!("  "), Value::Null] {
        assert_eq!(got(any(), empty).await, "{}");
    }
    let broken = got(any(), json!("{broken")).await;
    assert!(
        broken.starts_with("! the arguments came as text, and at line 1, column 2"),
        "{broken}"
    );
    // A key that is there twice: nobody can say which of the two was approved.
    let twice = got(any(), json!(r#"{"a": 1, "a": 2}"#)).await;
    assert!(twice.starts_with("! the arguments came as text"), "{twice}");
    assert_eq!(
        got(any(), json!([1])).await,
        "! the arguments must be an object of named values, not an array"
    );
    assert_eq!(
        got(any(), json!("[1]")).await,
        "! the arguments must be an object of named values, not an array"
    );
}

#[tokio::test]
async fn what_the_schema_does_not_name_is_refused_stripped_or_kept() {
    // V3, fact M
    let schema = || json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let args = || json!({"a": 1, "b": 2});
    assert_eq!(got(schema(), args()).await, "! the arguments must not have `b`");
    assert_eq!(passed(|it| it.extra(ExtraArgs::Strip), schema(), args()).await, r#"{"a":1}"#);
    assert_eq!(passed(|it| it.extra(ExtraArgs::Keep), schema(), args()).await, r#"{"a":1,"b":2}"#);
    let nothing = got(json!({}), json!({"b": 1})).await;
    assert_eq!(nothing, "! the arguments must not have anything that the schema does not name");
    assert_eq!(got(json!({}), json!({})).await, "{}");
}

#[tokio::test]
async fn hidden_arguments_are_neither_shown_nor_taken_from_a_model() {
    // V7
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "key": {"type": "string"}},
        "required": ["a"],
    });
    let world = wide();
    let registration = Registration::new(Schema(schema)).hidden(["key"]);
    world.registry.register(registration).unwrap();
    let shown = world.registry.get("schema").unwrap().schema().clone();
    assert!(shown["properties"].get("key").is_none());
    let fills = FnReviewer::input("fills", |_| Ok(Review::Merge(json!({"key": "host's"}))));
    let world = world.reviewer(fills).close();
    let args = json!({"a": 1, "key": "model's"});
    let reply = world.gate.pass(ToolCall::new("c", "schema", args)).await;
    assert_eq!(reply.text(), r#"{"a":1,"key":"host's"}"#);
}

#[tokio::test]
async fn the_whole_of_json_schema_counts() {
    // S4.49, S4.53: enums, patterns, nested required, anyOf, $ref, formats of 2020-12
    let schema = json!({
        "type": "object",
        "$defs": {"id": {"type": "string", "pattern": "^[a-z]+$"}},
        "properties": {
            "id": {"$ref": "#/$defs/id"},
            "size": {"anyOf": [{"type": "integer"}, {"const": "auto"}]},
            "tags": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
        },
        "dependentRequired": {"size": ["id"]},
    });
    let ok = json!({"id": "abc", "size": "auto", "tags": ["x"]});
    assert_eq!(serde_json::from_str::<Value>(&got(schema.clone(), ok.clone()).await).unwrap(), ok);
    for bad in [
        json!({"id": "ABC"}),
        json!({"id": "abc", "size": "big"}),
        json!({"tags": ["x", "y"]}),
        json!({"size": 1}),
    ] {
        assert!(got(schema.clone(), bad.clone()).await.starts_with("! "), "{bad}");
    }
}

#[test]
fn a_tool_with_a_broken_schema_cannot_be_registered() {
    for bad in [
        json!({"type": "strange"}),
        json!([]),
        json!({"type": "array"}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema"}}}),
    ] {
        let registered = Registry::new().add(Schema(bad.clone()));
        assert!(matches!(registered, Err(RegistryError::BadSchema { .. })), "{bad}");
    }
}

/// Shows S4.50.
#[tokio::test]
async fn a_null_for_what_is_optional_means_that_it_is_not_given() {
    let schema = json!({
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "boolean"},
            "usually": {"type": "integer", "default": 7},
            "nullable": {"type": ["string", "null"]},
            "any": {},
        },
        "required": ["must"],
    });
    let given = json!({"must": "x", "may": null, "usually": null, "nullable": null, "any": null});
    let got = passed(|it| it, schema.clone(), given).await;
    let got: Value = serde_json::from_str(&got).unwrap();
    assert_eq!(got, json!({"must": "x", "usually": 7, "nullable": null, "any": null}));
    let refused = passed(|it| it, schema, json!({"must": null})).await;
    assert!(refused.contains("`/must`"), "{refused}");
}

#[tokio::test]
async fn typed_tools_have_the_schema_of_their_arguments() {
    // S4.4, S3.1, S3.3, S1.9
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        word: String,
        #[serde(default = "three")]
        times: usize,
    }
    fn three() -> usize {
        3
    }
    struct Repeat;
    impl TypedTool for Repeat {
        type Args = Args;
        const NAME: &'static str = "repeat";
        fn description(&self, _: &Scene) -> String {
            "Repeats a word.".to_owned()
        }
        fn touches(&self, _: &Args) -> Vec<Touch> {
            Vec::new()
        }
        async fn run(&self, args: Args, _: &Job) -> Result<Output, ToolError> {
            Ok(Output::text(args.word.repeat(args.times)))
        }
    }
    let world = world();
    world.registry.add(Repeat).unwrap();
    let world = world.close();
    let reply = world.gate.pass(ToolCall::new("c", "repeat", json!({"word": "ab"}))).await;
    assert_eq!(reply.text(), "ababab");
    let reply =
        world.gate.pass(ToolCall::new("c", "repeat", json!({"word": "ab", "times": -1}))).await;
    assert_eq!(reply.code(), "invalid_args");
}
