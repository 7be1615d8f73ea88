//! Mistakes that are made on purpose, and how each is to be noticed.

use serde::Deserialize;

/// A list of mutants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The mutants.
    pub mutant: Vec<Mutant>,
}

/// One mistake.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What is done wrong, in a few words.
    pub name: String,
    /// The code of the compiler's error, for a mistake of order.
    pub error: Option<String>,
    /// The test binary that must fail, for a mistake inside a gate.
    pub test: Option<String>,
    /// A part of the names of the tests to run; all of the binary's where it is absent.
    #[serde(default)]
    pub only: String,
    /// The edits that make the mistake.
    pub edit: Vec<Edit>,
}

/// One change of a text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, from `crates/eclusa/src/`.
    pub file: String,
    /// The text to replace; it must occur exactly once.
    pub find: String,
    /// What takes its place.
    pub replace: String,
}

/// Mistakes of order, which must not compile.
pub const ORDER: &str = include_str!("../mutants/order.toml");

/// Mistakes inside a gate, which a test must catch.
pub const INSIDE: &str = include_str!("../mutants/inside.toml");

/// Reads both lists: first the mistakes of order, then those inside.
pub fn all() -> Result<Vec<Mutant>, String> {
    let read = |text: &str, name: &str| {
        toml::from_str::<List>(text).map_err(|err| format!("tidy/mutants/{name}: {err}"))
    };
    let mut all = read(ORDER, "order.toml")?.mutant;
    all.extend(read(INSIDE, "inside.toml")?.mutant);
    match all.iter().find(|it| it.error.is_some() == it.test.is_some()) {
        Some(it) => Err(format!("`{}` needs either `error` or `test`", it.name)),
        None => Ok(all),
    }
}

impl Edit {
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
