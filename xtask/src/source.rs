//! The files of the repository, as the house rules read them.

use std::{fs, io, path::Path};

/// A file: its path from the root of the repository, with `/`, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path from the root of the repository.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// A file that need not exist, for trying a rule.
    pub fn new(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// True for Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// True for files that only tests are made of.
    pub fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches"))
    }

    /// Its last component.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The root of the repository that this crate stands in.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or_else(|| Path::new("."))
}

/// Every text file below the root, built things and history left out, by path.
pub fn all(root: &Path) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(directory: &Path, prefix: &str, found: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !matches!(name.as_str(), "target" | ".git") {
            walk(&entry.path(), &format!("{path}/"), found)?;
        } else if kind.is_file() && name != ".git" {
            // What is not text (a corpus of the fuzzer, a database) has no house rules.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                found.push(Source { path, text });
            }
        }
    }
    Ok(())
}
