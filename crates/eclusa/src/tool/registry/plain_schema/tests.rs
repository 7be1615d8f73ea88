//! What fits here fits for the validator too.

use jsonschema::Draft;
use proptest::prelude::*;
use serde_json::json;

use super::{super::arguments::compiled, *};

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string", "minLength": 1, "maxLength": 2})),
        Just(json!({"type": ["integer", "null"], "minimum": 0, "maximum": 2, "format": "uint32"})),
        Just(json!({"type": "boolean", "default": false})),
        Just(json!({"enum": ["a", 1], "title": "one of two"})),
        Just(json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        Just(json!({"allOf": [{"minimum": 1}], "const": 1})),
        Just(json!({"type": "string", "pattern": "^a"})),
        Just(json!({"oneOf": [{"type": "string"}, {"type": "number"}]})),
        Just(json!({"not": {"type": "string"}})),
        Just(json!(true)),
        Just(json!(false)),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), 0..2u64, 1..3u64).prop_map(|(items, least, most)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": most})
            }),
            (inner.clone(), inner, prop::bool::ANY, prop::bool::ANY).prop_map(
                |(a, b, more, needed)| {
                    let required = if needed { json!(["a"]) } else { json!([]) };
                    json!({
                        "type": "object", "properties": {"a": a, "b": b},
                        "required": required, "additionalProperties": more,
                    })
                }
            ),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!("")),
        Just(json!("a")),
        Just(json!("éé")),
        Just(json!("abc")),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!(3)),
        Just(json!(-1)),
        Just(json!(u64::MAX)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_certainly_fits_is_valid(schema in schema(), values in prop::collection::vec(value(), 12)) {
        let drafts = [Draft::Draft7, Draft::Draft202012].map(|it| compiled(&schema, it).unwrap());
        for value in values.iter().filter(|it| certainly_fits(&schema, it)) {
            for validator in &drafts {
                prop_assert!(validator.is_valid(value), "{schema} {value}");
            }
        }
    }
}

#[test]
fn ordinary_arguments_certainly_fit() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Bash",
        "type": "object", "required": ["command"], "additionalProperties": false,
        "properties": {
            "command": {"type": "string", "description": "what to run"},
            "timeout": {"type": ["integer", "null"], "minimum": 1, "format": "uint64"},
        },
    });
    assert!(certainly_fits(&schema, &json!({"command": "ls", "timeout": 3})));
    for wrong in [json!({}), json!({"command": 1}), json!({"command": "ls", "more": 1}), json!(1)] {
        assert!(!certainly_fits(&schema, &wrong), "{wrong}");
    }
}
