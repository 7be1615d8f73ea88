//! All built-in tools together: what is registered is what the page describes.

use std::{sync::Arc, time::Duration};

use eclusa::{Blocked, Files, Job, Registry, Scene, settings::CheckSettings, spool::MemorySpool};
use eclusa_tools::{
    BuiltInTools, FileToolContext, SandboxSettings, Sandboxes,
    diagnostics::{CheckRun, Diagnostics, Runner},
    register_all, web,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::world::World;

struct Nobody;

impl Runner for Nobody {
    fn run<'a>(
        &'a self,
        _: &'a CheckSettings,
        _: &'a Job,
    ) -> BoxFuture<'a, Result<CheckRun, String>> {
        Box::pin(std::future::ready(Ok(CheckRun::default())))
    }
}

fn registered() -> Arc<Registry> {
    let world = World::new();
    let files = Files::open(&world.root(), Blocked::default()).unwrap();
    let settings = SandboxSettings::new(world.root(), world.state());
    let registry = Arc::new(Registry::new());
    let tools = BuiltInTools {
        files: files.clone(),
        max_file_size: FileToolContext::MAX_SIZE,
        web: web::Limits::default(),
        spool: Arc::new(MemorySpool::default()),
        scene: Scene::default(),
        sandboxes: Some(Sandboxes::new(settings).unwrap()),
        command_time: Duration::from_secs(30),
        diagnostics: Some(Diagnostics::new(Vec::new(), files, Nobody)),
    };
    register_all(&registry, tools).unwrap();
    registry
}

#[test]
fn the_schema_of_every_tool_can_be_used_when_its_first_call_comes() {
    for tool in registered().list() {
        let usable = eclusa::registry::check_lazy_schema(tool.schema());
        assert_eq!(usable, Ok(()), "{}: {}", tool.name(), tool.schema());
    }
    for newer in [
        json!({"properties": {"a": {"prefixItems": [{"type": "string"}]}}}),
        json!({"unevaluatedProperties": false}),
        json!({"properties": {"a": {"$ref": "#/$defs/a", "minLength": 2}}, "$defs": {"a": {}}}),
    ] {
        assert!(eclusa::registry::check_lazy_schema(&newer).is_err(), "{newer}");
    }
    let named = json!({"properties": {"prefixItems": {"type": "string"}}});
    assert_eq!(eclusa::registry::check_lazy_schema(&named), Ok(()));
}

/// `scripts/pages` writes the lists anew, and a section for a tool that has none. That the page has a section for every tool of every crate, the
/// house rules see to.
#[test]
fn the_page_of_tools_says_what_the_registry_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
    let is = std::fs::read_to_string(path).unwrap();
    let mut should = is.clone();
    for tool in registered().list() {
        let head = format!("\n## {}\n\n", tool.name());
        if !should.contains(&head) {
            should = should.replacen(DOORS, &format!("{head}{DOORS}"), 1);
        }
        let (before, section) = should.split_once(&head).unwrap();
        let rest = match section.strip_prefix(BEGIN) {
            Some(rest) => rest.split_once(END).unwrap().1.trim_start(),
            None => section.trim_start(),
        };
        let said = described(tool.schema(), &tool.facts().aliases, tool.class().as_str());
        should = format!("{before}{head}{BEGIN}\n\n{said}\n{END}\n\n{rest}");
    }
    if std::env::var_os("ECLUSA_WRITE_PAGES").is_some() {
        std::fs::write(path, should).unwrap();
    } else {
        assert!(is == should, "docs/tools.md is not what the registry says: run scripts/pages");
    }
}

/// Where the tools begin that belong to doors of the program: new ones come before them.
const DOORS: &str = "\n## approve\n";
const BEGIN: &str = "<!-- made by scripts/pages -->";
const END: &str = "<!-- until here -->";

/// A tool's other names, its class and its arguments, as the page has them.
fn described(schema: &Value, aliases: &[String], class: &str) -> String {
    let aliases: Vec<String> = aliases.iter().map(|it| format!("`{it}`")).collect();
    let names = match aliases.is_empty() {
        true => String::new(),
        false => format!("Other names: {}. ", aliases.join(", ")),
    };
    let mut text = format!("{names}Class: `{class}`.\n\n");
    let properties = schema["properties"].as_object().unwrap();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut others: Vec<&str> = properties.keys().map(String::as_str).collect();
    others.retain(|it| !required.contains(it));
    others.sort_unstable();
    for name in required.iter().chain(&others) {
        let said = properties[*name]["description"].as_str().unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let needed = if required.contains(name) { ", required" } else { "" };
        text += &format!("- `{name}`{needed}: {said}\n");
    }
    text
}

/// S2.10, C18: the names that agents know lead to these tools.
/// Shows C18.
#[test]
fn names_of_other_programs_lead_to_the_tools() {
    let registry = registered();
    for (name, tool) in [
        ("TodoWrite", "todo"),
        ("TodoRead", "todo"),
        ("FileRead", "read"),
        ("FileEdit", "edit"),
        ("FileWrite", "write"),
        ("Read", "read"),
        ("Bash", "bash"),
        ("WebFetch", "web_fetch"),
    ] {
        assert_eq!(registry.get(name).unwrap().name(), tool, "{name}");
    }
}

/// C18: so do their names of arguments, and what is judged and recorded is the one name.
/// Shows C18.
#[test]
fn names_of_arguments_are_rewritten_before_anybody_judges() {
    let world = World::new();
    let work = world.work("[[rules]]\ndecision = 'deny'\narg = { '/path' = 'b.txt' }\n");
    work.done("Write", json!({"file_path": "a.txt", "file_text": "one\n"}));
    work.done("Edit", json!({"filePath": "a.txt", "old_str": "one", "newString": "two"}));
    assert!(work.done("Read", json!({"file_path": "a.txt"})).contains("two"));
    let refused = work.call("Write", json!({"file_path": "b.txt", "content": "x"}));
    assert_eq!(refused.code(), "denied_by_policy");
    let records = work.log.records();
    let bodies = records.iter().map(|it| serde_json::from_str::<Value>(&it.body).unwrap());
    assert!(bodies.filter_map(|it| it.get("args").cloned()).all(|it| it.get("path").is_some()));
    // Both names at once say two things, so neither is taken for the other.
    let both = work.fails("read", json!({"path": "a.txt", "file_path": "b.txt"}));
    assert!(both.contains("file_path"), "{both}");
}
