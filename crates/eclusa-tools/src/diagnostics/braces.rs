//! Diagnostics in JSON: cargo and rustc one to a line, eslint and ruff in a list.

use serde_json::Value;

use super::{Diagnostic, Parsed, Severity};

/// Reads a list of values at the start of a text, as far as they can be read: the end of a long
/// one may be missing. Gives how many bytes that were.
pub(super) fn list(text: &str, into: &mut Parsed) -> usize {
    let Some(open) = text.find('[') else { return 0 };
    let mut at = open + 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let gap = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(']') {
            return text.len() - after.len();
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            // Nothing of it could be read: it is no list. Otherwise the rest is missing.
            return if at == open + 1 { 0 } else { at };
        };
        at += gap + values.byte_offset();
        item(&value, into);
        let rest = text.get(at..).unwrap_or_default();
        let comma = rest.trim_start();
        if let Some(after) = comma.strip_prefix(',') {
            at = text.len() - after.len();
        } else if !comma.starts_with(']') {
            return at;
        }
    }
}

/// Reads one line of JSON; false if it is none.
pub(super) fn object(line: &str, into: &mut Parsed) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return false };
    match value.get("reason").and_then(Value::as_str) {
        Some("compiler-message") => {
            if let Some(message) = value.get("message") {
                rustc(message, into);
            }
        }
        // Cargo tells of artifacts and of its end too.
        Some(_) => {}
        None if value.get("spans").is_some() => rustc(&value, into),
        None => item(&value, into),
    }
    true
}

/// One of a list: a file of eslint's, or a diagnostic of ruff's.
fn item(value: &Value, into: &mut Parsed) {
    if let (Some(path), Some(messages)) =
        (text(value, "filePath"), value.get("messages").and_then(Value::as_array))
    {
        messages.iter().for_each(|it| eslint(path, it, into));
    } else if value.get("spans").is_some() {
        rustc(value, into);
    } else if let (Some(path), Some(message)) = (text(value, "filename"), text(value, "message")) {
        let location = value.get("location");
        let code = text(value, "code").map(str::to_owned);
        let severity = ruff_severity(code.as_deref());
        into.add(Diagnostic {
            path: Some(path.to_owned()),
            line: location.and_then(|it| it.get("row")?.as_u64()),
            column: location.and_then(|it| it.get("column")?.as_u64()),
            severity,
            code,
            message: message.to_owned(),
            source: "ruff",
        });
    }
}

/// Ruff does not say how bad it is; what has no code, or is of the kind E9, does not even parse.
pub(super) fn ruff_severity(code: Option<&str>) -> Severity {
    match code {
        Some(code) if !code.starts_with("E9") && code != "invalid-syntax" => Severity::Warning,
        _ => Severity::Error,
    }
}

fn eslint(path: &str, it: &Value, into: &mut Parsed) {
    let severity = match it.get("severity").and_then(Value::as_u64) {
        Some(2) => Severity::Error,
        Some(1) => Severity::Warning,
        _ => Severity::Note,
    };
    let severity = match it.get("fatal").and_then(Value::as_bool) {
        Some(true) => Severity::Error,
        _ => severity,
    };
    let Some(message) = text(it, "message") else { return };
    into.add(Diagnostic {
        path: Some(path.to_owned()),
        line: it.get("line").and_then(Value::as_u64),
        column: it.get("column").and_then(Value::as_u64),
        severity,
        code: text(it, "ruleId").map(str::to_owned),
        message: message.to_owned(),
        source: "eslint",
    });
}

fn rustc(it: &Value, into: &mut Parsed) {
    let (Some(message), Some(level)) = (text(it, "message"), text(it, "level")) else { return };
    let spans = it.get("spans").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let primary = |it: &&Value| it.get("is_primary").and_then(Value::as_bool) == Some(true);
    let span = spans.iter().find(primary).or(spans.first());
    let code = it.get("code").and_then(|it| text(it, "code")).map(str::to_owned);
    // The sums at the end say nothing new.
    let sum = message.starts_with("aborting due to") || message.ends_with("emitted");
    if span.is_none() && (level == "failure-note" || sum) {
        return;
    }
    let clippy = code.as_deref().is_some_and(|it| it.starts_with("clippy::"));
    into.add(Diagnostic {
        path: span.and_then(|it| text(it, "file_name")).map(str::to_owned),
        line: span.and_then(|it| it.get("line_start")?.as_u64()),
        column: span.and_then(|it| it.get("column_start")?.as_u64()),
        severity: Severity::parse(level).unwrap_or(Severity::Note),
        code,
        message: message.to_owned(),
        source: if clippy { "clippy" } else { "rustc" },
    });
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}
