//! Which crate knows which: as cargo says it is, and as `direction.toml` says it may be.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde::Deserialize;

/// The rows of direction.
pub const ROWS: &str = include_str!("../direction.toml");

/// What crates may know, by their names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Direction {
    knows: BTreeMap<String, BTreeSet<String>>,
    tests_know: BTreeMap<String, BTreeSet<String>>,
}

/// One of our crates, as cargo sees it.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// What its manifest says it is.
    pub description: Option<String>,
    manifest_path: String,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: BTreeSet<String>,
    src_path: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Reads what `cargo metadata` says.
pub fn read(metadata: &[u8]) -> Result<Vec<Package>, String> {
    let read: Metadata = serde_json::from_slice(metadata).map_err(|err| err.to_string())?;
    Ok(read.packages)
}

/// The crates of the workspace, and the fuzzer's, which has one of its own.
pub fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let mut found = Vec::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let said = cargo(&root.join(manifest))?;
        found.extend(read(&said)?);
    }
    Ok(found)
}

#[expect(clippy::disallowed_methods, reason = "cargo alone knows what crates depend on")]
fn cargo(manifest: &Path) -> Result<Vec<u8>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"]);
    let ran = cargo.arg(manifest).output().map_err(|err| format!("cargo: {err}"))?;
    match ran.status.success() {
        true => Ok(ran.stdout),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}

/// Reads the rows.
pub fn rows(text: &str) -> Result<Direction, String> {
    toml::from_str(text).map_err(|err| format!("xtask/direction.toml: {err}"))
}

/// Crates that know what they may not, or may know what they do not.
pub fn complaints(packages: &[Package], may: &Direction) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages {
        let name = &package.name;
        let Some(knows) = may.knows.get(name) else {
            wrong.push(format!("`{name}` has no row in xtask/direction.toml"));
            continue;
        };
        let in_tests = may.tests_know.get(name).cloned().unwrap_or_default();
        let rows = [(package.knows(), knows), (package.tests_know(), &in_tests)];
        for (is, may) in rows {
            wrong.extend(is.difference(may).map(|it| format!("`{name}` may not know `{it}`")));
            let unused = may.difference(&is);
            wrong.extend(unused.map(|it| format!("`{name}` may know `{it}`, and does not")));
        }
    }
    let there = |it: &&String| packages.iter().any(|package| package.name == **it);
    let gone = may.knows.keys().filter(|it| !there(it));
    wrong.extend(gone.map(|it| format!("xtask/direction.toml: there is no crate `{it}`")));
    wrong
}

impl Package {
    /// Those of our crates that it depends on.
    pub fn knows(&self) -> BTreeSet<String> {
        self.ours(|kind| kind != Some("dev"))
    }

    /// Those that its tests depend on beside that.
    fn tests_know(&self) -> BTreeSet<String> {
        self.ours(|kind| kind == Some("dev")).difference(&self.knows()).cloned().collect()
    }

    fn ours(&self, kind: impl Fn(Option<&str>) -> bool) -> BTreeSet<String> {
        let ours = self.dependencies.iter().filter(|it| it.path.is_some());
        let ours = ours.filter(|it| kind(it.kind.as_deref()) && it.name != self.name);
        ours.map(|it| it.name.clone()).collect()
    }

    /// Its directory, from the root of the repository.
    pub fn home(&self, root: &Path) -> Option<String> {
        let home = Path::new(&self.manifest_path).parent()?.strip_prefix(root).ok()?;
        Some(home.to_string_lossy().into_owned())
    }

    /// The root file of its library, or of its program.
    pub fn root_file(&self, root: &Path) -> Option<String> {
        let own = |it: &&Target| it.kind.contains("lib") || it.src_path.ends_with("/src/main.rs");
        let path = Path::new(&self.targets.iter().find(own)?.src_path);
        Some(path.strip_prefix(root).ok()?.to_string_lossy().into_owned())
    }
}
