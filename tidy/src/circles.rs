//! Circles between the top modules of a crate, computed from what each file mentions.
//!
//! A name that the crate's root re-exports counts as a mention of the module it comes from, so that
//! `crate::Rule` is a mention of `policy`.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree};

use crate::{bans::mentions, source::Source};

/// Which modules mention which, with one file that does.
type Mentions = BTreeMap<String, BTreeMap<String, String>>;

/// Modules that still form a circle. A circle among others is an error, and so is a line here that
/// is no longer needed: the list only becomes shorter.
const KNOWN: [(&str, &[&str]); 1] = [
    // A tool may pass calls through the gate, which runs tools: `Job` closes this circle. Whoever
    // judges a call sees it with its tool (`Validated`), and the gate consults them all. To cut it,
    // a `Job` would reach its gate through a trait with one implementor.
    (
        "eclusa",
        &[
            "approve",
            "audit",
            "gate",
            "policy",
            "preflight",
            "registry",
            "repository",
            "review",
            // It keeps what rules count of changes (`ChangeTotals`), and the gate keeps it.
            "session",
            "tool",
        ],
    ),
];

/// Circles between top modules, crate by crate.
pub fn complaints(sources: &[Source]) -> Vec<String> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(|it| Some(place(it)?.0)).collect();
    crates.into_iter().flat_map(|name| of_crate(name, sources)).collect()
}

fn of_crate(name: &str, sources: &[Source]) -> Vec<String> {
    let mentions = between_modules(name, sources);
    let known = KNOWN.iter().find(|it| it.0 == name).map_or(&[][..], |it| it.1);
    let circles = circles(&mentions);
    let mut wrong = Vec::new();
    for circle in &circles {
        if circle.iter().all(|it| known.contains(&it.as_str())) {
            continue;
        }
        let inside = |module: &String| {
            let others = mentions.get(module).into_iter().flatten();
            let others = others.filter(|(other, _)| circle.contains(*other));
            others.map(|(other, file)| format!("{module} -> {other} ({file})")).collect::<Vec<_>>()
        };
        let ways: Vec<String> = circle.iter().flat_map(inside).collect();
        wrong.push(format!("crates/{name}: a circle of modules:\n  {}", ways.join("\n  ")));
    }
    let in_circles: BTreeSet<&String> = circles.iter().flatten().collect();
    let stale = known.iter().filter(|it| !in_circles.contains(&(**it).to_owned()));
    wrong.extend(stale.map(|it| {
        format!("crates/{name}: `{it}` is in no circle any more: take it from tidy/src/circles.rs")
    }));
    wrong
}

/// The crate and the top module of a file that is not the root, and how deep it lies.
fn place(source: &Source) -> Option<(&str, &str, usize)> {
    if !source.is_rust() || source.is_test() {
        return None;
    }
    let (name, file) = source.path.strip_prefix("crates/")?.split_once("/src/")?;
    let file = file.strip_suffix(".rs")?;
    let parts: Vec<&str> = file.split('/').collect();
    let top = *parts.first()?;
    (!matches!(top, "lib" | "main")).then_some((name, top, parts.len()))
}

fn between_modules(name: &str, sources: &[Source]) -> Mentions {
    let exported = re_exports(name, sources);
    let files = sources.iter().filter(|it| place(it).is_some_and(|it| it.0 == name));
    let tops: BTreeSet<&str> = files.clone().filter_map(|it| Some(place(it)?.1)).collect();
    let mut found = Mentions::new();
    for source in files {
        let Some((_, top, depth)) = place(source) else { continue };
        for path in mentions(source) {
            let Some(first) = from_root(&path, depth) else { continue };
            let module = exported.get(first).map_or(first, String::as_str);
            if module != top && tops.contains(module) {
                let others = found.entry(top.to_owned()).or_default();
                others.entry(module.to_owned()).or_insert_with(|| source.path.clone());
            }
        }
    }
    found
}

/// The name after `crate::`, or after as many `super::` as lead to the root from a file this deep.
fn from_root(path: &str, depth: usize) -> Option<&str> {
    let mut parts = path.split("::");
    match parts.next()? {
        "crate" => parts.next(),
        "super" => {
            let more = path.split("::").take_while(|it| *it == "super").count();
            (more == depth).then(|| path.split("::").nth(more)).flatten()
        }
        _ => None,
    }
}

/// What the root of a crate re-exports, and from which of its modules.
fn re_exports(name: &str, sources: &[Source]) -> BTreeMap<String, String> {
    let roots = ["lib.rs", "main.rs"].map(|it| format!("crates/{name}/src/{it}"));
    let roots = sources.iter().filter(|it| roots.contains(&it.path));
    let mut found = BTreeMap::new();
    for root in roots {
        let Ok(file) = syn::parse_file(&root.text) else { continue };
        for item in file.items {
            if let Item::Use(it) = item {
                collect(&it.tree, None, &mut found);
            }
        }
    }
    found
}

fn collect(tree: &UseTree, module: Option<&str>, found: &mut BTreeMap<String, String>) {
    let mut name = |name: String| {
        if let Some(module) = module {
            found.insert(name, module.to_owned());
        }
    };
    match tree {
        UseTree::Path(it) if it.ident == "crate" || it.ident == "self" => {
            collect(&it.tree, module, found);
        }
        UseTree::Path(it) => {
            let first = it.ident.to_string();
            collect(&it.tree, module.or(Some(&first)), found);
        }
        UseTree::Group(it) => it.items.iter().for_each(|it| collect(it, module, found)),
        UseTree::Name(it) => name(it.ident.to_string()),
        UseTree::Rename(it) => name(it.rename.to_string()),
        UseTree::Glob(_) => {}
    }
}

/// Sets of modules each of which leads to every other of its set.
fn circles(mentions: &Mentions) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        mentions.keys().map(|it| (it, reached(it, mentions))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reach {
        let back = |it: &&&String| reach.get(**it).is_some_and(|it| it.contains(*from));
        let circle: BTreeSet<String> = to.iter().filter(back).map(|it| (*it).clone()).collect();
        if !circle.is_empty() && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reached<'a>(from: &'a String, mentions: &'a Mentions) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for other in mentions.get(module).into_iter().flat_map(|it| it.keys()) {
            if found.insert(other) {
                next.push(other);
            }
        }
    }
    found
}
