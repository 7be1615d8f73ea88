//! What a question offers besides yes and no, by what it is about.

use super::{Preview, Question, QuestionAbout, STAGING, Vote};
use crate::PermissionClass;

impl Question {
    /// The changes, where the question is about them.
    pub fn preview(&self) -> Option<&Preview> {
        match &self.about {
            QuestionAbout::Changes(preview) => Some(preview),
            _ => None,
        }
    }

    /// What the call has changed so far, whether the question is about that or about signing it.
    pub fn made(&self) -> Option<&Preview> {
        match &self.about {
            QuestionAbout::Changes(preview) | QuestionAbout::Signature(_, preview) => Some(preview),
            QuestionAbout::Running | QuestionAbout::Hosts(_) => None,
        }
    }

    /// Whether one answer can be for all edits of the session: only the defaults ask about these.
    pub fn offers_edits(&self) -> bool {
        self.preview().is_some() && self.grant.is_some()
    }

    /// Whether the call can be run and be asked about once more with its changes: it is staged, and one
    /// yes would be enough.
    pub fn offers_review(&self) -> bool {
        let staged = |it: &crate::Reason| *it.origin.label() == *STAGING;
        self.can_edit() && self.verdict.because.iter().any(staged)
    }

    /// What "for this session" would cover, in words.
    pub fn session_words(&self) -> Option<String> {
        let grant = self.grant.as_ref()?;
        if let QuestionAbout::Signature(it, _) = &self.about {
            return Some(format!(
                "every signature with `{}` in `{}`",
                it.key,
                it.repository.display()
            ));
        }
        Some(match self.preview() {
            Some(it) if self.class == PermissionClass::Shell && !it.choices.is_empty() => {
                "this command, and edits of these files".to_owned()
            }
            _ => grant.to_string(),
        })
    }

    /// Whether the arguments can be edited: before the call has run, and no longer.
    pub fn can_edit(&self) -> bool {
        self.about == QuestionAbout::Running
    }

    /// Whether a person can answer in place of the tool: not while it runs.
    pub fn offers_instead(&self) -> bool {
        !matches!(self.about, QuestionAbout::Hosts(_) | QuestionAbout::Signature(..))
    }

    /// Why the yes of this person would not count here; `None` where it does.
    pub fn refusal(&self, vote: &Vote) -> Option<String> {
        self.verdict.requirements().find_map(|it| it.refusal(vote, &self.principal))
    }
}
