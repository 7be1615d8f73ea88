//! Circles between the top modules of a crate, computed from what each file mentions.
//!
//! A module is a file or a directory beside the root; its own files may know each other. The root
//! (`lib.rs`, `main.rs`) is a module too. A name that is re-exported counts where it is defined, so
//! that `crate::Rule` is a mention of `policy`, and what the root re-exports the root mentions.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    bans::mentions,
    homes::{Homes, place},
    source::Source,
};

/// Which modules mention which, with the names and one file that does.
type Mentions = BTreeMap<String, BTreeMap<String, Mention>>;

/// What one module mentions of another.
#[derive(Default)]
struct Mention {
    file: String,
    names: BTreeSet<String>,
}

/// What the root of a crate is called here.
const ROOT: &str = "the root";

/// Circles between top modules, crate by crate.
pub fn complaints(sources: &[Source]) -> Vec<String> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(|it| Some(place(it)?.0)).collect();
    crates.into_iter().flat_map(|name| of_crate(name, sources)).collect()
}

fn of_crate(name: &str, sources: &[Source]) -> Vec<String> {
    let mentions = between_modules(name, sources);
    let told = circles(&mentions).into_iter().map(|circle| {
        let inside = |module: &String| {
            let others = mentions.get(module).into_iter().flatten();
            let others = others.filter(|(other, _)| circle.contains(*other));
            others.map(|(other, it)| told(module, other, it)).collect::<Vec<_>>()
        };
        let ways: Vec<String> = circle.iter().flat_map(inside).collect();
        format!("{name}: a circle of modules:\n  {}", ways.join("\n  "))
    });
    told.collect()
}

fn told(module: &str, other: &str, mention: &Mention) -> String {
    let names: Vec<&str> = mention.names.iter().map(String::as_str).collect();
    format!("{module} -> {other} ({}: {})", mention.file, names.join(", "))
}

fn between_modules(name: &str, sources: &[Source]) -> Mentions {
    let homes = Homes::of_crate(name, sources);
    let mut found = Mentions::new();
    for source in sources {
        let Some((_, way)) = place(source).filter(|it| it.0 == name) else { continue };
        let paths = mentions(source);
        let ends =
            paths.iter().flat_map(|it| homes.find(&way, it).into_iter().map(move |to| (it, to)));
        for (path, home) in ends.filter(|(_, home)| top(home) != top(&way)) {
            let mention = found.entry(top(&way)).or_default().entry(top(&home)).or_default();
            mention.names.insert(path.rsplit("::").next().unwrap_or_default().to_owned());
            mention.file.clone_from(&source.path);
        }
    }
    found
}

fn top(way: &[String]) -> String {
    way.first().cloned().unwrap_or_else(|| ROOT.to_owned())
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
