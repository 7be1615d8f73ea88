//! Whoever sits at this terminal, for the record.

/// The name of the user, as the environment has it.
pub fn name() -> String {
    let named = |name| std::env::var(name).ok().filter(|it: &String| !it.is_empty());
    named("USER").or_else(|| named("LOGNAME")).unwrap_or_else(|| "command-line".to_owned())
}
