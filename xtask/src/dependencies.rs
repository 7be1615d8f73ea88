//! Dependencies: that every one of them is accounted for.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::source::Source;

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

/// Dependencies without a line in `workshop/dependencies.md`, and lines without a dependency.
///
/// A line is a row of a table that begins with the crate's name: ``| `serde` | … | … |``.
pub fn accounted(manifests: &[Manifest], page: &str) -> Vec<String> {
    let ours = |name: &String| manifests.iter().any(|it| it.package.as_ref() == Some(name));
    let used: BTreeSet<&String> = manifests
        .iter()
        .flat_map(|it| it.uses.union(&it.tests_use))
        .filter(|it| !ours(it))
        .collect();
    let lines: Vec<&str> = page.lines().filter_map(row).collect();
    let missing = used.iter().filter(|it| !lines.contains(&it.as_str())).map(|it| {
        format!("workshop/dependencies.md: no line says what `{it}` is for and what it replaces")
    });
    let stale = lines
        .iter()
        .filter(|it| !used.iter().any(|used| used == it))
        .map(|it| format!("workshop/dependencies.md: nothing depends on `{it}` any more"));
    missing.chain(stale).collect()
}

fn row(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    let told = rest.split('|').take(2).all(|cell| cell.split_whitespace().count() >= 2);
    told.then_some(name)
}
