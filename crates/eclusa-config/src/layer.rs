//! One configuration file: what is in it, who vouches for it, and what one value of it is.

/// One configuration file, read by whoever may read files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// How messages call the file.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// Who vouches for it.
    pub trust: Trust,
}

impl Layer {
    /// A file that the person vouches for: their own, or one they named on the command line.
    pub fn of_person(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Person }
    }

    /// A file of whoever runs the machine. It lies on top, wherever it stands in the list, and
    /// nothing loosens it; a stricter value of another file stands.
    pub fn of_administrator(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Administrator }
    }

    /// A file that was found in the workspace, and may have been written by anybody.
    pub fn of_project(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Project }
    }
}

/// Who vouches for a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The person: it is their own file, or they named it on the command line.
    Person,
    /// Nobody: it was found in the workspace. It may only tighten.
    Project,
    /// Whoever runs the machine. What it says holds, unless something stricter is said elsewhere.
    Administrator,
}

/// One value of the configuration and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key, with dots.
    pub key: String,
    /// The value, as TOML.
    pub value: String,
    /// `defaults`, or `file:line`.
    pub origin: String,
    /// True when it comes with the program.
    pub shipped: bool,
}
