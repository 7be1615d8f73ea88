//! Names: one word for one thing over all crates, and none from the lists of unclear ones.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use crate::source::Source;

/// Types that every crate may have, because in each they mean the same to the reader: `Kind` and
/// `State` are of what their module is about, `Inner` is what a handle shares with its clones.
const EVERYWHERE: [&str; 9] =
    ["Args", "Config", "Error", "Inner", "Kind", "Limits", "Options", "Output", "State"];

/// A type name may be in so many crates.
const CRATES: usize = 2;

/// Names that still stand in more crates, all of them private where they mean something else. The
/// list only becomes shorter: a name that no longer needs to be here is an error.
const STILL: [&str; 0] = [];

/// File stems that say nothing of what the file is about.
const STEMS: [&str; 24] = [
    "around", "asked", "asks", "door", "filled", "hall", "hands", "heard", "held", "hindered",
    "kept", "loose", "meant", "moment", "own", "parked", "passing", "seen", "shelf", "sight",
    "told", "wish", "words_of", "written",
];

/// Constants that do not say what they bound.
const CONSTANTS: [&str; 5] = ["MOST", "LONGEST", "KEPT", "NAMED", "USUAL"];

/// Type names that are defined in more crates than a word may mean something in.
pub fn repeated_types(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|it| it.is_rust() && !it.is_test()) {
        let Some(name) = source.path.strip_prefix("crates/").and_then(|it| it.split('/').next())
        else {
            continue;
        };
        for defined in types(source) {
            crates.entry(defined).or_default().insert(name);
        }
    }
    let crates = crates.into_iter().filter(|(name, _)| !EVERYWHERE.contains(&name.as_str()));
    let repeated: BTreeMap<String, BTreeSet<&str>> =
        crates.filter(|(_, crates)| crates.len() > CRATES).collect();
    let stale = STILL.iter().filter(|it| !repeated.contains_key(**it));
    let stale: Vec<String> =
        stale.map(|it| format!("`{it}` is no longer repeated: take it from the list")).collect();
    let new = repeated.iter().filter(|(name, _)| !STILL.contains(&name.as_str()));
    new.map(|(name, crates)| {
        let crates: Vec<&str> = crates.iter().copied().collect();
        format!("`{name}` is a type in {}: one word, one thing", crates.join(", "))
    })
    .chain(stale)
    .collect()
}

fn types(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let named = file.items.iter().filter_map(|item| match item {
        Item::Struct(it) => Some(it.ident.to_string()),
        Item::Enum(it) => Some(it.ident.to_string()),
        Item::Trait(it) => Some(it.ident.to_string()),
        _ => None,
    });
    named.collect()
}

/// A file stem or a constant from the lists.
pub fn unclear(source: &Source) -> Vec<String> {
    if !source.path.starts_with("crates/") {
        return Vec::new();
    }
    let stem = source.name().trim_end_matches(".rs");
    let mut wrong = Vec::new();
    if STEMS.contains(&stem) {
        wrong.push(format!("{}: `{stem}` does not say what the file is about", source.path));
    }
    for name in constants(source) {
        if CONSTANTS.contains(&name.as_str()) {
            wrong.push(format!("{}: `{name}` does not say what it bounds", source.path));
        }
    }
    wrong
}

fn constants(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else { return Vec::new() };
    let own = file.items.iter().flat_map(|item| match item {
        Item::Const(it) => vec![it.ident.to_string()],
        Item::Impl(it) => it
            .items
            .iter()
            .filter_map(|it| match it {
                syn::ImplItem::Const(it) => Some(it.ident.to_string()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    });
    own.collect()
}
