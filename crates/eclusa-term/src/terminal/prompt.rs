//! One question and what a person may answer.

use std::{
    io::{self, Write},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use eclusa::{
    Answer, Question,
    approve::{Line, Role},
    one_line, render,
    workspace::LineNumbers,
};
use eclusa_config::rule_text;

use super::{
    Everywhere,
    edit::edit,
    fit::fit,
    key_reader::{KeyReader, TypedLine},
    pager,
};
use crate::language::{self, Phrase};
use crate::screen::{Paint, Style, diff_lines, diff_view::DiffView, layout, size_of, spinner};

/// How wide a terminal is that does not say.
const DEFAULT_COLUMNS: usize = 80;

/// From this width on lines of files have their numbers.
const MIN_NUMBERED: usize = 40;

/// How wide the key of an answer is, with the space around it.
const ANSWER_KEY: usize = "  y  ".len();

/// What is said to the model where the input ended (Ctrl-D) and nobody had answered.
pub(super) const NO_ANSWER: &str = "the input ended without an answer";

/// Where "always" is kept.
pub(super) struct AlwaysRules {
    /// The file of this workspace, and that of the person.
    pub(super) files: Option<(PathBuf, PathBuf)>,
    pub(super) everywhere: Everywhere,
}

/// One question, put to a person.
pub(super) struct Prompt {
    pub(super) question: Question,
    keys: KeyReader,
    rules: AlwaysRules,
    pub(super) paint: Paint,
    pub(super) columns: usize,
    pub(super) rows: Option<usize>,
    /// What was said of the first files, one after the other, before the person went back to the question.
    pub(super) picks: Vec<bool>,
}

/// A line of a question, as it is on the screen.
pub(super) type ShownLine = (Role, Style, String);

impl Prompt {
    pub(super) fn new(
        question: Question,
        tty: OwnedFd,
        rules: AlwaysRules,
        given_up: Arc<AtomicBool>,
    ) -> Prompt {
        let (columns, rows) = size();
        let paint = Paint::on(&io::stderr());
        let keys = KeyReader::new(tty, given_up).watching_size();
        Prompt { question, keys, rules, paint, columns, rows, picks: Vec::new() }
    }

    /// Asks until there is an answer. Enter alone is none; the end of the input is a no.
    pub(super) fn ask(mut self) -> io::Result<Answer> {
        let _terminal = spinner::pause();
        let mut whole = self.show()?;
        self.keys.settle()?;
        loop {
            let choices = self.choices(whole);
            let what = match self.question.preview() {
                Some(_) => Phrase::ApplyChanges.text(),
                None => Phrase::RunIt.text(),
            };
            let line = match self.typed(&format!("{what} [{choices}] "), KeyReader::answer)? {
                TypedLine::Line(line) => line,
                TypedLine::Resized => {
                    whole = self.show()?;
                    continue;
                }
                TypedLine::End | TypedLine::GivenUp => {
                    return Ok(Answer::No(NO_ANSWER.to_owned()));
                }
            };
            let answer = match line.to_lowercase().as_str() {
                _ if line == "A" && self.question.offers_edits() => Some(Answer::Edits),
                "r" if self.question.offers_review() => Some(Answer::Review),
                word if language::is_yes(word) => Some(Answer::Once),
                word if language::is_no(word) => Some(self.no()?),
                "s" if self.question.grant.is_some() => Some(Answer::Session),
                "a" if self.can_always() => self.always()?,
                "i" if self.question.offers_instead() => self.instead()?,
                "e" if self.question.can_edit() => self.edited()?,
                "d" if self.question.made().is_some() => self.page()?,
                "p" if !self.choices_of_files().is_empty() => self.pick()?,
                "q" => Some(Answer::Abort),
                "?" | "h" => self.help()?,
                "" => self.say(Style::Warn, Phrase::TypeYesOrNo.text())?,
                other => self.say(Style::Warn, &Phrase::NotAnAnswer.with(one_line(other)))?,
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    fn can_always(&self) -> bool {
        self.question.can_always && self.question.grant.is_some() && self.rules.files.is_some()
    }

    fn choices(&self, whole: bool) -> String {
        let mut choices = vec!["y", "n"];
        if self.question.grant.is_some() {
            choices.push("s");
        }
        if self.question.offers_edits() {
            choices.push("A");
        }
        if self.question.offers_review() {
            choices.push("r");
        }
        if self.can_always() {
            choices.push("a");
        }
        if self.question.can_edit() {
            choices.push("e");
        }
        if !self.choices_of_files().is_empty() {
            choices.push("p");
        }
        if !whole {
            choices.push("d");
        }
        choices.extend(["q", "?"]);
        choices.join("/")
    }

    /// The question in lines of the terminal's width, without what the answers mean.
    fn lines(&self) -> Vec<ShownLine> {
        let mut shown = Vec::new();
        let mut all = render(&self.question).lines;
        if self.paint.is_on() && self.columns >= MIN_NUMBERED {
            number(&mut all);
        }
        let next_roles = all.iter().skip(1).map(|it| Some(it.role)).chain([None]);
        for (line, next) in all.iter().zip(next_roles) {
            // What the answers mean is for whoever asks for it, and so is its title.
            if line.role == Role::Answer || next == Some(Role::Answer) && line.role == Role::Title {
                continue;
            }
            let style = match (line.role, &line.text) {
                (Role::Change, Some(text)) => diff_lines::style(text),
                (Role::Warning, _) => Style::Warn,
                (Role::Tool | Role::Title, None) => Style::Strong,
                _ => Style::Plain,
            };
            // Wrapped by the renderer, not by the terminal: every line keeps its bar.
            let pieces = match &line.text {
                Some(_) => line.wrapped(self.columns),
                None => broken(&line.label, self.columns),
            };
            shown.extend(pieces.into_iter().map(|piece| (line.role, style, piece)));
        }
        shown
    }

    /// The lines in their colours, with the words marked in which lines of files differ.
    fn painted(&self, lines: &[ShownLine]) -> Vec<String> {
        const BAR: &str = "│ ";
        let behind_bar = |(role, _, line): &ShownLine| {
            let bar = line.find(BAR).filter(|_| *role == Role::Change);
            bar.map_or(line.len(), |at| at + BAR.len())
        };
        let texts: Vec<&str> =
            lines.iter().map(|it| it.2.get(behind_bar(it)..).unwrap_or_default()).collect();
        let marks = diff_lines::changed_words(&texts);
        let painted = lines.iter().zip(marks).map(|(line, mark)| {
            let (gutter, text) = line.2.split_at_checked(behind_bar(line)).unwrap_or(("", &line.2));
            let (gutter, text) = if text.is_empty() { (text, gutter) } else { (gutter, text) };
            let painted = self.paint.marked(line.1, text, mark);
            format!("{}{painted}", self.paint.text(Style::Faint, gutter))
        });
        painted.collect()
    }

    /// Shows the question, as much of its changes as fits the screen. True when that was all.
    fn show(&self) -> io::Result<bool> {
        let mut out = io::stderr().lock();
        writeln!(out)?;
        let (lines, left_out) = fit(self.lines(), self.rows);
        for line in self.painted(&lines) {
            writeln!(out, "{line}")?;
        }
        if let Some(covered) = self.question.session_words() {
            let text = Phrase::ForThisSession.with(covered);
            for line in layout::wrap(&one_line(&text), self.columns) {
                writeln!(out, "{}", self.paint.text(Style::Faint, &line))?;
            }
        }
        out.flush()?;
        Ok(left_out == 0)
    }

    /// All of it, in the person's pager.
    fn page(&mut self) -> io::Result<Option<Answer>> {
        let mut text = String::new();
        let head: Vec<ShownLine> =
            self.lines().into_iter().filter(|it| it.0 != Role::Change).collect();
        let diff = self.question.made().map_or("", |it| it.diff.as_str());
        let diff = DiffView::of_width(self.paint, self.columns).whole().lines(diff);
        for line in self.painted(&head).iter().chain(&diff) {
            text.push_str(line);
            text.push('\n');
        }
        let paged = pager::show(&text);
        // What was typed into the pager is no answer here.
        self.keys.forget()?;
        match paged {
            Ok(()) => Ok(None),
            Err(what) => self.say(Style::Warn, &what),
        }
    }

    /// Asks for a line; `None` when there will be none.
    pub(super) fn read(&mut self, prompt: &str) -> io::Result<Option<String>> {
        self.asked(prompt, KeyReader::line)
    }

    fn asked(
        &mut self,
        prompt: &str,
        next: fn(&mut KeyReader) -> io::Result<TypedLine>,
    ) -> io::Result<Option<String>> {
        loop {
            match self.typed(prompt, next)? {
                TypedLine::Line(line) => return Ok(Some(line)),
                TypedLine::End | TypedLine::GivenUp => return Ok(None),
                TypedLine::Resized => {}
            }
        }
    }

    /// What comes of asking for a line. Where the terminal got another size, what is said next is for that.
    fn typed(
        &mut self,
        prompt: &str,
        next: fn(&mut KeyReader) -> io::Result<TypedLine>,
    ) -> io::Result<TypedLine> {
        let mut out = io::stderr().lock();
        let prompt = layout::prompt(prompt, self.columns);
        write!(out, "{} ", self.paint.text(Style::Strong, &prompt))?;
        out.flush()?;
        drop(out);
        let typed = next(&mut self.keys)?;
        match typed {
            TypedLine::End => writeln!(io::stderr())?,
            TypedLine::Resized => {
                writeln!(io::stderr())?;
                (self.columns, self.rows) = size();
            }
            TypedLine::Line(_) | TypedLine::GivenUp => {}
        }
        Ok(typed)
    }

    pub(super) fn write_line(&self, line: &str) -> io::Result<()> {
        writeln!(io::stderr(), "{line}")
    }

    pub(super) fn say(&self, style: Style, text: &str) -> io::Result<Option<Answer>> {
        for line in layout::wrap(text, self.columns) {
            writeln!(io::stderr(), "{}", self.paint.text(style, &line))?;
        }
        Ok(None)
    }

    pub(super) fn no(&mut self) -> io::Result<Answer> {
        let reason = self.read(Phrase::Why.text())?;
        Ok(Answer::No(reason.unwrap_or_default()))
    }

    /// A line in place of the tool's result; an empty one is no answer.
    fn instead(&mut self) -> io::Result<Option<Answer>> {
        let text = self.read(Phrase::Instead.text())?.unwrap_or_default();
        Ok((!text.trim().is_empty()).then_some(Answer::Instead(text)))
    }

    /// A rule is written only after it was seen, and for every workspace only where the person
    /// spells that out.
    fn always(&mut self) -> io::Result<Option<Answer>> {
        let (Some(grant), Some((workspace, person))) = (&self.question.grant, &self.rules.files)
        else {
            return Ok(None);
        };
        let rule = rule_text(grant);
        let text = Phrase::RuleForWorkspace.with(workspace.display());
        self.say(Style::Plain, &one_line(&text))?;
        for line in rule.lines() {
            self.say(Style::Faint, &format!("    {}", one_line(line)))?;
        }
        let text = Phrase::RuleForEverywhere.with(person.display());
        self.say(Style::Plain, &one_line(&text))?;
        let answer = self.asked(Phrase::AddRule.text(), KeyReader::answer)?;
        let answer = answer.unwrap_or_default().to_lowercase();
        if answer == "everywhere"
            && let Some(grant) = &self.question.grant
        {
            self.rules.everywhere.insert(grant);
        }
        let yes = answer == "everywhere" || language::is_yes(&answer);
        Ok(yes.then_some(Answer::Always))
    }

    fn edited(&mut self) -> io::Result<Option<Answer>> {
        let edited = match edit(&self.question.args) {
            Ok(Some(args)) => return Ok(Some(Answer::Edit(args))),
            Ok(None) => Phrase::NothingChanged.text().to_owned(),
            Err(what) => one_line(&what),
        };
        // Whatever was typed into the editor's terminal is no answer here.
        self.keys.forget()?;
        self.say(Style::Warn, &edited)
    }

    fn help(&self) -> io::Result<Option<Answer>> {
        for line in render(&self.question).lines {
            let offered = !line.label.contains("is not offered");
            if line.role == Role::Answer && offered {
                let (key, meaning) = line.label.split_at_checked(ANSWER_KEY).unwrap_or_default();
                for line in layout::hang(key, meaning, self.columns) {
                    self.write_line(&line)?;
                }
            }
        }
        if self.question.made().is_some() {
            self.say(Style::Plain, Phrase::ShowAll.text())?;
        }
        if !self.choices_of_files().is_empty() {
            self.say(Style::Plain, Phrase::PickFiles.text())?;
        }
        Ok(None)
    }
}

/// A line of ours, broken between words. Only its first piece begins where lines begin: a name that somebody else chose
/// may be in the others.
fn broken(line: &str, columns: usize) -> Vec<String> {
    const INDENT: &str = "    ";
    if layout::width(line) <= columns {
        return vec![line.to_owned()];
    }
    let pieces = layout::wrap(line, columns.saturating_sub(INDENT.len()));
    let indents = std::iter::once("").chain(std::iter::repeat(INDENT));
    indents.zip(pieces).map(|(indent, piece)| format!("{indent}{piece}")).collect()
}

/// How wide and how high the terminal is.
fn size() -> (usize, Option<usize>) {
    match size_of(&io::stderr()) {
        Some((columns, rows)) => (columns, Some(rows).filter(|it| *it > 0)),
        None => (DEFAULT_COLUMNS, None),
    }
}

/// Gives lines of files their numbers, and takes away what says the same in another way.
fn number(all: &mut Vec<Line>) {
    let is_change = |it: &Line| it.role == Role::Change;
    let changes: Vec<&str> =
        all.iter().filter(|it| is_change(it)).map(|it| it.text.as_deref().unwrap_or("")).collect();
    let numbers = LineNumbers::of(&changes);
    let digits = LineNumbers::digits(&numbers);
    let mut numbers = numbers.into_iter();
    let mut first_of_file = true;
    all.retain_mut(|line| {
        if !is_change(line) {
            return true;
        }
        let its = numbers.next().unwrap_or_default();
        line.label = its.gutter(digits);
        if !its.begins_hunk {
            first_of_file = its.old.is_none() && its.new.is_none();
            return true;
        }
        line.text = Some(diff_lines::BETWEEN_HUNKS.to_owned());
        !std::mem::replace(&mut first_of_file, false)
    });
}
