//! What `eclusa exec --ticket` prints for a model, as a value: a command that ran ahead is told later.

use std::io::Write as _;

use serde::{Deserialize, Serialize};

use crate::{
    failure::{Exit, Failure},
    screen,
};

/// What is printed for a model, and how the program ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// The output.
    pub text: String,
    /// What is said besides.
    pub notes: Vec<String>,
    /// Why it failed, where the output does not say so.
    pub error: Option<String>,
    /// The exit code.
    pub code: u8,
}

impl Printed {
    /// Prints it.
    pub fn print(&self) -> Result<Exit, Failure> {
        let mut out = std::io::stdout().lock();
        out.write_all(self.text.as_bytes())?;
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        self.notes.iter().for_each(|it| screen::note(it));
        if let Some(error) = &self.error {
            screen::error(std::slice::from_ref(error));
        }
        Ok(Exit::Command(self.code))
    }
}
