//! Questions as the server of a fleet mirrors them, and what it carries back to the machine that asked.

use std::time::Duration;

use eclusa::{
    Question, Redactor,
    approve::{
        Escalation, Line, QuestionAbout, QueuedQuestion, Requirement, Role, SignedAnswer, render,
    },
    one_line,
};
use serde::{Deserialize, Serialize};

/// So many questions are mirrored at once at most.
pub const MAX_MIRRORED: usize = 50;

/// So many questions of a machine may wait at the server.
pub const MAX_PENDING: usize = 50;

/// So many blanks pad a label at most.
const MAX_PADDING: usize = 40;

/// The most text of a question that leaves its machine, in bytes: a longer one is cut, and a yes to it can be given only
/// where it is whole.
pub const MAX_TEXT: usize = 256 << 10;

/// `POST /v1/questions`: what changed in a queue. The same again changes nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MirrorRequest {
    /// The chain of the store that the questions wait in.
    pub chain: u32,
    /// Up to which change of the queue this is.
    pub at: u64,
    /// The questions, as they are now.
    pub questions: Vec<MirroredQuestion>,
}

/// The answer to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorAnswer {
    /// Questions for which there was no room: they are sent again once others are over.
    #[serde(default)]
    pub left_out: Vec<u64>,
}

/// A question as it leaves its machine: what the local page shows, and never more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MirroredQuestion {
    /// Its number in its queue.
    pub id: u64,
    /// What an answer is bound to.
    pub binding: String,
    /// The tool.
    pub tool: String,
    /// Who asks.
    pub principal: String,
    /// In which session.
    pub conversation: String,
    /// How it stands: a word of [`eclusa::approve::QuestionState`].
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
    /// Who has said yes so far, or who decided.
    #[serde(default)]
    pub said: Vec<String>,
    /// What is shown. `None` once it is over: then the server forgets the text, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<MirroredText>,
}

/// What a person sees of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MirroredText {
    /// In one line.
    pub headline: String,
    /// Whether a yes applies what was shown, and nothing runs again.
    #[serde(default)]
    pub applies: bool,
    /// Whether all of it is here.
    pub whole: bool,
    /// The lines of the one renderer.
    pub lines: Vec<MirroredLine>,
}

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirroredLine {
    /// What it is for: a word of [`eclusa::approve::Role`].
    pub role: String,
    /// What stands left of the bar.
    pub label: String,
    /// What stands right of it: somebody else's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What a rule requires of the answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirroredRequirement {
    /// Whose yes counts; empty: everybody's.
    #[serde(default)]
    pub of: Vec<String>,
    /// So many different people.
    #[serde(default)]
    pub need: usize,
    /// How sure it must be who they are: `word`, `key` or `passkey`.
    #[serde(default)]
    pub with: String,
    /// Whether whoever asks does not count.
    #[serde(default)]
    pub separate: bool,
    /// Who else may answer after so many milliseconds.
    #[serde(default)]
    pub then: Vec<(u64, Vec<String>)>,
}

/// Something for one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Counted by the server.
    pub id: u64,
    /// What it is: `vote`, `revoke` or `end`. A machine refuses what it does not know.
    pub kind: String,
    /// What is signed.
    pub body: CarriedAnswer,
}

/// An answer on its way, or that an answer is taken back, or that a session ends. Whoever carries it can change none of it:
/// the person's signature is over all that counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CarriedAnswer {
    /// What the store calls itself that the question waits in.
    pub store: String,
    /// The number of the question there.
    #[serde(default)]
    pub question: u64,
    /// The session that ends.
    #[serde(default)]
    pub conversation: String,
    /// The word for the answer: `once` or `no`.
    #[serde(default)]
    pub answer: String,
    /// Why not, in the person's words.
    #[serde(default)]
    pub reason: String,
    /// Who says it.
    pub person: String,
    /// Until when what was signed is good, in milliseconds since 1970.
    pub expires: u64,
    /// Which of the person's keys signed.
    pub key: String,
    /// The text that was signed.
    pub statement: String,
    /// The signature over it.
    pub signature: String,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// Which one.
    pub id: u64,
    /// Why it changed nothing; `None`: it was applied, now or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl CarriedAnswer {
    /// The signature as queues keep it. How sure it is whose it is, is found out by whoever checks it.
    pub(crate) fn signed(&self) -> SignedAnswer {
        SignedAnswer {
            proof: eclusa::approve::Proof::Word,
            key: self.key.clone(),
            statement: self.statement.clone(),
            signature: self.signature.clone(),
        }
    }
}

impl MirroredQuestion {
    /// A question as it leaves this machine. `headline` says it in one line, and `said` who said what so far. Secrets are
    /// taken out of its changes and of the model's reason, which the local page shows as they are.
    pub fn new(
        queued: &QueuedQuestion,
        (headline, said): (String, Vec<String>),
        redactor: &Redactor,
    ) -> MirroredQuestion {
        let question = &queued.question;
        let text = queued.state.is_open().then(|| {
            let clean = |text: &str| redactor.text(text).0.into_owned();
            let mut shown = question.clone();
            if let QuestionAbout::Changes(preview) = &mut shown.about {
                preview.diff = clean(&preview.diff);
            }
            shown.reason = shown.reason.as_deref().map(clean);
            let (lines, whole) = lines(&shown);
            let headline = clean(&headline);
            MirroredText { headline, applies: question.pending.is_some(), whole, lines }
        });
        MirroredQuestion {
            id: queued.id,
            binding: question.binding.clone(),
            tool: question.tool.clone(),
            principal: question.principal.clone(),
            conversation: question.session.clone(),
            state: queued.state.as_str().to_owned(),
            asker_away: queued.asker_away,
            created: queued.created,
            expires: queued.expires,
            requirements: question.verdict.requirements().map(MirroredRequirement::from).collect(),
            said,
            text,
        }
    }
}

/// Whether all of a question can be shown elsewhere, so that a yes to it can be given there.
pub fn is_shown_whole(queued: &QueuedQuestion) -> bool {
    lines(&queued.question).1
}

/// The lines that leave the machine, and whether they are all.
fn lines(question: &Question) -> (Vec<MirroredLine>, bool) {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for it in render(question).lines {
        bytes += it.label.len() + it.text.as_ref().map_or(0, String::len);
        if bytes > MAX_TEXT {
            return (lines, false);
        }
        let role = it.role.as_str().to_owned();
        lines.push(MirroredLine { role, label: it.label, text: it.text });
    }
    (lines, question.made().is_none_or(|it| it.whole))
}

impl MirroredLine {
    /// The line as it is shown elsewhere. Nothing in it hides, whoever wrote it, and what it is for is a word that is known.
    pub fn shown(&self) -> Line {
        Line {
            role: Role::from_word(&self.role).unwrap_or(Role::Argument),
            label: padded(&self.label),
            text: self.text.as_deref().map(one_line),
        }
    }
}

/// A label as it is shown: what pads it stays, up to so much.
fn padded(label: &str) -> String {
    let blanks = |text: &str| " ".repeat((label.len() - text.len()).min(MAX_PADDING));
    let (before, after) = (label.trim_start_matches(' '), label.trim_end_matches(' '));
    match before.is_empty() {
        true => blanks(before),
        false => {
            format!("{}{}{}", blanks(before), one_line(label.trim_matches(' ')), blanks(after))
        }
    }
}

impl From<&Requirement> for MirroredRequirement {
    fn from(it: &Requirement) -> MirroredRequirement {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        MirroredRequirement {
            of: it.of.clone(),
            need: it.need,
            with: it.with.as_str().to_owned(),
            separate: it.separate,
            then: it.then.iter().map(|it| (millis(it.after), it.of.clone())).collect(),
        }
    }
}

impl MirroredRequirement {
    /// What it requires. A proof that is not known here is the strongest.
    pub fn requirement(&self) -> Requirement {
        let then = |it: &(u64, Vec<String>)| Escalation {
            after: Duration::from_millis(it.0),
            of: it.1.clone(),
        };
        Requirement {
            of: self.of.clone(),
            need: self.need,
            with: self.with.parse().unwrap_or(eclusa::approve::Proof::Passkey),
            separate: self.separate,
            within: None,
            then: self.then.iter().map(then).collect(),
        }
    }
}
