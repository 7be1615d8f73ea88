//! Editing a text, such as the arguments of a call, in the person's own editor.

use std::io::{self, Read, Seek, Write};

use serde_json::Value;

use eclusa_spawn::Program;

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
    // Made for its owner alone: texts can hold secrets.
    let mut file =
        tempfile::Builder::new().prefix("eclusa-").suffix(suffix).tempfile().map_err(failed)?;
    write!(file, "{text}").and_then(|()| file.flush()).map_err(failed)?;
    let path = file.path().to_str().ok_or("the temporary directory has no readable name")?;
    let editor = editor();
    // An editor can be a command with options, so a shell splits it; the path is one word.
    let command = ["sh", "-c", &format!("{editor} \"$1\""), "eclusa", path].map(str::to_owned);
    let program = Program {
        command: command.to_vec(),
        directory: ".".into(),
        env: Vec::new(),
        set: Vec::new(),
    };
    let status = program.run_on_terminal().map_err(failed)?;
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

fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|it: &String| !it.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}
