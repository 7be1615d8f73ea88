//! A long text in the person's pager.

use std::io::{self, Write};

use eclusa_spawn::Program;

/// Shows a text that has been made harmless: in `$PAGER`, or in `less` or `more`.
pub fn show(text: &str) -> Result<(), String> {
    let failed = |err: io::Error| format!("the text cannot be shown: {err}");
    let mut file = tempfile::Builder::new().prefix("eclusa-").tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let path = file.path().to_str().ok_or("the temporary directory has no readable name")?;
    let named = std::env::var("PAGER").ok().filter(|it| !it.trim().is_empty());
    // A pager can be a command with options, so a shell splits it; the path is one word.
    let script = match named {
        Some(pager) => format!("{pager} \"$1\""),
        None => "LESSSECURE=1 less -R -- \"$1\" || more -- \"$1\" || cat -- \"$1\"".to_owned(),
    };
    let command = ["sh", "-c", &script, "eclusa", path].map(str::to_owned);
    let program = Program {
        command: command.to_vec(),
        directory: ".".into(),
        env: Vec::new(),
        set: Vec::new(),
    };
    let status = program.run_on_terminal().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("the pager ended with {status}")),
    }
}
