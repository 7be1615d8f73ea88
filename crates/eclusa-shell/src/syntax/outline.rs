//! What a parser saw, in terms that both parsers share: places in the text, nothing read yet.
//!
//! Each parser is lowered to an [`Outline`] on its own. Two outlines that are equal are two
//! witnesses of the same commands; see `compare.rs`.

use crate::RedirectKind;

/// A stretch of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// True when `inner` lies in it.
    pub(crate) fn holds(self, inner: Span) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }
}

/// What stands at a place where commands can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Shape {
    /// A simple command, or redirections of a group (then without words).
    #[default]
    Simple,
    /// `[[ … ]]`; the only word is the whole of it.
    Test,
    /// `for` and `select`: the words are the name and what it goes through.
    Loop,
    /// `case`: the words are what is compared, and with what.
    Case,
}

/// One command as seen by one parser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedCommand {
    pub(crate) shape: Shape,
    pub(crate) words: Vec<Span>,
    pub(crate) assignments: Vec<Span>,
    pub(crate) redirects: Vec<ParsedRedirect>,
    /// Index into [`Outline::contexts`].
    pub(crate) context: usize,
}

/// One redirection as seen by one parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedRedirect {
    pub(crate) kind: RedirectKind,
    /// The target, or the body of a here-document.
    pub(crate) target: Span,
    /// For a here-document: does the shell expand what is in it, and are tabs taken away?
    pub(crate) body: Option<CommandBody>,
}

/// How a here-document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandBody {
    pub(crate) expands: bool,
    pub(crate) strips_tabs: bool,
}

/// Where a command is: how it is reached, and whether it runs beside the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScopeContext {
    pub(crate) via: Vec<String>,
    pub(crate) background: bool,
    /// Part of a pipe of two or more.
    pub(crate) piped: bool,
    /// Always reached when what stands before it in the script is done.
    pub(crate) straight: bool,
}

/// A stretch in which variables certainly got their value from the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) name: String,
    /// The words that a `for` goes through; none for `read`.
    pub(crate) values: Option<Vec<Span>>,
    pub(crate) body: Span,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) body: Span,
}

/// Everything one parser saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outline {
    pub(crate) commands: Vec<ParsedCommand>,
    pub(crate) contexts: Vec<ScopeContext>,
    /// `$(…)`, backquotes, `<(…)`, `>(…)`.
    pub(crate) substitutions: Vec<Span>,
    /// `${…}`.
    pub(crate) parameters: Vec<Span>,
    /// `$((…))`, `$[…]`, `((…))`, the head of `for ((…))`.
    pub(crate) arithmetic: Vec<Span>,
    /// Quoted text in which nothing is special.
    pub(crate) literals: Vec<Span>,
    pub(crate) functions: Vec<Function>,
    /// What is on both sides of each `|`.
    pub(crate) pipes: Vec<(Span, Span)>,
    pub(crate) scopes: Vec<Scope>,
    /// An endless loop that waits for nothing of what it starts.
    pub(crate) spawning: Option<Span>,
    /// Why this outline is not the whole truth, with the place.
    pub(crate) trouble: Option<(String, usize)>,
    /// Why a part of the text was not looked at, with the place.
    pub(crate) unread: Option<(String, usize)>,
}

impl Outline {
    /// Brings everything into the order of the text, so that two outlines can be compared.
    pub(crate) fn settle(&mut self) {
        for command in &mut self.commands {
            command.words.sort_unstable();
            join(&mut command.words);
            command.assignments.sort_unstable();
            command.redirects.sort_unstable_by_key(|it| it.target);
        }
        self.commands.retain(|it| !it.is_empty());
        self.commands.sort_by_key(ParsedCommand::start);
        for spans in [&mut self.substitutions, &mut self.parameters, &mut self.arithmetic] {
            spans.sort_unstable();
            spans.dedup();
        }
        self.literals.sort_unstable();
    }

    /// An outline of a text that was not read.
    pub(crate) fn unread(why: impl Into<String>) -> Outline {
        Outline { unread: Some((why.into(), 0)), ..Outline::default() }
    }

    /// Notes the first reason for which this outline is not the whole truth.
    pub(crate) fn fail(&mut self, why: impl Into<String>, at: usize) {
        if self.trouble.is_none() {
            self.trouble = Some((why.into(), at));
        }
    }
}

/// What stands without a blank between is one word, whatever a parser makes of it.
fn join(words: &mut Vec<Span>) {
    words.dedup_by(|next, word| {
        let touches = word.end >= next.start;
        if touches {
            word.end = word.end.max(next.end);
        }
        touches
    });
}

impl ParsedCommand {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.redirects.is_empty()
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> (usize, usize) {
        let words = self.words.first();
        let assignments = self.assignments.first();
        let redirects = self.redirects.first().map(|it| &it.target);
        let first = [words, assignments, redirects].into_iter().flatten().min();
        first.map_or((usize::MAX, 0), |it| (it.start, it.end))
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> usize {
        let targets = self.redirects.iter().map(|it| &it.target);
        let all = self.words.iter().chain(&self.assignments).chain(targets);
        all.map(|it| it.end).max().unwrap_or(usize::MAX)
    }

    /// True when the other parser's command is the same one.
    pub(crate) fn agrees(&self, other: &ParsedCommand) -> bool {
        self.shape == other.shape
            && self.words == other.words
            && self.assignments == other.assignments
            && self.redirects == other.redirects
    }
}
