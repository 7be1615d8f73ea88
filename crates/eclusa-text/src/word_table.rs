//! One table of words for an enum: what is written, and what is read, wherever that is.

use std::fmt;

/// A word that stands for nothing here, and those that do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord(String);

impl UnknownWord {
    /// Says what the word is not, and which words there are.
    pub fn new(word: &str, kind: &str, known: &[&str]) -> UnknownWord {
        UnknownWord(format!("`{word}` is not {kind}; use one of {}", known.join(", ")))
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl From<UnknownWord> for String {
    fn from(error: UnknownWord) -> String {
        error.0
    }
}

/// Gives an enum its words: `ALL` and `WORDS`, `as_str`, `Display` and `FromStr`, all from one table.
/// A word after a `|` is another spelling, which is read and never written.
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// pub enum Size {
///     /// Not much.
///     Small,
///     /// Much.
///     Large,
/// }
///
/// eclusa_text::words! {
///     Size, "a size": Small = "small", Large = "large" | "big",
/// }
///
/// assert_eq!("big".parse(), Ok(Size::Large));
/// assert_eq!(Size::Large.as_str(), "large");
/// let unknown = "huge".parse::<Size>().unwrap_err();
/// assert_eq!(unknown.to_string(), "`huge` is not a size; use one of small, large");
/// ```
#[macro_export]
macro_rules! words {
    ($type:ident, $kind:literal: $($value:ident = $word:literal $(| $spelling:literal)*),+ $(,)?) => {
        impl $type {
            /// All of them, in the order in which they are listed.
            pub const ALL: [$type; [$($type::$value),+].len()] = [$($type::$value),+];

            /// Every word that is read: first the one for each, then other spellings.
            pub const WORDS: &'static [(&'static str, $type)] =
                &[$(($word, $type::$value),)+ $($(($spelling, $type::$value),)*)+];

            /// The word for it, wherever it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($type::$value => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> ::std::result::Result<$type, $crate::UnknownWord> {
                let found = $type::WORDS.iter().find(|(known, _)| *known == word);
                let unknown = || $crate::UnknownWord::new(word, $kind, &[$($word),+]);
                found.map(|(_, it)| *it).ok_or_else(unknown)
            }
        }
    };
}
