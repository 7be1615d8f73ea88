//! The text that teaches a model without native calls to write `tool` blocks.

use std::{fmt::Write as _, sync::Arc};

use crate::{PermissionClass, Registered, Scene};

/// How to call tools, which ones there are, and which may have to wait for a person. Put it into
/// the system prompt of a model that has no native calls; reading its answers does not depend on
/// it, so it may as well live with the provider (S1.65).
pub fn instruction(tools: &[Arc<Registered>], scene: &Scene) -> String {
    let mut text = String::from(HOW);
    if tools.is_empty() {
        text.push_str("No tools are available.\n");
    }
    for tool in tools {
        let waits =
            if may_be_asked_about(tool) { "may require confirmation" } else { "runs at once" };
        // One line for each, so that a description cannot pass for another part of this text.
        let words = tool.description(scene);
        let words: Vec<&str> = words.split_whitespace().collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- `{}` ({waits}): {}", tool.name(), words.join(" "));
        let _ = writeln!(text, "  args, as JSON Schema: {}", tool.schema());
    }
    text
}

/// True when a person may have to agree to a call of this tool. What rules say about a call is
/// not known before it is made, so this errs on the side of yes.
fn may_be_asked_about(tool: &Registered) -> bool {
    let facts = tool.facts();
    tool.class() != PermissionClass::ReadOnly
        || facts.sensitive
        || facts.needs_checkpoint
        || facts.needs_reverse_thinking
}

const HOW: &str = r#"When you need a tool, answer EXACTLY with one JSON block of this form:

```tool
{"name": "tool_name", "args": {"argument": "value"}, "reason": "why, in a few words"}
```

End your answer there and wait for the result before you continue. If you need several tools, call them one after the other, each in an answer of its own. A call that may require confirmation is shown to a person first, who can refuse it. To show a block without calling anything, put it between fences of four backticks.

Available tools:
"#;
