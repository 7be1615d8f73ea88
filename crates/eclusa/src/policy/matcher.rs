//! Conditions on one argument.

use std::borrow::Cow;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
use serde_json::{Number, Value};

use super::{
    ConditionError,
    names::fits,
    paths::{PathLocation, Root, is_under},
};

/// What a condition says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    /// It does not hold.
    No,
    /// It cannot be told: counts against the call, whatever the rule says.
    Doubt,
    /// It holds.
    Yes,
}

impl From<bool> for Holds {
    fn from(yes: bool) -> Holds {
        if yes { Holds::Yes } else { Holds::No }
    }
}

/// A condition on one argument.
#[derive(Debug, Clone)]
pub struct Matcher(Test);

#[derive(Debug, Clone)]
enum Test {
    Glob(String),
    Equals(Value),
    Regex(Regex),
    Contains(Box<memmem::Finder<'static>>),
    Under(String),
    Not(Box<Matcher>),
    All(Vec<Matcher>),
}

/// Patterns compile to no more than this.
const PATTERN_BYTES: usize = 1 << 20;

impl Matcher {
    /// Its text fits a glob: `*` is any text, `?` any one character.
    pub fn glob(pattern: impl Into<String>) -> Matcher {
        Matcher(Test::Glob(pattern.into()))
    }

    /// It is this value. Numbers are equal when they are the same number: 1 is 1.0.
    pub fn equals(value: impl Into<Value>) -> Matcher {
        Matcher(Test::Equals(value.into()))
    }

    /// A part of its text fits a regular expression.
    pub fn regex(pattern: &str) -> Result<Matcher, ConditionError> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
        let regex = built.map_err(|err| {
            let text = err.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!(
                "`{pattern}` is not a regular expression: {}",
                last.trim_start_matches("error: ")
            )
        })?;
        Ok(Matcher(Test::Regex(regex)))
    }

    /// Its text contains this one.
    pub fn contains(text: &str) -> Result<Matcher, ConditionError> {
        if text.is_empty() {
            let problem = "every text contains the empty text; say what it should contain";
            return Err(ConditionError::Pattern(problem.to_owned()));
        }
        Ok(Matcher(Test::Contains(Box::new(memmem::Finder::new(text).into_owned()))))
    }

    /// It is a path in this directory of the workspace, or the directory itself.
    pub fn under(dir: &str) -> Result<Matcher, ConditionError> {
        match (dir.starts_with('/'), Root::default().place(dir)) {
            (false, PathLocation::Inside(dir)) => Ok(Matcher(Test::Under(dir.into_owned()))),
            _ => Err(ConditionError::Pattern(format!(
                "`{dir}` is not a directory of the workspace; write it relative to the workspace"
            ))),
        }
    }

    /// All of them hold.
    pub fn all(matchers: impl IntoIterator<Item = Matcher>) -> Matcher {
        Matcher(Test::All(matchers.into_iter().collect()))
    }

    /// Whether it holds for a value. `any_case` compares paths without regard to case.
    pub(super) fn test(&self, value: &Value, root: &Root, any_case: bool) -> Holds {
        if let Test::Equals(want) = &self.0 {
            return same(want, value).into();
        }
        match &self.0 {
            Test::Not(other) => negated(other.test(value, root, any_case)),
            Test::All(all) => {
                let holds = all.iter().map(|it| it.test(value, root, any_case)).min();
                holds.unwrap_or(Holds::Doubt)
            }
            Test::Equals(_)
            | Test::Glob(_)
            | Test::Regex(_)
            | Test::Contains(_)
            | Test::Under(_) => match text(value) {
                Some(text) => self.test_text(&text, root, any_case),
                None => Holds::Doubt,
            },
        }
    }

    /// Whether it holds for a text.
    pub(super) fn test_text(&self, text: &str, root: &Root, any_case: bool) -> Holds {
        match &self.0 {
            Test::Glob(pattern) => fits(pattern, text).into(),
            Test::Equals(want) => (want.as_str() == Some(text)).into(),
            Test::Regex(regex) => regex.is_match(text).into(),
            Test::Contains(finder) => finder.find(text.as_bytes()).is_some().into(),
            Test::Under(dir) => match root.place(text) {
                PathLocation::Inside(path) => is_under(&path, dir, any_case).into(),
                PathLocation::Outside => Holds::No,
                PathLocation::Nowhere => Holds::Doubt,
            },
            Test::Not(other) => negated(other.test_text(text, root, any_case)),
            Test::All(all) => {
                let holds = all.iter().map(|it| it.test_text(text, root, any_case)).min();
                holds.unwrap_or(Holds::Doubt)
            }
        }
    }
}

/// Holds where the other does not.
impl std::ops::Not for Matcher {
    type Output = Matcher;

    fn not(self) -> Matcher {
        Matcher(Test::Not(Box::new(self)))
    }
}

fn negated(holds: Holds) -> Holds {
    match holds {
        Holds::No => Holds::Yes,
        Holds::Doubt => Holds::Doubt,
        Holds::Yes => Holds::No,
    }
}

/// The text of a value that has one.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Null => Some(Cow::Borrowed("null")),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Equality of values, where numbers are equal when they are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    if a.is_f64() || b.is_f64() { a.as_f64() == b.as_f64() } else { a == b }
}

/// Where an argument is: a JSON pointer (RFC 6901), taken apart once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer such as `/path`.
    pub fn new(text: &str) -> Result<Pointer, ConditionError> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(ConditionError::Pointer(text.to_owned()));
        };
        Ok(Pointer(rest.split('/').map(|it| it.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The name of the argument that it starts with.
    pub fn head(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// What it leads to in these arguments.
    pub fn find<'a>(&self, args: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(args, |value, key| match value {
            Value::Object(fields) => fields.get(key.as_str()),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|at| items.get(at)),
            _ => None,
        })
    }
}
