//! Names of tools and servers, and globs over them and over texts.

use super::ConditionError;

/// Some names, each exact or with `*` (any text) and `?` (any one character).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// Reads a list of names or globs.
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Names, ConditionError> {
        let names: Vec<String> = names.into_iter().map(|it| it.as_ref().to_owned()).collect();
        if names.is_empty() {
            return Err(ConditionError::EmptyList);
        }
        if names.iter().any(String::is_empty) {
            return Err(ConditionError::EmptyName);
        }
        Ok(Names(names))
    }

    /// Names of tools or servers: what neither can be called is an error, because it would never be
    /// met.
    pub fn of_tools<S: AsRef<str>>(
        names: impl IntoIterator<Item = S>,
    ) -> Result<Names, ConditionError> {
        let names = Names::new(names)?;
        let odd = |it: char| !(it.is_alphanumeric() || "_-.*?/:@ ".contains(it));
        match names.0.iter().find(|it| it.contains(odd)) {
            None => Ok(names),
            Some(name) => Err(ConditionError::Pattern(format!(
                "nothing is called `{name}`; write the name alone, and the text in brackets with \
                `command`, `path` or `domain`"
            ))),
        }
    }

    /// True when one of them is this name, or a glob that fits it.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|it| if is_glob(it) { fits(it, name) } else { it == name })
    }

    /// The names themselves, when none is a glob.
    pub fn exact(&self) -> Option<&[String]> {
        let none = !self.0.iter().any(|it| is_glob(it));
        none.then_some(self.0.as_slice())
    }

    /// Those that are no globs.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str).filter(|it| !is_glob(it))
    }
}

fn is_glob(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// True when the whole text fits the pattern: `*` is any text, `?` any one character.
///
/// At most `pattern * text` steps, whatever is in them, and no allocation.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (mut p, mut t) = (pattern.chars(), text.chars());
    // Where to go on when the text does not fit after the last star.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let seen = t.clone();
        match (p.next(), t.next()) {
            (Some('*'), _) => {
                t = seen;
                retry = Some((p.clone(), t.clone()));
                if p.as_str().is_empty() {
                    return true;
                }
            }
            (Some('?'), Some(_)) => {}
            (Some(want), Some(got)) if want == got => {}
            (None, None) => return true,
            _ => {
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                (p, t) = (after.clone(), from.clone());
            }
        }
    }
}
