//! A whole agent loop over the Anthropic wire: declare the tools, pass the calls of each turn, send
//! the results back. The model is a script here, so that it runs offline; a program sends `request`
//! to the API instead.

use eclusa::{Wire, parse::anthropic, prelude::*, registry::WhichTools};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Weather {
    /// The town.
    town: String,
}

/// Where a program would post `request` to the API and read its answer.
fn model(request: &Value) -> Value {
    let turn = request["messages"].as_array().map_or(0, Vec::len);
    match turn {
        1 => json!({"role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"town": "Lisboa"}},
            {"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Porto"}},
        ]}),
        _ => json!({"role": "assistant", "stop_reason": "end_turn", "content": [
            {"type": "text", "text": "Take an umbrella."},
        ]}),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let weather = FnTool::new("weather", "Says how the weather is.", |it: Weather| async move {
        Ok::<_, ToolError>(format!("rain in {}", it.town))
    });
    let gate = Gate::builder()
        .tool(weather)
        .rule(Rule::new(Decision::Allow).tool(["weather"])?)
        .approver(FnApprover::new("me", |_| Answer::Once))
        .build()?;
    let registry = gate.registry();
    let tools = registry.declare(Wire::Anthropic, &WhichTools::All, &Default::default())?;
    let mut messages = vec![json!({"role": "user", "content": "Do I need an umbrella?"})];
    loop {
        let request = json!({"model": "any", "tools": *tools, "messages": messages});
        let answer = model(&request);
        let calls = anthropic::calls(&answer);
        messages.push(json!({"role": "assistant", "content": answer.get("content")}));
        if calls.is_empty() {
            println!("{}", answer.pointer("/content/0/text").unwrap_or(&Value::Null));
            return Ok(());
        }
        // One reply for each call, in their order, whatever happens.
        let replies = gate.pass_all(calls).await;
        replies.iter().for_each(|it| println!("{}: {}", it.code(), it.content()));
        messages.push(json!({"role": "user", "content": anthropic::results(&replies)}));
    }
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
