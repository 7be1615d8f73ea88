//! Rules that are code: a policy of one's own, exchanged while the gate is open.

use eclusa::prelude::*;
use serde_json::json;

/// So much may be spent by one call without a question, and never more than ten times as much.
struct Limit(u64);

impl Policy for Limit {
    // Pure: no clock, disk or network; the same call, the same verdict.
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        let (decision, text) = match call.args()["euros"].as_u64() {
            Some(euros) if euros <= self.0 => (Decision::Allow, "it is little"),
            Some(euros) if euros <= 10 * self.0 => (Decision::Ask, "it is a lot"),
            _ => (Decision::Deny, "it is too much"),
        };
        let (origin, source) = ("limit".into(), Source::Rule);
        Verdict::from_reasons(vec![Reason { decision, source, origin, text: text.into() }])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = json!({"properties": {"euros": {"type": "integer"}}, "required": ["euros"]});
    let spend = FnTool::with_schema("spend", "Spends money.", schema, |args| {
        let said = format!("spent {}", args["euros"]);
        async move { Ok(said.into()) }
    });
    let gate = Gate::builder().tool(spend).policy(Limit(10)).build()?;
    let spend =
        |euros: u64| gate.pass_blocking(ToolCall::new("1", "spend", json!({"euros": euros})));
    let mut codes = Vec::new();
    for euros in [10, 100, 1_000] {
        codes.push(spend(euros)?.code());
    }
    gate.set_policy(Limit(1_000));
    codes.push(spend(1_000)?.code());
    println!("{codes:?}");
    assert_eq!(codes, ["ok", "no_approver", "denied_by_policy", "ok"]);
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
