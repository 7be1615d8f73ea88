//! Rules through the front door: a call in, the gate's verdict out.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    Decision::{self, Allow, Ask, Deny, Stage},
    Facts, Gate, Job, Mode, Output, PermissionClass, Registration, Registry, Rule, Rules, Run,
    Scene, Tool, ToolCall, ToolError, Touch, Verdict,
};

mod classes;
mod conditions;
mod domains;
mod explain;
mod labels;
mod paths;
pub(crate) mod properties;

/// A tool that would touch what it is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fake {
    pub(crate) name: &'static str,
    pub(crate) facts: Facts,
    pub(crate) touches: Vec<Touch>,
    pub(crate) server: Option<&'static str>,
}

impl Fake {
    pub(crate) fn new(class: impl Into<Option<PermissionClass>>) -> Fake {
        let facts = Facts { class: class.into(), ..Facts::default() };
        Fake { name: "tool", facts, ..Fake::default() }
    }

    pub(crate) fn named(name: &'static str) -> Fake {
        Fake { name, ..Fake::new(PermissionClass::Generic) }
    }

    pub(crate) fn touching(self, touches: impl IntoIterator<Item = Touch>) -> Fake {
        Fake { touches: touches.into_iter().collect(), ..self }
    }

    fn sensitive(mut self) -> Fake {
        self.facts.sensitive = true;
        self
    }

    fn alias(mut self, alias: &str) -> Fake {
        self.facts.aliases.push(alias.to_owned());
        self
    }

    fn from(self, server: &'static str) -> Fake {
        Fake { server: Some(server), ..self }
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

pub(crate) fn read(path: &str) -> Touch {
    Touch::Read(path.to_owned())
}

pub(crate) fn write(path: &str) -> Touch {
    Touch::Write(path.to_owned())
}

pub(crate) fn runs(text: &str) -> Touch {
    Touch::Run(text.to_owned())
}

/// What the gate says of a call of this tool, under these rules, in this mode.
pub(crate) fn verdict(rules: &[Rule], tool: &Fake, args: Value, mode: Mode) -> Verdict {
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

/// The same in the mode that nobody chose.
fn judged(rules: &[Rule], tool: &Fake, args: Value) -> Verdict {
    verdict(rules, tool, args, Mode::default())
}

fn decided(rules: &[Rule], tool: &Fake, args: Value) -> Decision {
    judged(rules, tool, args).decision
}

fn rule(decision: Decision) -> Rule {
    Rule::new(decision)
}

/// Invariant 3: no reason at all would be a refusal, and there is always a reason.
#[test]
fn every_verdict_says_why() {
    let told = judged(&[], &Fake::new(None), json!({}));
    assert_eq!(told.because.len(), 1);
    assert_eq!(told.why(), "no rule allows it (defaults)");
    let rules = [
        rule(Allow).tool(["*"]).unwrap().origin("mine.toml:1"),
        rule(Deny)
            .class([PermissionClass::File])
            .unwrap()
            .because("not here")
            .origin("mine.toml:7"),
        rule(Ask).origin("mine.toml:3"),
        rule(Stage).tool(["other"]).unwrap().origin("mine.toml:9"),
    ];
    let told = judged(&rules, &Fake::new(PermissionClass::File), json!({}));
    let because: Vec<String> = told.because.iter().map(ToString::to_string).collect();
    assert_eq!(
        because,
        [
            "not here (mine.toml:7)",
            "a rule asks about it (mine.toml:3)",
            "a rule allows it (mine.toml:1)"
        ]
    );
    assert_eq!(told.decision, Deny);
}
