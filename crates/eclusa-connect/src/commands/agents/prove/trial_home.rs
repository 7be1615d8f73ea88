//! The home in which an agent is tried: a copy of the person's own settings, and a scripted model in
//! the place of their own.

use std::{fs, io, path::Path};

use super::GateFile;
use crate::trial::TrialSpec;

/// A home that goes with a trial.
pub(super) struct TrialHome<'a> {
    pub(super) home: &'a Path,
    /// Where the model is.
    pub(super) url: &'a str,
    /// The gate's own files of the person.
    pub(super) settings: &'a [GateFile],
}

impl TrialHome<'_> {
    /// The variables of the agent's environment.
    pub(super) fn variables(&self, spec: &TrialSpec) -> Vec<(&'static str, String)> {
        let home = self.home.to_string_lossy();
        let value = |it: &str| it.replace("HOME", &home).replace("URL", self.url);
        let every = [("HOME", "HOME"), ("TMPDIR", "HOME/tmp"), ("NO_COLOR", "1")];
        let all = every.iter().chain(spec.variables);
        all.map(|(name, it)| (*name, value(it))).collect()
    }

    /// Writes the agent's settings: the person's own, as far as they say how calls are gated, and
    /// the scripted model.
    pub(super) fn write(&self, spec: &TrialSpec) -> Result<(), String> {
        for file in self.settings {
            let text = self.moved((spec.settings)(&file.text)?);
            self.write_file(&file.name.to_string_lossy(), &text)?;
        }
        let Some((name, with_model)) = spec.model else { return Ok(()) };
        let text = fs::read_to_string(self.home.join(name)).unwrap_or_default();
        self.write_file(name, &with_model(&text, self.url)?)
    }

    /// The text with what it says of the person's files said of those here.
    fn moved(&self, text: String) -> String {
        self.settings.iter().fold(text, |text, it| {
            let here = self.home.join(&it.name);
            text.replace(&format!("{}:", it.path.display()), &format!("{}:", here.display()))
        })
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.home.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| write(&path, text));
        written.map_err(|err| format!("`{}`: {err}", path.display()))
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory of our own that goes with the trial")]
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}
