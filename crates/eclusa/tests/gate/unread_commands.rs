//! Built without the feature `shell`: shell text is not judged but asked about.

use std::{path::Path, sync::Arc};

use eclusa::*;
use serde_json::json;

use crate::world::{Counters, TestTool};

#[test]
fn shell_text_that_nobody_reads_is_asked_about() {
    let registry = Registry::new();
    registry.add(TestTool { name: "bash", counters: Arc::new(Counters::default()) }).unwrap();
    let allow = Rule::new(Decision::Allow).commands(["ls"]).unwrap();
    let all = Rule::new(Decision::Allow).tool(["bash"]).unwrap();
    let deny = Rule::new(Decision::Deny).commands(["rm"]).unwrap().because("it deletes");
    let rules = Rules::new(vec![allow, all, deny], Path::new("/workspace"));
    let log = Arc::new(MemoryLog::default());
    let gate = Gate::builder().registry(registry).policy(rules).log(log).build().unwrap();
    let (_, verdict) = gate.check(ToolCall::new("1", "bash", json!({"text": "ls"}))).unwrap();
    assert_eq!(verdict.decision, Decision::Ask);
    assert!(verdict.why().contains("not read") && verdict.why().contains("perhaps it deletes"));
}
