//! A Jupyter notebook as text: its cells, what they say and what they printed.

use std::fmt::Write as _;

use serde_json::Value;

/// How much of one output is shown.
const OUTPUT: usize = 4000;

/// The notebook as text, or why it is none.
pub fn notebook(json: &str) -> Result<String, String> {
    let read: Value = serde_json::from_str(json)
        .map_err(|err| format!("the notebook is not valid JSON: {err}"))?;
    let cells = read.get("cells").and_then(Value::as_array);
    // Notebooks of version 3 have their cells on sheets.
    let sheets = read.get("worksheets").and_then(Value::as_array).into_iter().flatten();
    let sheets = sheets.filter_map(|it| it.get("cells").and_then(Value::as_array)).flatten();
    if cells.is_none() && read.get("worksheets").is_none() {
        return Err("the notebook has no `cells`".to_owned());
    }
    let language = read.pointer("/metadata/kernelspec/language");
    let language =
        language.or(read.pointer("/metadata/language_info/name")).and_then(Value::as_str);
    let mut out = String::new();
    for (number, cell) in (1..).zip(cells.into_iter().flatten().chain(sheets)) {
        show(&mut out, number, cell, language.unwrap_or("code"));
    }
    Ok(out)
}

fn show(out: &mut String, number: usize, cell: &Value, language: &str) {
    let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("unknown");
    let kind = if kind == "code" { language } else { kind };
    let source = lines(cell.get("source").or(cell.get("input")));
    let _ = write!(out, "[cell {number}: {kind}]\n{}\n", source.trim_end_matches('\n'));
    for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        let text = printed(output);
        let _ = write!(out, "[output of cell {number}]\n{}\n", short(text.trim_end_matches('\n')));
    }
    out.push('\n');
}

/// What an output says, with pictures only named.
fn printed(output: &Value) -> String {
    let kind = output.get("output_type").and_then(Value::as_str).unwrap_or_default();
    if matches!(kind, "error" | "pyerr") {
        let word =
            |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        return format!("{}: {}", word("ename"), word("evalue"));
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return lines(output.get("text"));
    };
    let mut said = lines(data.get("text/plain"));
    for (media, content) in data.iter().filter(|(it, _)| it.as_str() != "text/plain") {
        let size = lines(Some(content)).len();
        let gap = if said.is_empty() || said.ends_with('\n') { "" } else { "\n" };
        let _ = write!(said, "{gap}({media}, {size} bytes)");
    }
    said
}

/// A text, or a list of its lines.
fn lines(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn short(text: &str) -> String {
    let end = text.floor_char_boundary(OUTPUT);
    match text.get(..end) {
        Some(start) if end < text.len() => format!("{start}… ({} more bytes)", text.len() - end),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
