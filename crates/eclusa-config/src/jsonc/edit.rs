//! Changes JSON with comments at one place: the rest stays byte for byte.

use std::{borrow::Cow, ops::Range};

use serde_json::{Value, json};

use super::{
    JsoncError, find, member,
    parse::{JsonNode, Kind, parse},
    value,
};

/// The text with this value at a path of keys; what is missing on the way is made.
pub fn set(text: &str, path: &[&str], new: &Value) -> Result<String, JsoncError> {
    let Some(root) = parse(text)? else { return Ok(started(text, path, new)) };
    let (deepest, missing) = reached(&root, path);
    match (missing.split_first(), &deepest.kind) {
        (None, _) if value(deepest) == *new => Ok(text.to_owned()),
        (None, _) => {
            let indent = line_indent(text, deepest.span.start);
            Ok(replaced(text, deepest.span.clone(), &pretty(new, indent, &unit(text))))
        }
        (Some((key, rest)), Kind::Object(_)) => {
            let inner = nested(rest, new.clone());
            Ok(with_child(text, deepest, Some(key), &inner))
        }
        (Some((key, _)), Kind::Array(_) | Kind::Scalar(_)) => {
            Err(misplaced(text, deepest, &format!("`{key}` has no place: an object is needed")))
        }
    }
}

/// The text with this, byte for byte, in the place of the value at a path of keys.
pub fn set_source(text: &str, path: &[&str], new: &str) -> Result<String, JsoncError> {
    let root = parse(text)?;
    let node = root.as_ref().and_then(|it| find(it, path));
    Ok(node.map_or_else(|| text.to_owned(), |it| spliced(text, it.span.clone(), new)))
}

/// The text with this value at the end of the list at a path of keys.
pub fn push(text: &str, path: &[&str], new: &Value) -> Result<String, JsoncError> {
    let Some(root) = parse(text)? else { return Ok(started(text, path, &json!([new]))) };
    match find(&root, path) {
        Some(node) if matches!(node.kind, Kind::Array(_)) => Ok(with_child(text, node, None, new)),
        Some(node) => Err(misplaced(text, node, "a list is needed here")),
        None => set(text, path, &json!([new])),
    }
}

/// The text without the member at a path of keys. Objects that only held it go with it.
pub fn remove(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(parent) = find(&root, above) else { return Ok(text.to_owned()) };
    let (Some(found), Kind::Object(members)) = (member(parent, last), &parent.kind) else {
        return Ok(text.to_owned());
    };
    if members.len() == 1 && !above.is_empty() {
        return remove(text, above);
    }
    let spans: Vec<Range<usize>> = members.iter().map(|it| it.start..it.value.span.end).collect();
    Ok(without(text, parent, &spans, found.start))
}

/// The text without the items of the list at a path that `ours` knows. A list that held nothing
/// else goes with them.
pub fn remove_items(
    text: &str,
    path: &[&str],
    ours: impl Fn(&Value) -> bool,
) -> Result<String, JsoncError> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = parse(&text)? else { return Ok(text) };
        let Some(list) = find(&root, path) else { return Ok(text) };
        let Kind::Array(items) = &list.kind else { return Ok(text) };
        let Some(found) = items.iter().find(|it| ours(&value(it))) else { return Ok(text) };
        if items.len() == 1 {
            return remove(&text, path);
        }
        let spans: Vec<Range<usize>> = items.iter().map(|it| it.span.clone()).collect();
        let start = found.span.start;
        text = without(&text, list, &spans, start);
    }
}

/// How far a path leads, and what of it is missing.
fn reached<'a, 'b>(root: &'a JsonNode, path: &'b [&'b str]) -> (&'a JsonNode, &'b [&'b str]) {
    let (mut node, mut rest) = (root, path);
    while let Some((first, others)) = rest.split_first() {
        let Some(found) = member(node, first) else { break };
        (node, rest) = (&found.value, others);
    }
    (node, rest)
}

/// A value inside objects of these keys.
fn nested(path: &[&str], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, key| json!({ *key: inner }))
}

/// A text that had nothing but blanks and comments.
fn started(text: &str, path: &[&str], new: &Value) -> String {
    let object = pretty(&nested(path, new.clone()), "", "  ");
    match text.trim().is_empty() {
        true => format!("{object}\n"),
        false => {
            let new = format!("\n{object}\n");
            format!("{}{}", text.trim_end(), like_lines_of(text, &new))
        }
    }
}

/// The container with one more member or item, at its end.
fn with_child(text: &str, container: &JsonNode, key: Option<&str>, new: &Value) -> String {
    let unit = unit(text);
    let outer = line_indent(text, container.span.start);
    let children: Vec<Range<usize>> = match &container.kind {
        Kind::Object(members) => members.iter().map(|it| it.start..it.value.span.end).collect(),
        Kind::Array(items) => items.iter().map(|it| it.span.clone()).collect(),
        Kind::Scalar(_) => Vec::new(),
    };
    let child = |indent: &str| {
        let shown = pretty(new, indent, &unit);
        key.map_or_else(|| shown.clone(), |key| format!("{}: {shown}", Value::from(key)))
    };
    let close = container.span.end - 1;
    let Some(last) = children.last() else {
        // Comments in it stay before what is new.
        let inner = text.get(container.span.start + 1..close).unwrap_or_default();
        let kept = inner.trim_end();
        let indent = format!("{outer}{unit}");
        let body = format!("{kept}\n{indent}{}\n{outer}", child(&indent));
        return replaced(text, container.span.start + 1..close, &body);
    };
    let tail = text.get(last.end..close).unwrap_or_default();
    let comma = comma_at(tail);
    let (lead, trail) = if comma.is_some() { ("", ",") } else { (",", "") };
    let (middle, rest) = tail.split_at(comment_end(tail, comma.map_or(0, |it| it + 1)));
    let one_line = !text.get(container.span.clone()).unwrap_or_default().contains('\n');
    let body = match one_line {
        true => format!("{lead}{middle} {}{trail}{rest}", child(outer)),
        false => {
            let indent = line_indent(text, last.start);
            format!("{lead}{middle}\n{indent}{}{trail}{rest}", child(indent))
        }
    };
    replaced(text, last.end..close, &body)
}

/// Where the comma is in what stands between two children, or after the last.
fn comma_at(gap: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = gap.get(at..)?;
        at += match rest.chars().next()? {
            ',' => return Some(at),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' => rest.find("*/").map_or(rest.len(), |it| it + 2),
            it => it.len_utf8(),
        };
    }
}

/// The end of a comment that follows on the same line, or where it would begin.
fn comment_end(gap: &str, from: usize) -> usize {
    let rest = gap.get(from..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let comment = rest.get(blank..).unwrap_or_default();
    let line = comment.find('\n').unwrap_or(comment.len());
    match (comment.starts_with("//"), comment.find("*/")) {
        (true, _) => from + blank + comment.get(..line).map_or(0, |it| it.trim_end().len()),
        (false, Some(end)) if comment.starts_with("/*") && end < line => from + blank + end + 2,
        _ => from,
    }
}

/// The text without one child of a container.
fn without(text: &str, container: &JsonNode, children: &[Range<usize>], start: usize) -> String {
    let index = children.iter().position(|it| it.start == start).unwrap_or_default();
    let Some(child) = children.get(index) else { return text.to_owned() };
    let close = container.span.end - 1;
    let gap = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let no_comma = |gap: &str| match comma_at(gap) {
        Some(at) => format!(
            "{}{}",
            gap.get(..at).unwrap_or_default(),
            gap.get(at + 1..).unwrap_or_default()
        ),
        None => gap.to_owned(),
    };
    match (index.checked_sub(1).and_then(|it| children.get(it)), children.get(index + 1)) {
        // Another follows: everything up to it goes.
        (_, Some(next)) => replaced(text, child.start..next.start, ""),
        // The last: of two commas one goes, and comments stay.
        (Some(before), None) => {
            let (lead, tail) = (gap(before.end, child.start), gap(child.end, close));
            let lead = match comma_at(tail) {
                Some(_) => lead.to_owned(),
                None => no_comma(lead),
            };
            let body = format!("{}{}", lead.trim_end(), no_comma(tail));
            replaced(text, before.end..close, &body)
        }
        (None, None) => {
            let inside = container.span.start + 1;
            let body = format!("{}{}", gap(inside, child.start), no_comma(gap(child.end, close)));
            let body = if body.trim().is_empty() { "" } else { &body };
            replaced(text, inside..close, body)
        }
    }
}

/// The text with something else in this place, in the line ends that the text has.
fn replaced(text: &str, span: Range<usize>, new: &str) -> String {
    spliced(text, span, &like_lines_of(text, new))
}

/// A text with its lines ended like those of another.
pub fn like_lines_of<'a>(other: &str, text: &'a str) -> Cow<'a, str> {
    let ends = other.find('\n').and_then(|at| other.get(..at)).is_some_and(|it| it.ends_with('\r'));
    match ends {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
        false => text.into(),
    }
}

fn spliced(text: &str, span: Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..span.start), text.get(span.end..));
    format!("{}{new}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// The blanks at the beginning of the line that holds this place.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
    let line = text.get(start..).unwrap_or_default();
    let end = line.find(|it| it != ' ' && it != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// By how much the text indents.
fn unit(text: &str) -> String {
    let indented = text.lines().map(|it| line_indent(it, 0)).find(|it| !it.is_empty());
    match indented {
        Some(it) if it.starts_with('\t') => "\t".to_owned(),
        Some(it) => " ".repeat(it.len().min(8)),
        None => "  ".to_owned(),
    }
}

/// A value over several lines, the first without indentation.
fn pretty(value: &Value, indent: &str, unit: &str) -> String {
    let inner = format!("{indent}{unit}");
    match value {
        Value::Array(items)
            if !items.is_empty() && items.iter().any(|it| it.is_object() || it.is_array()) =>
        {
            let items: Vec<String> =
                items.iter().map(|it| format!("{inner}{}", pretty(it, &inner, unit))).collect();
            format!("[\n{}\n{indent}]", items.join(",\n"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if !members.is_empty() => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, it)| {
                    format!("{inner}{}: {}", Value::from(key.as_str()), pretty(it, &inner, unit))
                })
                .collect();
            format!("{{\n{}\n{indent}}}", members.join(",\n"))
        }
        scalar => scalar.to_string(),
    }
}

fn misplaced(text: &str, node: &JsonNode, what: &str) -> JsoncError {
    let before = text.get(..node.span.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let column = before.get(start..).unwrap_or_default().chars().count() + 1;
    JsoncError { line, column, what: what.to_owned() }
}
