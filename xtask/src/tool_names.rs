//! The tools of all crates, by their names in the code: what docs/tools.md has a section for.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Expr, ExprLit, ImplItem, Item, Lit, Stmt};

use crate::source::Source;

/// How the comment of a constant begins that is the name of a tool which the gate does not know.
const DOOR: &str = "The tool that";

/// Names of the types that implement `TypedTool` or `Tool`, where the code says them, and of the tools of one door.
pub fn all(sources: &[Source]) -> BTreeSet<String> {
    let ours = sources.iter().filter(|it| {
        let examples = it.path.split('/').any(|part| part == "examples");
        it.path.starts_with("crates/") && it.is_rust() && !it.is_test() && !examples
    });
    ours.flat_map(of_file).collect()
}

fn of_file(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let mut constants = BTreeMap::new();
    let mut found = Vec::new();
    for item in &file.items {
        let Item::Const(it) = item else { continue };
        let Some(text) = literal(&it.expr) else { continue };
        if it.attrs.iter().any(is_tool) {
            found.push(text.clone());
        }
        constants.insert(it.ident.to_string(), text);
    }
    for item in &file.items {
        let Item::Impl(it) = item else { continue };
        let Some((_, path, _)) = &it.trait_ else { continue };
        let name = path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        if matches!(name.as_str(), "Tool" | "TypedTool") {
            found.extend(it.items.iter().filter_map(|it| named(it, &constants)));
        }
    }
    found
}

/// The name that an implementation gives its tool. One that is only known when it runs is none of ours.
fn named(item: &ImplItem, constants: &BTreeMap<String, String>) -> Option<String> {
    match item {
        ImplItem::Const(it) if it.ident == "NAME" => literal(&it.expr),
        ImplItem::Fn(it) if it.sig.ident == "name" => match it.block.stmts.as_slice() {
            [Stmt::Expr(Expr::Path(it), None)] => {
                constants.get(&it.path.get_ident()?.to_string()).cloned()
            }
            [Stmt::Expr(it, None)] => literal(it),
            _ => None,
        },
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(it), .. }) => Some(it.value()),
        _ => None,
    }
}

fn is_tool(attribute: &syn::Attribute) -> bool {
    let syn::Meta::NameValue(it) = &attribute.meta else { return false };
    it.path.is_ident("doc")
        && literal(&it.value).is_some_and(|said| said.trim_start().starts_with(DOOR))
}

/// The sections of the page of tools.
pub fn sections(page: &str) -> BTreeSet<String> {
    page.lines().filter_map(|it| it.strip_prefix("## ")).map(str::to_owned).collect()
}
