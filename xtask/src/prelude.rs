//! What the library offers in one line: every name of its prelude shows how it is used.

use syn::{Attribute, Item, UseTree, Visibility};

use crate::source::Source;

/// The file that lists the names.
const PRELUDE: &str = "crates/eclusa/src/prelude.rs";

/// Names of the prelude without an example in the comment of their type.
pub fn without_example(sources: &[Source]) -> Vec<String> {
    let Some(prelude) = sources.iter().find(|it| it.path == PRELUDE) else {
        return vec![format!("{PRELUDE} is not there")];
    };
    let mut names = Vec::new();
    for item in items(prelude) {
        if let Item::Use(it) = item {
            collect(&it.tree, &mut names);
        }
    }
    let library = sources
        .iter()
        .filter(|it| it.path.starts_with("crates/eclusa/src/") && it.is_rust() && !it.is_test());
    let shown: Vec<String> = library.flat_map(items).filter_map(shown).collect();
    names.retain(|it| !shown.contains(it));
    names.into_iter().map(|it| format!("`{it}` of the prelude has no example")).collect()
}

fn items(source: &Source) -> Vec<Item> {
    syn::parse_file(&source.text).map(|it| it.items).unwrap_or_default()
}

fn collect(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(it) => collect(&it.tree, names),
        UseTree::Name(it) => names.push(it.ident.to_string()),
        UseTree::Rename(it) => names.push(it.rename.to_string()),
        UseTree::Group(it) => it.items.iter().for_each(|it| collect(it, names)),
        UseTree::Glob(_) => names.push("*".to_owned()),
    }
}

/// The name of a public type whose comment has an example.
fn shown(item: Item) -> Option<String> {
    let (attrs, visibility, name) = match item {
        Item::Struct(it) => (it.attrs, it.vis, it.ident),
        Item::Enum(it) => (it.attrs, it.vis, it.ident),
        Item::Trait(it) => (it.attrs, it.vis, it.ident),
        _ => return None,
    };
    let public = matches!(visibility, Visibility::Public(_));
    (public && has_example(&attrs)).then(|| name.to_string())
}

/// Whether a comment has a block of Rust that is run: one that is not marked as anything else.
fn has_example(attrs: &[Attribute]) -> bool {
    let lines = attrs.iter().filter_map(comment);
    let mut fences = lines.filter(|it| it.trim_start().starts_with("```")).step_by(2);
    fences.any(|it| it.trim() == "```")
}

fn comment(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(it) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &it.value else {
        return None;
    };
    it.path.is_ident("doc").then(|| text.value())
}
