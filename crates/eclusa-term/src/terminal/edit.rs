//! Editing a text, such as the arguments of a call, in the person's own editor.

use std::{
    io::{self, Read, Seek, Write},
    process::ExitStatus,
};

use eclusa_spawn::Program;
use serde_json::Value;
use tempfile::NamedTempFile;

/// Opens the arguments in the editor. `Ok(None)`: they were left as they are.
pub(super) fn edit(args: &Value) -> Result<Option<Value>, String> {
    let text = edit_text(&format!("{args:#}\n"), ".json")?;
    let edited: Value =
        serde_json::from_str(&text).map_err(|err| format!("this is not JSON: {err}"))?;
    Ok((edited != *args).then_some(edited))
}

/// Opens a text in the editor, in a file whose name ends like this, and gives what it is then.
pub fn edit_text(text: &str, suffix: &str) -> Result<String, String> {
    let failed = |err: io::Error| format!("the text cannot be edited: {err}");
    let editor = editor();
    let (file, status) = run_on(text, suffix, &format!("{editor} \"$1\"")).map_err(failed)?;
    if !status.success() {
        return Err(format!("the editor `{editor}` ended with {status}; nothing was changed"));
    }
    let mut text = String::new();
    // Many editors write a new file in the place of the old one.
    let read = std::fs::File::open(file.path()).and_then(|mut it| {
        it.rewind()?;
        it.read_to_string(&mut text)
    });
    read.map_err(failed)?;
    Ok(text)
}

/// Has a shell run this on the terminal, with the text in a file whose name is `$1`: an editor or a
/// pager can be a command with options, so a shell splits it; the path is one word.
pub(super) fn run_on(
    text: &str,
    suffix: &str,
    script: &str,
) -> io::Result<(NamedTempFile, ExitStatus)> {
    // Made for its owner alone: texts can hold secrets.
    let mut file = tempfile::Builder::new().prefix("eclusa-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let unnamed = || io::Error::other("the temporary directory has no readable name");
    let path = file.path().to_str().ok_or_else(unnamed)?;
    let command = ["sh", "-c", script, "eclusa", path].map(str::to_owned).to_vec();
    let program = Program { command, directory: ".".into(), env: Vec::new(), set: Vec::new() };
    let status = program.run_on_terminal()?;
    Ok((file, status))
}

fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|it: &String| !it.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}
