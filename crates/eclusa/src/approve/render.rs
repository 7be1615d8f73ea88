//! The one renderer of a question: what a person sees, on whatever surface they see it.
//!
//! Terminal, page, webhook and editor all show these lines, so a trick that one of them would
//! fall for is none on any. Facts come first, and what the model says of itself last. Whatever
//! somebody else wrote stands behind a bar (`│`) on every one of its lines, with everything in it
//! visible ([`visible`](crate::visible)); what the gate says never does. Nothing is left out,
//! however long it is.
//!
//! Secrets in arguments are masked where they are plain words ([`Redactor::masked_words`]): what
//! runs has them whole, and nothing that a shell could act on is ever behind a mask.
//!
//! [`Redactor::masked_words`]: crate::Redactor::masked_words

use std::fmt;

use serde_json::Value;

use super::QuestionAbout;
use crate::{PermissionClass, Preview, Question, ReverseThinkingReport, Touch, one_line, visible};

mod decoded;
mod international;
mod json;
mod lines;
mod spelling;

#[cfg(test)]
mod tests;

/// What a line of a rendered question is for, so that surfaces can colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The tool, and where it comes from.
    Tool,
    /// The class, which says what rules apply.
    Class,
    /// What a person should not miss.
    Warning,
    /// The title of the lines that follow.
    Title,
    /// An argument, as it will be run.
    Argument,
    /// Something that the call would touch.
    Touch,
    /// A line of what the call would change.
    Change,
    /// A rule that led here.
    Rule,
    /// What arguing the other side brought up.
    Thought,
    /// The model's own words, which nobody has checked.
    Model,
    /// What an answer would mean.
    Answer,
}

impl Role {
    const ALL: [Role; 11] = [
        Role::Tool,
        Role::Class,
        Role::Warning,
        Role::Title,
        Role::Argument,
        Role::Touch,
        Role::Change,
        Role::Rule,
        Role::Thought,
        Role::Model,
        Role::Answer,
    ];

    /// The role of this word.
    pub fn from_word(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// The word for it, for example as a class of a page's element.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Tool => "tool",
            Role::Class => "class",
            Role::Warning => "warning",
            Role::Title => "title",
            Role::Argument => "argument",
            Role::Touch => "touch",
            Role::Change => "change",
            Role::Rule => "rule",
            Role::Thought => "thought",
            Role::Model => "model",
            Role::Answer => "answer",
        }
    }
}

/// One line of a rendered question. It has no line break, no control and no invisible character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is for.
    pub role: Role,
    /// What stands left of the bar, padded; or the whole line, where there is no bar.
    pub label: String,
    /// What stands right of the bar: somebody else's words. `None` where the gate speaks.
    pub text: Option<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            None => f.write_str(&self.label),
            Some(text) if text.is_empty() => write!(f, "{} │", self.label),
            Some(text) => write!(f, "{} │ {text}", self.label),
        }
    }
}

/// A question, ready to be shown: as text ([`Display`](fmt::Display)), [wrapped](Rendered::wrapped)
/// to a width, or line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The lines, in order.
    pub lines: Vec<Line>,
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Renders a question.
pub fn render(question: &Question) -> Rendered {
    let mut page = lines::Page::default();
    tool(question, &mut page);
    match question.preview() {
        Some(preview) => {
            changes(preview, &mut page);
            // What a file tool was told is in its changes, line by line.
            if question.class != PermissionClass::File {
                arguments(shown_args(question), &mut page);
                spellings(question, &mut page);
            }
        }
        None => {
            arguments(shown_args(question), &mut page);
            spellings(question, &mut page);
            touches(question, &mut page);
            // A signature is made before anything is applied.
            if let Some(preview) = question.made() {
                changes(preview, &mut page);
            }
        }
    }
    rules(question, &mut page);
    if let Some(reverse_thinking) = &question.reverse_thinking {
        thoughts(reverse_thinking, &mut page);
    }
    if let Some(reason) = question.reason.as_deref().filter(|it| !it.is_empty()) {
        page.title("the reason given (not checked):");
        page.block(Role::Model, vec![(String::new(), visible(reason))]);
    }
    answers(question, &mut page);
    Rendered { lines: page.lines }
}

/// The arguments, secrets in them masked.
fn shown_args(question: &Question) -> &Value {
    question.shown_args.as_ref().unwrap_or(&question.args)
}

fn tool(question: &Question, page: &mut lines::Page) {
    let from = match (&question.server, server_in(&question.tool)) {
        (Some(server), _) => format!(" from server {}", name(server)),
        (None, Some(server)) => format!(" from server {} (going by its name)", name(server)),
        (None, None) => String::new(),
    };
    page.line(Role::Tool, format!("tool: {}{from}", name(&question.tool)));
    page.line(Role::Class, format!("class: {}", question.class));
    if let Some(task) = &question.task {
        page.line(Role::Class, format!("asked by: task {}", name(task)));
    }
    // What is shown before it is applied, and undone if it must be, is not hard to take back.
    if question.destructive && question.made().is_none() {
        page.line(Role::Warning, "warning: this cannot be undone".to_owned());
    }
}

/// The server in a name such as `mcp__files__delete`.
fn server_in(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server)
}

/// What the call has done where nothing is real. It is made visible by whoever compared it; the
/// look here is for a question that came from somewhere else.
fn changes(preview: &Preview, page: &mut lines::Page) {
    page.title(&format!("it ran; not applied yet: {}", unbarred(&preview.summary)));
    let clean = |line: &str| {
        if line.chars().any(char::is_control) { one_line(line) } else { line.to_owned() }
    };
    let lines: Vec<String> = preview.diff.lines().map(clean).collect();
    page.block(Role::Change, vec![(String::new(), lines.join("\n"))]);
}

fn arguments(args: &Value, page: &mut lines::Page) {
    match args {
        Value::Object(fields) if fields.is_empty() => {
            page.line(Role::Title, "arguments: none".to_owned());
        }
        Value::Object(fields) => {
            page.title("arguments:");
            page.block(Role::Argument, fields.iter().map(|(key, it)| argument(key, it)).collect());
        }
        other => {
            page.title("arguments (json):");
            page.block(Role::Argument, vec![(String::new(), visible(&json::readable(other)))]);
        }
    }
}

/// A text stands there as it is; anything else is JSON with its keys in order, and says so, for
/// `5` and `"5"` are different arguments.
fn argument(key: &str, value: &Value) -> (String, String) {
    match value {
        Value::String(text) if text.is_empty() => (name(key), "⟨empty⟩".to_owned()),
        Value::String(text) => (name(key), visible(text)),
        other => (format!("{} (json)", name(key)), visible(&json::readable(other))),
    }
}

/// A name that somebody else chose: bare where it is plainly a name, otherwise between quotes and
/// without a bar of its own.
fn name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", unbarred(name))
    }
}

/// Somebody else's words in a line of ours: no bar of their own.
fn unbarred(text: &str) -> String {
    one_line(text).replace('│', "\\u{2502}")
}

/// What is written in another form than it is meant: hosts that are not ASCII, and in shell text
/// what escapes spell (`$'\x72\x6d'` is `rm`) and what encoded words say.
fn spellings(question: &Question, page: &mut lines::Page) {
    let Value::Object(fields) = &question.args else { return };
    let texts = fields.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    let hosts: Vec<_> = texts
        .clone()
        .flat_map(|(key, text)| international::hosts(text).into_iter().map(move |it| (key, it)))
        .map(|(key, (host, ascii))| (name(key), format!("{} ⟨is⟩ {ascii}", visible(&host))))
        .collect();
    if !hosts.is_empty() {
        page.title("hosts that are not ASCII:");
        page.block(Role::Warning, hosts);
    }
    if question.class != PermissionClass::Shell {
        return;
    }
    let decoded: Vec<_> = texts
        .clone()
        .flat_map(|(key, text)| decoded::decoded(text).into_iter().map(move |it| (key, it)))
        .map(|(key, (word, says))| {
            (name(key), format!("{} ⟨says⟩ {}", visible(&word), visible(&says)))
        })
        .collect();
    if !decoded.is_empty() {
        page.title("encoded:");
        page.block(Role::Warning, decoded);
    }
    let spelled: Vec<_> = texts
        .flat_map(|(key, text)| spelling::spelled(text).into_iter().map(move |it| (key, it)))
        .map(|(key, (from, to))| {
            (name(key), format!("{} ⟨spells⟩ {}", visible(&from), visible(&to)))
        })
        .collect();
    if !spelled.is_empty() {
        page.title("written with escapes:");
        page.block(Role::Warning, spelled);
    }
}

fn touches(question: &Question, page: &mut lines::Page) {
    if question.touches.is_empty() {
        return;
    }
    page.title("would:");
    let same = |text: &str| {
        let Value::Object(fields) = &question.args else { return None };
        let same = fields.iter().find(|(_, value)| value.as_str() == Some(text));
        same.map(|(key, _)| format!("⟨exactly the argument {}⟩", name(key)))
    };
    let touch = |touch: &Touch| match touch {
        Touch::Run(text) => ("run".to_owned(), same(text).unwrap_or_else(|| visible(text))),
        Touch::Read(path) => ("read".to_owned(), visible(path)),
        Touch::Write(path) => ("write".to_owned(), visible(path)),
        Touch::Fetch(host) => ("talk to".to_owned(), visible(host)),
        Touch::Unknown => ("touch".to_owned(), "⟨it does not say what⟩".to_owned()),
        Touch::Unheld(lacking) => ("run".to_owned(), format!("⟨where {}⟩", visible(lacking))),
    };
    page.block(Role::Touch, question.touches.iter().map(touch).collect());
}

fn rules(question: &Question, page: &mut lines::Page) {
    page.title("asked because:");
    let rule = |reason: &crate::Reason| {
        let origin = one_line(reason.origin.label());
        (reason.decision.to_string(), format!("{} ({origin})", one_line(&reason.text)))
    };
    let needs =
        question.verdict.requirements().map(|it| ("needs".to_owned(), unbarred(&it.to_string())));
    page.block(Role::Rule, question.verdict.because.iter().map(rule).chain(needs).collect());
}

fn thoughts(reverse_thinking: &ReverseThinkingReport, page: &mut lines::Page) {
    page.title("the other side:");
    let said = |label: &'static str| move |text: &String| (label.to_owned(), visible(text));
    let verdict = reverse_thinking.verdict.as_str().to_owned();
    let lines = reverse_thinking
        .hidden_assumptions
        .iter()
        .map(said("assumes"))
        .chain(reverse_thinking.failure_scenarios.iter().map(said("could fail")))
        .chain([(verdict, visible(&reverse_thinking.verdict_reason))]);
    page.block(Role::Thought, lines.collect());
}

fn answers(question: &Question, page: &mut lines::Page) {
    page.title("answers:");
    let mut answer = |key: &str, meaning: &str| {
        page.line(Role::Answer, format!("  {key}  {meaning}"));
    };
    answer(
        "y",
        match question.about {
            QuestionAbout::Changes(_) => "yes, apply exactly these changes",
            QuestionAbout::Running => "yes, this once, with exactly these arguments",
            QuestionAbout::Hosts(_) => "yes, run it again with exactly these hosts open",
            QuestionAbout::Signature(..) => "yes, run it again and sign exactly this",
        },
    );
    if let Some(grant) = &question.grant {
        let lasting = unbarred(&grant.describe_always());
        let covered = unbarred(&question.session_words().unwrap_or_default());
        answer("s", &format!("yes, and for the rest of this session: {covered}"));
        if question.offers_edits() {
            answer("A", "yes, and for the rest of this session all edits of this workspace");
        }
        if question.can_always {
            answer("a", &format!("yes, and always from now on: {lasting}"));
        }
    }
    match question.about {
        QuestionAbout::Changes(_) => answer("n", "no, discard them; you can say why"),
        QuestionAbout::Hosts(_) => answer("n", "no, leave them closed; you can say why"),
        QuestionAbout::Signature(..) => answer("n", "no, leave it unsigned; you can say why"),
        QuestionAbout::Running => {
            if question.offers_review() {
                answer("r", "run it, and show its changes before they are applied");
            }
            answer("e", "edit the arguments; the edited call is checked and judged again");
            answer("n", "no; you can say why");
        }
    }
    if question.offers_instead() {
        answer("i", "no, answer in place of the tool: your words become its result");
    }
    answer("q", "no, and end the whole turn");
}
