//! A tool that would touch what it is told, and the gate's verdict on a call of it.

use std::sync::Arc;

use eclusa::{
    Facts, Gate, Job, Mode, Output,
    PermissionClass::{self, *},
    Registration, Registry, Rule, Rules, Run, Scene, Tool, ToolCall, ToolError, Touch, Verdict,
};
use futures::future::BoxFuture;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

/// A tool that would touch what it is told.
#[derive(Debug, Clone, Default)]
pub(super) struct Fake {
    pub(super) name: &'static str,
    pub(super) facts: Facts,
    pub(super) touches: Vec<Touch>,
    pub(super) server: Option<&'static str>,
}

impl Fake {
    pub(super) fn new(class: impl Into<Option<PermissionClass>>) -> Fake {
        let facts = Facts { class: class.into(), ..Facts::default() };
        Fake { name: "tool", facts, ..Fake::default() }
    }

    pub(super) fn named(name: &'static str) -> Fake {
        Fake { name, ..Fake::new(PermissionClass::Generic) }
    }

    pub(super) fn touching(self, touches: impl IntoIterator<Item = Touch>) -> Fake {
        Fake { touches: touches.into_iter().collect(), ..self }
    }
}

impl Tool for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self, _: &Scene) -> String {
        String::new()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": true})
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn touches(&self, _: &Value) -> Vec<Touch> {
        self.touches.clone()
    }

    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(std::future::ready(Ok(Output::default())))
    }
}

pub(super) fn read(path: &str) -> Touch {
    Touch::Read(path.to_owned())
}

pub(super) fn write(path: &str) -> Touch {
    Touch::Write(path.to_owned())
}

pub(super) fn runs(text: &str) -> Touch {
    Touch::Run(text.to_owned())
}

/// What the gate says of a call of this tool, under these rules, in this mode.
pub(super) fn verdict(rules: &[Rule], tool: &Fake, args: Value, mode: Mode) -> Verdict {
    let registry = Arc::new(Registry::new());
    let registration = Registration::new(tool.clone());
    let registration = match tool.server {
        Some(server) => registration.foreign(server),
        None => registration,
    };
    registry.register(registration).unwrap();
    let rules = Rules::new(rules.to_vec(), "/home/me/ws".as_ref());
    let gate = Gate::builder().registry(registry).policy(rules).build().unwrap();
    let gate = gate.for_run(Run { mode, ..Run::default() });
    gate.check(ToolCall::new("1", tool.name, args)).unwrap().1
}

pub(super) fn calls() -> impl Strategy<Value = (Fake, Value)> {
    let touches = prop_oneof![
        select(vec!["a", "src/a", "src/x.pem", "docs/b", "../x", "."]).prop_map(read),
        select(vec!["a", "src/a", "src/x.pem", "docs/b", "~/x"]).prop_map(write),
        select(vec!["ls", "rm a"]).prop_map(runs),
        Just(Touch::Fetch("x.example".to_owned())),
        Just(Touch::Unknown),
    ];
    let args = select(vec![
        json!({}),
        json!({"a": "rm a"}),
        json!({"a": "src/b"}),
        json!({"a": 1}),
        json!({"a": ["b"]}),
    ]);
    (
        option::of(select(vec![Shell, File, Web, ReadOnly, Generic])),
        vec(touches, 0..3),
        any::<(bool, bool, bool)>(),
        args,
    )
        .prop_map(|(class, touches, (sensitive, alias, foreign), args)| {
            let mut tool = Fake::new(class).touching(touches);
            tool.facts.sensitive = sensitive;
            tool.facts.aliases.extend(alias.then(|| "old".to_owned()));
            tool.server = foreign.then_some("srv");
            (tool, args)
        })
}
