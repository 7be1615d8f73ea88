//! Personas: how a model is asked to behave, and what it is kept to.

use eclusa::Mode;

/// How a model is asked to behave, and what it is kept to. Nothing in it loosens anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The model that it wants, as the configuration calls it.
    pub model: Option<String>,
    /// Its part of the system text.
    pub prompt: String,
    /// The only tools that it is given; `None`: all.
    pub tools: Option<Vec<String>>,
    /// How careful it is; a looser mode than that of the run has no effect.
    pub mode: Option<Mode>,
}

impl Persona {
    /// The one that is shipped: a programmer at work (S1.53).
    pub fn coder() -> Persona {
        Persona {
            name: "coder".to_owned(),
            description: "writes and changes code, one step at a time".to_owned(),
            model: None,
            prompt: include_str!("persona/coder.md").to_owned(),
            tools: None,
            mode: None,
        }
    }

    /// The more careful of its own mode and that of the run.
    pub fn mode_within(&self, mode: Mode) -> Mode {
        self.mode.map_or(mode, |own| own.more_careful(mode))
    }
}
