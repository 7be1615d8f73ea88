//! `output`: pages through an output that was too long and is kept in the spool.

use std::{fmt, sync::Arc};

use eclusa::{
    Facts, Job, Output, PermissionClass, Scene, Spool, ToolError, Touch, TypedTool, one_line,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[cfg(test)]
mod tests;

/// A character of UTF-8 has up to this many bytes, and every page shows at least one.
const CHARACTER: usize = 4;

/// Reads outputs that were cut, by their reference.
pub struct PagedOutput {
    spool: Arc<dyn Spool>,
}

/// Which output, and which part of it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OutputArgs {
    /// The reference that the cut answer names.
    reference: String,
    /// The first byte to show; 0 is the first there is.
    #[serde(default)]
    offset: usize,
    /// How many bytes to show at most.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 100_000))]
    limit: usize,
}

fn page() -> usize {
    50_000
}

impl PagedOutput {
    /// Reads what this spool keeps.
    pub fn new(spool: Arc<dyn Spool>) -> PagedOutput {
        PagedOutput { spool }
    }
}

impl fmt::Debug for PagedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagedOutput").finish_non_exhaustive()
    }
}

impl TypedTool for PagedOutput {
    type Args = OutputArgs;
    const NAME: &'static str = "output";

    fn description(&self, _: &Scene) -> String {
        "Shows more of an output that was cut, by the reference that the cut names.\n\
         Example: {\"reference\": \"out-0123456789abcdef01234567\", \"offset\": 80000}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            read_only: true,
            search_hint: "rest of long cut truncated result page".to_owned(),
            class: Some(PermissionClass::ReadOnly),
            audit_operation: "read".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, _: &OutputArgs) -> Vec<Touch> {
        Vec::new()
    }

    async fn run(&self, args: OutputArgs, _: &Job) -> Result<Output, ToolError> {
        let OutputArgs { reference, offset, limit } = args;
        let limit = limit.max(CHARACTER);
        // One character more than is shown tells whether there is more.
        let end = offset.saturating_add(limit + CHARACTER);
        let read = self.spool.read(&reference, offset..end).await;
        let mut text = read.map_err(|err| ToolError::new(err.to_string()))?;
        let shown = one_line(&reference);
        if text.is_empty() {
            return Err(ToolError::new(format!(
                "nothing of `{shown}` is at byte {offset} or after it; use a smaller `offset`"
            )));
        }
        let length = text.floor_char_boundary(limit);
        let next = (length < text.len()).then_some(offset.saturating_add(length));
        text.truncate(length);
        let more = match next {
            Some(next) => format!("more follows, go on with offset {next}"),
            None => "this is its end".to_owned(),
        };
        Ok(Output {
            text: format!("({length} bytes of {shown} from {offset} on; {more})\n{text}"),
            data: Some(json!({
                "reference": reference,
                "offset": offset,
                "bytes": length,
                "next": next,
            })),
            ..Output::default()
        })
    }
}
