//! Mistakes that are made on purpose, and how each is to be noticed.

use std::collections::BTreeSet;

use serde::Deserialize;

/// A list of mutants.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The mutants.
    pub mutant: Vec<Mutant>,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What is done wrong, in a few words.
    pub name: String,
    /// The code of the compiler's error, for a mistake of order.
    pub error: Option<String>,
    /// The test binary that must fail, for a mistake inside a gate; `lib`: the unit tests of the package.
    pub test: Option<String>,
    /// A part of the names of the tests to run; all of the binary's where it is absent.
    #[serde(default)]
    pub only: String,
    /// The crate that the test binary belongs to.
    #[serde(default = "library")]
    pub package: String,
    /// The items of workshop/mission.md that the test proves: then it is one test, by its whole name, and
    /// the row of each item names it.
    #[serde(default)]
    pub rows: Vec<String>,
    /// The edits that make the mistake.
    pub edit: Vec<Edit>,
}

/// One change of a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, from `crates/eclusa/src/`; any other from the root, `crates/…`, `docs/…`.
    pub file: String,
    /// The text to replace; it must occur exactly once.
    pub find: String,
    /// What takes its place.
    pub replace: String,
}

fn library() -> String {
    "eclusa".to_owned()
}

/// The directory of a crate, from the root of the repository.
pub fn home_of(package: &str) -> String {
    match package.starts_with("eclusa") {
        true => format!("crates/{package}"),
        false => package.to_owned(),
    }
}

/// The test binary that stands for the unit tests of a package.
const UNIT_TESTS: &str = "lib";

/// The test binary that reads the sources while it runs.
const HOUSE_RULES: &str = "tidy";

/// What a row names whose proof is that a mistake does not compile.
const BY_THE_COMPILER: &str = "scripts/mutants";

/// Where files lie that an edit names from the root.
const ROOMS: [&str; 5] = ["crates/", "docs/", "workshop/", "xtask/", "."];

/// Mistakes of order, which must not compile.
pub const ORDER: &str = include_str!("../mutants/order.toml");

/// Mistakes inside a gate, which a test must catch.
pub const INSIDE: &str = include_str!("../mutants/inside.toml");

/// The files of both lists, from the root of the repository.
pub const LISTS: [&str; 2] = ["xtask/mutants/order.toml", "xtask/mutants/inside.toml"];

/// Reads one list.
pub fn read(text: &str, name: &str) -> Result<Vec<Mutant>, String> {
    toml::from_str::<List>(text).map(|it| it.mutant).map_err(|err| format!("{name}: {err}"))
}

/// Reads both lists: first the mistakes of order, then those inside.
pub fn all() -> Result<Vec<Mutant>, String> {
    let mut all = Vec::new();
    for (text, name) in [ORDER, INSIDE].into_iter().zip(LISTS) {
        all.extend(read(text, name)?);
    }
    match all.iter().find(|it| it.error.is_some() == it.test.is_some()) {
        Some(it) => Err(format!("`{}` needs either `error` or `test`", it.name)),
        None => Ok(all),
    }
}

impl Mutant {
    /// The test that must notice it, as workshop/mission.md names tests.
    pub fn proof(&self) -> String {
        let (package, only) = (self.package.replace('-', "_"), &self.only);
        match self.test.as_deref() {
            None => BY_THE_COMPILER.to_owned(),
            Some(UNIT_TESTS | HOUSE_RULES) => format!("{package}::{only}"),
            Some(test) => format!("{package}::{test}::{only}"),
        }
    }

    /// The name of the test binary that must notice it, as cargo has it.
    pub fn binary(&self) -> Option<String> {
        self.test.as_ref().map(|test| match self.is_for_unit_tests() {
            true => self.package.replace('-', "_"),
            false => test.clone(),
        })
    }

    /// True where the unit tests of a package must notice it.
    pub fn is_for_unit_tests(&self) -> bool {
        self.test.as_deref() == Some(UNIT_TESTS)
    }

    /// True where the tests that must notice it read the sources while they run.
    pub fn is_for_house_rules(&self) -> bool {
        self.test.as_deref() == Some(HOUSE_RULES)
    }

    /// True where little is built anew for it: the crate that it is in, and one test binary of that crate.
    pub fn is_inside_one_crate(&self) -> bool {
        let home = format!("{}/", home_of(&self.package));
        let inside = self.edit.iter().all(|it| it.path().starts_with(&home));
        let quick = !self.builds_program() && !self.is_for_unit_tests();
        quick && (inside || self.is_for_house_rules())
    }

    /// True where the tests that must notice it start the program.
    pub fn builds_program(&self) -> bool {
        self.package == "eclusa-cli"
    }

    /// True when something that it hangs on is not what it was: a file that it edits, the file of tests
    /// that must notice it (`changed`, paths from the root), or what it says itself (`before`).
    pub fn is_touched(&self, changed: &BTreeSet<String>, before: &[Mutant]) -> bool {
        let test = self.test.as_ref().map(|test| {
            let home = home_of(&self.package);
            match self.is_for_unit_tests() {
                true => {
                    let modules = self.only.rsplit_once("::").map_or("", |it| it.0);
                    format!("{home}/src/{}.rs", modules.replace("::", "/"))
                }
                false => {
                    let module = self.only.split("::").next().unwrap_or_default();
                    format!("{home}/tests/{test}/{module}.rs")
                }
            }
        });
        let edits = self.edit.iter().map(Edit::path);
        edits.chain(test).any(|it| changed.contains(&it)) || !before.contains(self)
    }
}

impl Edit {
    /// The file, from the root of the repository.
    pub fn path(&self) -> String {
        match ROOMS.iter().any(|it| self.file.starts_with(it)) {
            true => self.file.clone(),
            false => format!("crates/eclusa/src/{}", self.file),
        }
    }

    /// The text with the mistake in it. Fails when the text has moved on since the edit was
    /// written, because a mutant that changes nothing proves nothing.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        if self.find == self.replace {
            return Err(format!("{}: the edit changes nothing", self.file));
        }
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            n => Err(format!("{}: found {n} times instead of once:\n{}", self.file, self.find)),
        }
    }
}
