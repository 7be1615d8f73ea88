//! A long text in the person's pager.

use super::edit::run_on;

/// Whoever reads it sees where they are, and not the name of a temporary file.
const LESS: &str = "LESSSECURE=1 less -R -P'changes, line %lt of %L (q goes back)' -- \"$1\" \
                    || more -- \"$1\" || cat -- \"$1\"";

/// Shows a text that has been made harmless: in `$PAGER`, or in `less` or `more`.
pub fn show(text: &str) -> Result<(), String> {
    let named = std::env::var("PAGER").ok().filter(|it| !it.trim().is_empty());
    let script = match named {
        Some(pager) => format!("{pager} \"$1\""),
        None => LESS.to_owned(),
    };
    let (_file, status) =
        run_on(text, "", &script).map_err(|err| format!("the text cannot be shown: {err}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("the pager ended with {status}")),
    }
}
