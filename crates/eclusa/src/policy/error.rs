//! Why a condition cannot be part of a rule.

/// What is wrong with a condition of a rule: lower case, no period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// A list of which one must fit has nothing in it.
    #[error("an empty list matches nothing; leave the key out to match all")]
    EmptyList,
    /// A name of a tool or a server is empty.
    #[error("a name cannot be empty")]
    EmptyName,
    /// A glob, a host, a regular expression or the beginning of a command cannot be read.
    #[error("{0}")]
    Pattern(String),
    /// The place of an argument is no JSON pointer.
    #[error("`{0}` does not say where the argument is; write `/{0}`")]
    Pointer(String),
    /// A rule that allows cannot have it.
    #[error("{0}")]
    CannotAllow(&'static str),
    /// A rule cannot have these bounds.
    #[error("{0}")]
    Bounds(&'static str),
}

impl From<String> for ConditionError {
    fn from(problem: String) -> ConditionError {
        ConditionError::Pattern(problem)
    }
}

impl From<ConditionError> for String {
    fn from(error: ConditionError) -> String {
        error.to_string()
    }
}
