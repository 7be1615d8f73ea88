//! The crates: which may depend on which, and that every dependency is accounted for.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::source::Source;

/// Our crates, and which of our crates each may depend on. A new room gets a line here.
const MAY_USE: [(&str, &[&str]); 18] = [
    ("eclusa-net", &[]),
    ("eclusa-text", &[]),
    ("eclusa-shell", &["eclusa-net", "eclusa-text"]),
    ("eclusa-workspace", &["eclusa-text"]),
    ("eclusa-sandbox", &["eclusa-net", "eclusa-workspace"]),
    ("eclusa", &["eclusa-net", "eclusa-shell", "eclusa-text", "eclusa-workspace"]),
    ("eclusa-config", &["eclusa", "eclusa-net", "eclusa-shell", "eclusa-workspace"]),
    (
        "eclusa-tools",
        &["eclusa", "eclusa-net", "eclusa-shell", "eclusa-sandbox", "eclusa-workspace"],
    ),
    ("eclusa-store", &["eclusa", "eclusa-workspace"]),
    ("eclusa-approvals", &["eclusa"]),
    ("eclusa-mcp", &["eclusa", "eclusa-net", "eclusa-workspace"]),
    ("eclusa-agent", &["eclusa", "eclusa-net"]),
    ("eclusa-agents", &[]),
    (
        "eclusa-cli",
        &[
            "eclusa",
            "eclusa-agent",
            "eclusa-approvals",
            "eclusa-agents",
            "eclusa-config",
            "eclusa-mcp",
            "eclusa-net",
            "eclusa-sandbox",
            "eclusa-shell",
            "eclusa-store",
            "eclusa-tools",
            "eclusa-workspace",
        ],
    ),
    (
        "eclusa-bench",
        &[
            "eclusa",
            "eclusa-agent",
            "eclusa-config",
            "eclusa-sandbox",
            "eclusa-shell",
            "eclusa-store",
            "eclusa-tools",
            "eclusa-workspace",
        ],
    ),
    ("eclusa-fuzz", &["eclusa", "eclusa-net", "eclusa-shell", "eclusa-tools", "eclusa-workspace"]),
    (
        "eclusa-hunt",
        &[
            "eclusa",
            "eclusa-agent",
            "eclusa-agents",
            "eclusa-approvals",
            "eclusa-config",
            "eclusa-net",
            "eclusa-sandbox",
            "eclusa-shell",
            "eclusa-tools",
            "eclusa-workspace",
        ],
    ),
    ("eclusa-tidy", &["eclusa", "eclusa-config"]),
];

/// What the tests of a crate may use beside that.
const TESTS_MAY_USE: [(&str, &[&str]); 1] = [("eclusa-tools", &["eclusa-config"])];

/// The dependencies of one manifest, whatever they are for.
#[derive(Debug)]
pub struct Manifest {
    /// Its path.
    pub path: String,
    /// The package, if it is one.
    pub package: Option<String>,
    /// What it depends on.
    pub uses: BTreeSet<String>,
    /// What its tests depend on.
    pub tests_use: BTreeSet<String>,
}

/// Reads the `Cargo.toml` files among these.
pub fn manifests(sources: &[Source]) -> Result<Vec<Manifest>, String> {
    let manifests = sources.iter().filter(|it| it.name() == "Cargo.toml");
    manifests
        .map(|source| {
            let path = source.path.clone();
            let table: Table = source.text.parse().map_err(|err| format!("{path}: {err}"))?;
            let package = table.get("package").and_then(|it| it.get("name")?.as_str());
            let (mut uses, mut tests_use) = (BTreeSet::new(), BTreeSet::new());
            collect(&table, &mut uses, &mut tests_use);
            Ok(Manifest { package: package.map(str::to_owned), uses, tests_use, path })
        })
        .collect()
}

/// Every table of dependencies, also those under `workspace` and `target`.
fn collect(table: &Table, uses: &mut BTreeSet<String>, tests_use: &mut BTreeSet<String>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) if key == "dev-dependencies" => {
                tests_use.extend(inner.keys().cloned());
            }
            Value::Table(inner) if key.ends_with("dependencies") => {
                uses.extend(inner.keys().cloned());
            }
            Value::Table(inner) => collect(inner, uses, tests_use),
            _ => {}
        }
    }
}

/// Crates that depend on what they may not know of.
pub fn direction(manifests: &[Manifest]) -> Vec<String> {
    let may: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    let mut wrong = Vec::new();
    for manifest in manifests {
        let Some(package) = manifest.package.as_deref() else { continue };
        let Some(allowed) = may.get(package) else {
            wrong.push(format!("{}: `{package}` has no place in tidy/src/rooms.rs", manifest.path));
            continue;
        };
        let tests = TESTS_MAY_USE.iter().find(|it| it.0 == package).map_or(&[][..], |it| it.1);
        let in_tests = |it: &&String| !tests.contains(&it.as_str());
        let uses = manifest.uses.iter().chain(manifest.tests_use.iter().filter(in_tests));
        let ours = uses.filter(|it| may.contains_key(it.as_str()));
        for used in ours.filter(|it| !allowed.contains(&it.as_str())) {
            wrong.push(format!("{}: `{package}` may not depend on `{used}`", manifest.path));
        }
    }
    wrong
}

/// Dependencies without a line in `docs/dependencies.md`, and lines without a dependency.
///
/// A line is a row of a table that begins with the crate's name: ``| `serde` | … | … |``.
pub fn accounted(manifests: &[Manifest], page: &str) -> Vec<String> {
    let ours = |name: &String| MAY_USE.iter().any(|(it, _)| it == name);
    let used: BTreeSet<&String> = manifests
        .iter()
        .flat_map(|it| it.uses.union(&it.tests_use))
        .filter(|it| !ours(it))
        .collect();
    let lines: Vec<&str> = page.lines().filter_map(row).collect();
    let missing = used.iter().filter(|it| !lines.contains(&it.as_str())).map(|it| {
        format!("docs/dependencies.md: no line says what `{it}` is for and what it replaces")
    });
    let stale = lines
        .iter()
        .filter(|it| !used.iter().any(|used| used == it))
        .map(|it| format!("docs/dependencies.md: nothing depends on `{it}` any more"));
    missing.chain(stale).collect()
}

fn row(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    let told = rest.split('|').take(2).all(|cell| cell.split_whitespace().count() >= 2);
    told.then_some(name)
}
