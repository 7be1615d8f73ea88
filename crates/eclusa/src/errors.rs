//! Errors of what the embedding program puts into a gate, in that program's own words.

use std::fmt;

/// Types that hold one sentence: `?` makes them of any text.
macro_rules! in_own_words {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub String);

        impl<T: Into<String>> From<T> for $name {
            fn from(what: T) -> $name {
                $name(what.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::error::Error for $name {}
    )+};
}

in_own_words! {
    /// The reviewer could not do its work; the call stops.
    ReviewError;
    /// The checkpoint stays closed, or nobody could argue the other side; the call stops.
    PreflightError;
    /// An answer could not be kept beyond its session: it holds this once.
    RememberError;
    /// The uses of a rule could not be counted: it lets nothing pass.
    TallyError;
    /// What is kept of a session could not be read or changed: it counts as tainted, spent and not
    /// granted.
    SessionError;
    /// Allowances could not be read or used: a person is asked.
    AllowanceError;
    /// What undoing changes needs could not be kept; they are discarded.
    DelegateError;
    /// Why a call that is running may not talk to another host.
    HostRefused;
}
