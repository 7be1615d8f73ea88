//! An answer as the columns of a row, and back.

use eclusa::{Answer, Hash};
use serde_json::Value;

/// An answer in columns.
pub(super) struct AnswerColumns<'a> {
    pub(super) edit: Option<String>,
    pub(super) reason: Option<&'a str>,
    /// Whether a later answer is the same.
    pub(super) sha256: Hash,
}

impl AnswerColumns<'_> {
    pub(super) fn new(answer: &Answer) -> AnswerColumns<'_> {
        let (edit, reason) = match answer {
            Answer::Edit(args) => (Some(args.to_string()), None),
            Answer::Only(paths) => (Some(serde_json::json!(paths).to_string()), None),
            Answer::No(why) | Answer::Instead(why) => (None, Some(why.as_str())),
            Answer::Once
            | Answer::Session
            | Answer::Edits
            | Answer::Review
            | Answer::Always
            | Answer::Abort => (None, None),
        };
        let detail = edit.as_deref().or(reason).unwrap_or_default();
        let sha256 = Hash::sha256(format!("{}\n{detail}", answer.word()).as_bytes());
        AnswerColumns { edit, reason, sha256 }
    }
}

/// The answer that a row holds.
pub(super) fn from_columns(
    word: &str,
    edit: Option<String>,
    reason: Option<String>,
) -> Option<Answer> {
    match word {
        "once" => Some(Answer::Once),
        "session" => Some(Answer::Session),
        "edits" => Some(Answer::Edits),
        "review" => Some(Answer::Review),
        "always" => Some(Answer::Always),
        "only" => serde_json::from_str(&edit?).ok().map(Answer::Only),
        "edit" => serde_json::from_str::<Value>(&edit?).ok().map(Answer::Edit),
        "instead" => Some(Answer::Instead(reason.unwrap_or_default())),
        "no" => Some(Answer::No(reason.unwrap_or_default())),
        "abort" => Some(Answer::Abort),
        _ => None,
    }
}

/// What ties an answer to the question that was shown to whoever gave it.
pub(super) fn seal(binding: &str, shown: Hash, answer: Hash) -> Vec<u8> {
    let seal = Hash::sha256(format!("{binding}\n{shown}\n{answer}").as_bytes());
    [&answer.as_bytes()[..], &seal.as_bytes()[..]].concat()
}
