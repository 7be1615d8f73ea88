//! Paths that a person types below the root of the workspace: they mean what they mean in a shell there.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// Arguments of our own tools that are paths.
const PATHS: [&str; 3] = ["path", "from", "to"];

/// The same call of one of our own tools, seen from the root: `below` is where in the workspace the person stands.
/// Tools of servers have their own idea of a path.
pub(in crate::commands) fn seen_from_root(args: &mut Value, schema: &Value, below: &str) {
    let Some(fields) = args.as_object_mut() else { return };
    let takes = |name: &str| schema.pointer(&format!("/properties/{name}")).is_some();
    for name in PATHS.into_iter().chain(["cwd"]).filter(|it| takes(it)) {
        match fields.get_mut(name) {
            Some(Value::String(path)) => *path = joined(below, path),
            // Where it looks or runs, unless it is said.
            None if matches!(name, "path" | "cwd") => {
                fields.insert(name.to_owned(), below.into());
            }
            _ => {}
        }
    }
}

/// A path that begins at the root, where this one begins below it. One that climbs out of the workspace stays as it
/// was typed: the tool says what is wrong with it.
fn joined(below: &str, typed: &str) -> String {
    if typed.starts_with(['/', '~']) {
        return typed.to_owned();
    }
    let mut whole = PathBuf::new();
    for part in Path::new(below).join(typed).components() {
        match part {
            Component::ParentDir if !whole.pop() => return typed.to_owned(),
            Component::ParentDir | Component::CurDir => {}
            part => whole.push(part),
        }
    }
    match whole.to_str() {
        Some("") => ".".to_owned(),
        Some(whole) => whole.to_owned(),
        None => typed.to_owned(),
    }
}

#[cfg(test)]
mod tests;
