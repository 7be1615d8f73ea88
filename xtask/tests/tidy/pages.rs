//! What `crates/eclusa/audit-format.md` says, tried out: the example is what the gate writes, the hashes
//! are right, and no field or code is missing.

use std::{fs, sync::Arc};

use eclusa::catalogue::{Language, sentence};
use eclusa::{
    CallView, Decision, Facts, Gate, Hash, Job, MemoryLog, Output, PermissionClass, Policy, Reason,
    Record, Registry, Run, Scene, Source, ToolCall, ToolError, Touch, TypedTool, Verdict,
    audit::{Clock, Head},
    workspace::digest,
};
use serde_json::{Value, json};
use syn::{Item, visit::Visit};
use xtask::source::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The bodies in the page's example, and the hash that stands below each.
fn example(page: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = page.lines().collect();
    let commands = lines.windows(2).filter_map(|it| {
        let (_, rest) = it[0].split_once("$ printf '%s\\n' ")?;
        let body = rest.split('\'').nth(1)?;
        Some((body.to_owned(), it[1].trim_end_matches(" -").trim().to_owned()))
    });
    commands.collect()
}

#[test]
fn the_hashes_of_the_example_are_right() {
    let page = read("crates/eclusa/audit-format.md");
    let example = example(&page);
    assert_eq!(example.len(), 2);
    let mut head = Head::default();
    for (body, hash) in example {
        let previous = head.hash;
        let record = Record::chain(body.clone(), &mut head);
        assert_eq!(record.hash.to_string(), hash, "{body}");
        let command = format!("printf '%s\\n' {previous} {} '{body}' | sha256sum", record.seq);
        assert!(page.contains(&command), "the page should have:\n{command}");
    }
    let digested = r#"{"count":2,"text":"hello"}"#;
    assert!(page.contains(&format!("printf '%s' '{digested}' | sha256sum")));
    let value: Value = serde_json::from_str(digested).unwrap();
    assert_eq!(digest(&value), Hash::sha256(digested.as_bytes()));
    assert!(page.contains(&digest(&value).to_string()));
}

/// The tool of the example.
struct Echo;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    text: String,
    #[serde(default)]
    count: usize,
}

impl TypedTool for Echo {
    type Args = Args;
    const NAME: &'static str = "echo";

    fn description(&self, _: &Scene) -> String {
        "Says it again.".to_owned()
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::ReadOnly), ..Facts::default() }
    }
    fn touches(&self, _: &Args) -> Vec<Touch> {
        Vec::new()
    }
    async fn run(&self, args: Args, _: &Job) -> Result<Output, ToolError> {
        Ok(Output::text(args.text.repeat(args.count)))
    }
}

struct Fine;

impl Policy for Fine {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        let text = "only looks".into();
        let (decision, source) = (Decision::Allow, Source::Default);
        Verdict::from_reasons(vec![Reason { decision, source, origin: "class".into(), text }])
    }
}

struct Noon;

impl Clock for Noon {
    fn unix_ms(&self) -> u64 {
        1_767_268_800_000
    }
}

#[tokio::test]
async fn the_example_is_what_the_gate_writes() {
    let registry = Arc::new(Registry::new());
    registry.add(Echo).unwrap();
    let log = Arc::new(MemoryLog::default());
    let setup =
        Gate::builder().registry(registry).policy(Fine).log(log.clone()).clock(Arc::new(Noon));
    let run = Run { session: "talk".into(), principal: "ana".into(), ..Run::default() };
    let call = ToolCall::new("call_1", "echo", json!({"text": "hello", "count": 2}));
    setup.build().unwrap().for_run(run).pass(call.because("to hear it")).await;

    let written: Vec<String> = log.records().into_iter().map(|it| it.body).collect();
    let page = read("crates/eclusa/audit-format.md");
    let shown: Vec<String> = example(&page).into_iter().map(|it| it.0).collect();
    // How long it took is not the same twice.
    let timeless = |body: &String| {
        let mut body: Value = serde_json::from_str(body).unwrap();
        body.as_object_mut().unwrap().remove("ms");
        body
    };
    let same = written.iter().map(timeless).eq(shown.iter().map(timeless));
    assert!(
        same,
        "the gate writes\n{}\n\nthe page shows\n{}",
        written.join("\n"),
        shown.join("\n")
    );
}

#[test]
fn every_field_of_a_record_is_described() {
    let page = read("crates/eclusa/audit-format.md");
    let file = syn::parse_file(&read("crates/eclusa/src/audit/body.rs")).unwrap();
    let mut fields = Vec::new();
    for item in file.items {
        if let Item::Struct(it) = item {
            // What is not written needs no description.
            let unwritten = |it: &syn::Attribute| {
                it.path().is_ident("serde")
                    && it.parse_args::<syn::Path>().is_ok_and(|it| it.is_ident("skip"))
            };
            let written = it.fields.into_iter().filter(|it| !it.attrs.iter().any(unwritten));
            fields.extend(written.filter_map(|it| it.ident));
        }
    }
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        assert!(page.contains(&format!("| `{field}` |")), "`{field}` is not described");
    }
}

/// C30: codes are stable and described, and each has a sentence in the languages of the seeds.
#[test]
fn every_outcome_is_described() {
    struct Codes(Vec<String>);
    impl Visit<'_> for Codes {
        fn visit_lit_str(&mut self, it: &syn::LitStr) {
            self.0.push(it.value());
        }
    }
    let page = read("crates/eclusa/audit-format.md");
    let file = syn::parse_file(&read("crates/eclusa/src/stop.rs")).unwrap();
    let mut codes = Codes(vec!["ok".to_owned(), "tool_failed".to_owned()]);
    // Only what `Stop::code` itself says: its doc comment is not an outcome.
    for item in &file.items {
        if let Item::Impl(it) = item {
            for inner in &it.items {
                if let syn::ImplItem::Fn(it) = inner
                    && it.sig.ident == "code"
                {
                    codes.visit_block(&it.block);
                }
            }
        }
    }
    assert!(codes.0.len() > 20, "{:?}", codes.0);
    for code in codes.0 {
        assert!(page.contains(&format!("| `{code}` |")), "`{code}` is not described");
        for language in [Language::Portuguese, Language::Spanish] {
            let there = code == "ok" || sentence(&code, language).is_some();
            assert!(there, "`{code}` has no sentence in {language:?}");
        }
    }
    // What the seeds quote is there word for word.
    assert_eq!(sentence("unknown_tool", Language::Spanish), Some("Tool no encontrada"));
    assert_eq!(sentence("unknown_tool", Language::Portuguese), Some("ferramenta desconhecida"));
    assert_eq!(Language::from_locale("pt_BR.UTF-8"), Some(Language::Portuguese));
    assert_eq!(Language::from_locale("en_US"), None);
}
