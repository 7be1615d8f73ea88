//! Configuration through its front door: layers in, meaning or mistakes out.

use eclusa::{Limits, Mode};
use serde_json::{Value, json};

use crate::{Config, ConfigErrors, Layer};

mod fake;
mod layers;
mod looking;
mod mistakes;
mod pages;
mod redact;
mod sections;
mod trust;

/// The configuration of one file that the person vouches for.
fn load(text: &str) -> Config {
    Config::load(&[Layer::of_person("eclusa.toml", text)]).unwrap_or_else(|err| panic!("{err}"))
}

/// What is wrong with one file that the person vouches for.
fn wrong(text: &str) -> String {
    Config::load(&[Layer::of_person("eclusa.toml", text)]).unwrap_err().to_string()
}

/// What of these files is left out because nobody vouches for it.
fn left_out(layers: &[Layer]) -> String {
    let config = Config::load(layers).unwrap_or_else(|err| panic!("{err}"));
    ConfigErrors(config.left_out).to_string()
}

/// S1.24, S1.59, C2, C14, C15, C16: the shipped file says what the program holds for right.
/// Shows S1.24.
#[test]
fn the_shipped_defaults_are_the_built_in_ones() {
    let (shipped, built_in) = (load(""), Config::built_in());
    let plain = |it: &Config| {
        format!(
            "{:?}",
            (
                (it.mode, it.on_no_approver, &it.order, &it.limits, it.args_in_log),
                (
                    it.durability,
                    it.keep,
                    it.commit_durability,
                    &it.redact,
                    it.review_cache,
                    it.cache
                ),
                (it.tools.len(), it.reviewers.len()),
            )
        )
    };
    assert_eq!(plain(&shipped), plain(&built_in));
    assert_eq!(format!("{:?}", shipped.limits), format!("{:?}", Limits::default()));
    assert_eq!(shipped.mode, Mode::ConfirmSensitive);
}

/// What a file has any number of, and the shipped one none.
const NAMED_TABLES: [&str; 9] = [
    "rules",
    "tools",
    "servers",
    "reviewers",
    "redact.rules",
    "models",
    "personas",
    "modes",
    "notifications",
];

/// Tables that a file may have, and that the shipped one has not.
const OPTIONAL_TABLES: [&str; 5] =
    ["approvals.", "diagnostics.", "checkpoint.", "fleet.", "reverse_thinker."];

/// Every key of the schema that is a plain value is in the shipped file, so that there is
/// one place to read what there is.
#[test]
fn the_shipped_defaults_have_every_plain_key() {
    fn keys(schema: &Value, path: &str, into: &mut Vec<String>) {
        for (key, schema) in schema["properties"].as_object().unwrap() {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match schema.get("properties") {
                Some(_) => keys(schema, &path, into),
                // The older way to write `effects.delete`.
                None if path == "effects.allow_delete" => {}
                None if OPTIONAL_TABLES.iter().any(|it| path.starts_with(it)) => {}
                // Without it the environment decides, which no value says.
                None if path == "language" => {}
                // It speaks of the file that it stands in.
                None if path == "needs" => {}
                None if NAMED_TABLES.contains(&&*path) => {}
                None => into.push(path),
            }
        }
    }
    let mut wanted = Vec::new();
    keys(&Config::schema(), "", &mut wanted);
    let settings = load("").settings();
    let mut got: Vec<String> =
        settings.iter().map(|it| it.key.clone()).filter(|it| it != "rules").collect();
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
    assert!(settings.iter().filter(|it| it.key != "rules").all(|it| it.origin == "defaults"));
}

/// Each of them has a comment above it.
#[test]
fn every_shipped_key_is_explained() {
    let mut above = "";
    for line in Config::DEFAULTS.lines().take_while(|it| *it != "[[rules]]") {
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(above.starts_with('#'), "no comment above `{line}`");
        }
        above = line;
    }
}

/// They are not tried when the program starts, so they are tried here.
#[test]
fn the_examples_of_the_shipped_rules_hold() {
    let layer = Layer::of_person("defaults", Config::DEFAULTS);
    let tried = |text: &str| {
        let layer = Layer { text: text.to_owned(), ..layer.clone() };
        let (mut source, mut config) =
            (super::source::LayerReader::new(&layer), Config::built_in());
        let (written, _) = source.read::<super::schema::ConfigFile>(super::schema::shared).unwrap();
        super::merge::merge_layer(&mut source, &mut config, &written);
        source.into_errors()
    };
    assert!(tried(Config::DEFAULTS).is_empty(), "{:?}", tried(Config::DEFAULTS));
    let turned =
        Config::DEFAULTS.replace("\nnot_match", "\nmoved").replace("\nmatch", "\nnot_match");
    assert!(!tried(&turned.replace("\nmoved", "\nmatch")).is_empty(), "none was tried");
}

/// The schema is a valid one, and takes what the loader takes.
#[test]
fn the_schema_takes_the_shipped_defaults() {
    let schema = Config::schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let defaults: Value = toml::from_str(Config::DEFAULTS).unwrap();
    let errors: Vec<String> = validator.iter_errors(&defaults).map(|it| it.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert!(!validator.is_valid(&json!({"mdoe": "yolo"})));
    assert!(!validator.is_valid(&json!({"mode": null})));
}

/// S1.58: policies come from a file; every value knows where it was written.
/// Shows S1.58.
#[test]
fn every_value_knows_its_origin() {
    let config = load("mode = \"yolo\"\n\n[limits]\noutput = 0\n\n[[rules]]\ndecision = \"ask\"\n");
    let settings = config.settings();
    let of = |key: &str| settings.iter().rfind(|it| it.key == key).unwrap().clone();
    assert_eq!((of("mode").value, of("mode").origin), ("\"yolo\"".into(), "eclusa.toml:1".into()));
    assert_eq!(of("limits.output").origin, "eclusa.toml:4");
    assert_eq!(of("limits.time").origin, "defaults");
    assert_eq!(of("rules").value, "{ decision = \"ask\" }");
    assert_eq!(of("rules").origin, "eclusa.toml:6");
    for setting in settings {
        let text = format!("it = {}", setting.value);
        assert!(toml::from_str::<toml::Table>(&text).is_ok(), "{text}");
    }
}

/// Every example in the documents is a file that loads, its own examples included.
#[test]
fn the_examples_in_the_documents_load() {
    let documents = [
        ("rules.md", include_str!("../../../docs/rules.md")),
        ("configuration.md", include_str!("../../../docs/configuration.md")),
        ("models.md", include_str!("../../../docs/models.md")),
    ];
    for (name, text) in documents {
        let examples: Vec<&str> =
            text.split("```toml\n").skip(1).filter_map(|it| it.split("```").next()).collect();
        assert!(examples.len() > 1, "{name}");
        for example in examples {
            if let Err(err) = Config::load(&[Layer::of_person(name, example)]) {
                panic!("{err}\n{example}");
            }
        }
    }
}

/// Keys that the documents explain, so that none is forgotten.
#[test]
fn every_key_is_in_the_documents() {
    let documents =
        [include_str!("../../../docs/rules.md"), include_str!("../../../docs/configuration.md")]
            .concat();
    let schema = Config::schema();
    let properties = &schema["properties"];
    let sections = [
        properties,
        &properties["limits"]["properties"],
        &properties["files"]["properties"],
        &properties["web"]["properties"],
        &properties["diagnostics"]["properties"],
        &properties["rules"]["items"]["properties"],
        &properties["tools"]["additionalProperties"]["properties"],
        &properties["reviewers"]["items"]["properties"],
        &properties["redact"]["properties"]["rules"]["items"]["properties"],
    ];
    for section in sections {
        for key in section.as_object().unwrap().keys() {
            assert!(documents.contains(key.as_str()), "`{key}` is not explained");
        }
    }
}

/// Without the feature `shell` too: examples of shell text are not tried there.
#[test]
fn the_shipped_rules_can_be_read() {
    assert!(!load("").rules.is_empty());
}
