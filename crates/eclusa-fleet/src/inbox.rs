//! What people and the server of a fleet say to each other about questions, as JSON.

use serde::{Deserialize, Serialize};

use crate::mirror::{MirroredLine, MirroredRequirement};

/// A question in the inbox of the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxRow {
    /// Its number in the fleet.
    pub number: u64,
    /// The machine that asks, by its number.
    pub machine: u32,
    /// What that calls itself.
    pub name: String,
    /// Its team, as its invite says.
    #[serde(default)]
    pub team: String,
    /// The workspace.
    pub workspace: String,
    /// What the store calls itself that it waits in, and its number there: an answer is to these.
    pub store: String,
    /// See [`InboxRow::store`].
    pub id: u64,
    /// What an answer is bound to.
    pub binding: String,
    /// The tool.
    pub tool: String,
    /// What it is about, in one line.
    pub headline: String,
    /// Who asks.
    pub principal: String,
    /// In which session.
    pub conversation: String,
    /// How it stands: as the machine says, or `sent` while enough answers are on their way.
    pub state: String,
    /// Whether nobody waits for it.
    pub asker_away: bool,
    /// When it was asked, in milliseconds since 1970.
    pub created: u64,
    /// When it is too late to answer.
    pub expires: u64,
    /// Who must answer.
    #[serde(default)]
    pub requirements: Vec<MirroredRequirement>,
    /// Who said what so far.
    #[serde(default)]
    pub said: Vec<String>,
    /// Why the machine refused the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Why a yes of whoever looks would not count, if it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_for_you: Option<String>,
    /// How many pending ones have the same binding and show the same, this one included.
    #[serde(default)]
    pub identical: u64,
}

/// The answer to `GET /v1/questions`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Whoever looks, by the name that the people document gives them.
    #[serde(default)]
    pub you: String,
    /// The questions.
    pub questions: Vec<InboxRow>,
    /// What is shown of the only one, where one was asked for.
    #[serde(default)]
    pub lines: Vec<MirroredLine>,
    /// Whether those are all.
    #[serde(default)]
    pub whole: bool,
    /// Whether a yes applies what was shown, and nothing runs again.
    #[serde(default)]
    pub applies: bool,
    /// Whether there may be more behind the last one.
    #[serde(default)]
    pub more: bool,
}

/// `POST /v1/answers`: an answer to identical questions, or that a yes is taken back, or that a session ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRequest {
    /// `vote`, `revoke` or `end`.
    pub kind: String,
    /// The questions, by their numbers in the fleet.
    pub numbers: Vec<u64>,
    /// `once` or `no`.
    #[serde(default)]
    pub answer: String,
    /// Why not.
    #[serde(default)]
    pub reason: String,
    /// Until when what is signed is good.
    pub expires: u64,
    /// The text that is signed.
    pub statement: String,
    /// The signature over it.
    pub signature: String,
    /// The key that made it.
    pub key: String,
}

/// The answer to it, for each question in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// What became of each.
    pub questions: Vec<AnsweredQuestion>,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    /// The question.
    pub number: u64,
    /// Why the answer is not on its way; `None`: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether others must answer, too.
    #[serde(default)]
    pub waits: bool,
}
