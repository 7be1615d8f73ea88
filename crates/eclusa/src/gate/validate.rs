//! First gate: the arguments fit the schema, and the trail says which.

use std::sync::Arc;

use serde_json::Value;

use crate::{Stop, Validated, audit::trail::Trail, registry::Registered};

/// Checks the call of this entry against its tool.
pub(crate) fn validate(tool: Arc<Registered>, trail: &mut Trail) -> Result<Validated, Stop> {
    trail.tool = Some(tool.clone());
    let call = Validated::check(tool, trail.call.clone(), &trail.session)?;
    note(&call, trail);
    Ok(call)
}

/// The same call with other arguments, checked again.
pub(crate) fn with_args(
    call: Validated,
    args: Value,
    trail: &mut Trail,
) -> Result<Validated, Stop> {
    let call = call.with_args(args, &trail.session)?;
    note(&call, trail);
    Ok(call)
}

fn note(call: &Validated, trail: &mut Trail) {
    trail.args = call.new_args().cloned();
    trail.digest = Some(call.digest());
}
