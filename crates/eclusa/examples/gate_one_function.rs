//! One Rust function behind the gate: a tool, a rule and somebody who is asked.

use eclusa::prelude::*;
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pay {
    to: String,
    euros: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = Gate::builder()
        .tool(FnTool::new("pay", "Pays somebody.", |it: Pay| async move {
            Ok::<_, ToolError>(format!("paid {} euros to {}", it.euros, it.to))
        }))
        .rule(Rule::new(Decision::Ask).tool(["pay"])?)
        .approver(FnApprover::new("me", |question| {
            match question.args.get("euros").and_then(|it| it.as_u64()) {
                Some(0..=100) => Answer::Once,
                _ => Answer::No("too much".to_owned()),
            }
        }))
        .build()?;
    for euros in [20, 2_000] {
        let call = ToolCall::new("1", "pay", json!({"to": "Ada", "euros": euros}));
        println!("{}", gate.pass_blocking(call)?.content());
    }
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
