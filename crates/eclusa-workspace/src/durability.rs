//! What a record or a change survives.

/// What the log, or a committed change, survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// A power failure: it is on the disk before the call goes on.
    #[default]
    PowerLoss,
    /// A crash of the program: it is with the operating system before the call goes on.
    Crash,
}

eclusa_text::words! {
    Durability, "a durability": PowerLoss = "power-loss", Crash = "crash",
}
