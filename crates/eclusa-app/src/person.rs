//! Whoever sits at this terminal, for the record.

/// The name of the user, as the environment has it.
pub fn name() -> String {
    let named = |name| std::env::var(name).ok().filter(|it: &String| !it.is_empty());
    named("USER").or_else(|| named("LOGNAME")).unwrap_or_else(|| "command-line".to_owned())
}

/// An id that no other call of this log is likely to have.
pub fn call_id() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("cli-{:x}-{:x}", since.unwrap_or_default().as_micros(), std::process::id())
}
