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

/// Names that stand in three files or more: each wire has its `Stream`, and proxy, sandbox and page their `Refusal`.
/// The list only becomes shorter.
const IN_MANY_FILES: [&str; 2] = ["Refusal", "Stream"];

/// A type name may be defined in so many files.
const FILES: usize = 2;

/// File stems that say nothing of what the file is about.
const STEMS: [&str; 24] = [
    "around", "asked", "asks", "door", "filled", "hall", "hands", "heard", "held", "hindered",
    "kept", "loose", "meant", "moment", "own", "parked", "passing", "seen", "shelf", "sight",
    "told", "wish", "words_of", "written",
];

/// Constants that do not say what they bound.
const CONSTANTS: [&str; 5] = ["MOST", "LONGEST", "KEPT", "NAMED", "USUAL"];

/// Words that were replaced over all crates, with the ones that stand for them now.
const RETIRED: [(&str, &str); 9] = [
    ("hall", "shared state"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("shelf", "directory"),
    ("shelves", "directories"),
    ("desk", "approval queue"),
    ("wish", "request"),
    ("wishes", "requests"),
];

/// Phrases of the same kind, whose words have an ordinary meaning too.
const RETIRED_PHRASES: [(&str, &str); 35] = [
    ("these hands", "this context"),
    ("with hands", "with a context"),
    ("sets up the house", "sets up the gate"),
    ("this is a mistake in Eclusa", "this is a bug in Eclusa"),
    ("made real", "applied"),
    // What read like a translation.
    ("somebody else must say yes too", "one more approver is needed"),
    ("whoever asks cannot answer", "the requester cannot approve"),
    ("not whoever asks", "not the requester"),
    ("such a redirect is not followed", "redirect refused"),
    ("stands where record", "expected record"),
    ("through what nobody said yes to", "calls that nobody approved"),
    ("A status that does not lie", "Enforcement levels"),
    ("A cookie reads, a key answers", "the cookie lets you read, the key lets you answer"),
    ("Take the yes back", "Revoke approval"),
    ("whoever makes the same call again", "the same call made again"),
    ("a yes opens", "approving opens"),
    ("nobody is set up to", "none is configured"),
    ("although somebody said yes", "was approved"),
    ("since a person said yes", "since it was approved"),
    ("watched, and not held", "watched, not enforced"),
    ("what was agreed on", "allowances"),
    ("hangs together with", "depends on"),
    ("what comes of it will be told", "its result will come"),
    ("go on with a session", "resume a session"),
    ("holds whatever rules say", "whatever rules say"),
    ("nobody can tell how", "it is not known how"),
    ("nobody can tell which", "it is not clear which"),
    ("nobody here is called", "no person is called"),
    ("what is kept of call", "the kept changes of call"),
    ("where nobody sits", "headless"),
    ("is told no for", "is denied"),
    ("nobody has checked it", "not checked"),
    ("made at one go", "made at once"),
    ("Take out of an agent's settings", "Remove from an agent's settings"),
    ("what discarded calls would have", "changes that were discarded"),
];

/// Where a retired word stays: the first table of questions is called so in files that people have.
const RETIRED_STAYS: [(&str, &str); 1] = [("crates/eclusa-store/src/schema.rs", "desk")];

/// Type names that are defined in more crates than a word may mean something in.
pub fn repeated_types(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|it| it.is_rust() && !it.is_test()) {
        let Some(name) = crate_of(source) else { continue };
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

/// Type names that are defined in more files than a word may mean something in.
pub fn in_many_files(sources: &[Source]) -> Vec<String> {
    let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let own = |it: &&Source| it.is_rust() && !it.is_test() && it.path.contains("/src/");
    for source in sources.iter().filter(own).filter(|it| crate_of(it).is_some()) {
        for defined in types(source) {
            files.entry(defined).or_default().insert(&source.path);
        }
    }
    files.retain(|name, files| files.len() > FILES && !EVERYWHERE.contains(&name.as_str()));
    let known = |name: &str| IN_MANY_FILES.contains(&name);
    let stale = IN_MANY_FILES.iter().filter(|it| !files.contains_key(**it));
    let stale = stale.map(|it| format!("`{it}` is no longer in many files: take it from the list"));
    let new = files.iter().filter(|(name, _)| !known(name)).map(|(name, files)| {
        let files: Vec<&str> = files.iter().copied().collect();
        format!("`{name}` is a type in {}: give each a name of its own", files.join(", "))
    });
    new.chain(stale).collect()
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

/// Doc comments that begin with a type name of their crate that is not in backticks: what a rename by
/// search and replace leaves behind (`PinStore this instead.`). Only names of two words or more count,
/// because `Notes`, `Paths` and `Says` also begin sentences.
pub fn sentences_that_begin_with_a_type(sources: &[Source]) -> Vec<String> {
    let rust = || sources.iter().filter(|it| it.is_rust());
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in rust() {
        let Some(name) = crate_of(source) else { continue };
        let compound = types(source).into_iter().filter(|it| is_compound(it));
        names.entry(name).or_default().extend(compound);
    }
    let mut wrong = Vec::new();
    for source in rust() {
        let Some(names) = crate_of(source).and_then(|it| names.get(it)) else { continue };
        let mut inside = false;
        for (number, line) in (1..).zip(source.text.lines()) {
            let line = line.trim_start();
            let said = line.strip_prefix("/// ").or(line.strip_prefix("//! "));
            let first = said.and_then(|it| it.split(|c: char| !c.is_alphanumeric()).next());
            if let Some(name) = first.filter(|it| !inside && names.contains(*it)) {
                let path = &source.path;
                wrong.push(format!("{path}:{number}: begins with `{name}` without backticks"));
            }
            inside = line.starts_with("///") || line.starts_with("//!");
        }
    }
    wrong
}

fn crate_of(source: &Source) -> Option<&str> {
    source.path.strip_prefix("crates/")?.split('/').next()
}

fn is_compound(name: &str) -> bool {
    name.chars().filter(|it| it.is_uppercase()).count() > 1
}

/// Retired words in code, comments and messages, and retired phrases there and on pages.
pub fn retired(source: &Source) -> Vec<String> {
    let is_page = source.path.ends_with(".md") && !source.path.starts_with("workshop/");
    let is_code = source.is_rust() && source.path.starts_with("crates/") && !source.is_test();
    let mut wrong = Vec::new();
    let stays = |word: &str| RETIRED_STAYS.contains(&(source.path.as_str(), word));
    for (number, line) in (1..).zip(source.text.lines()) {
        let place = || format!("{}:{number}", source.path);
        for (old, new) in RETIRED.iter().filter(|(old, _)| is_code && !stays(old)) {
            let mut words = line.split(|c: char| !c.is_alphanumeric());
            if words.any(|it| it.eq_ignore_ascii_case(old)) {
                wrong.push(format!("{}: `{old}` is retired: `{new}`", place()));
            }
        }
        let phrases = RETIRED_PHRASES.iter().filter(|_| is_code || is_page);
        for (old, new) in phrases.filter(|(old, _)| line.contains(old)) {
            wrong.push(format!("{}: `{old}` is retired: `{new}`", place()));
        }
    }
    wrong
}
