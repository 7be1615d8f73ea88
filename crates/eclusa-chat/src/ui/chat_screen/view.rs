//! What a chat shows: finished lines once, and below them a live block with what is under way, the
//! messages that wait, the input and the status.

use std::time::{Duration, Instant};

use super::{composer::Composer, markdown::Markdown, scrollback::LiveBlock};
use crate::ui::{
    call_line::{EndedCall, elapsed, one_line},
    screen::{Paint, Style, diff_view::DiffView, layout},
};

#[cfg(test)]
mod tests;

/// Rows of the input that are shown at most; more can be scrolled to with the cursor.
const MAX_INPUT_ROWS: usize = 8;

/// Rows of a command's output that are shown.
const OUTPUT_ROWS: usize = 3;

/// And of a diff that nobody was asked about.
const DIFF_ROWS: usize = 12;

/// Rows of unfinished text that are shown at most.
const MAX_LIVE_ROWS: usize = 6;

/// The line of a call is no wider, so that its end is found.
const MAX_CALL_COLUMNS: usize = 100;

/// Text is not wrapped at less, however narrow the terminal is.
const MIN_COLUMNS: usize = 10;

/// Between the parts of the status line.
const SEPARATOR: &str = " · ";

/// A name in the status line is not shortened to less.
const MIN_NAME_COLUMNS: usize = 24;

/// The mark before the input, and the blanks below it.
const PROMPT: &str = "› ";

/// What the bottom line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    /// Persona, model and mode.
    pub(crate) names: Vec<String>,
    /// How much of the window is used, in percent, and how large it is.
    pub(crate) context: Option<(u64, u64)>,
    /// What the conversation has cost so far.
    pub(crate) cost: Option<String>,
    /// Where text from outside came from.
    pub(crate) taint: Option<String>,
}

/// A call that is under way.
#[derive(Debug)]
struct RunningCall {
    id: String,
    tool: String,
    about: String,
    progress: String,
    began: Instant,
}

/// The state of the screen.
#[derive(Debug)]
pub(crate) struct View {
    paint: Paint,
    columns: usize,
    /// Lines that have not been printed yet.
    finished: Vec<String>,
    markdown: Markdown,
    /// The line that the model is writing.
    partial: String,
    /// What is under way besides: a request, a retry.
    activity: Option<(String, Instant)>,
    calls: Vec<RunningCall>,
    queued: Vec<String>,
    /// Suggestions below the input.
    suggestions: Vec<String>,
    /// A line about keys that matter now.
    hint: Option<String>,
    /// The input.
    pub(crate) composer: Composer,
    /// The bottom line.
    pub(crate) status: Status,
}

impl View {
    /// An empty screen.
    pub(crate) fn new(paint: Paint, columns: usize) -> View {
        View {
            paint,
            columns,
            finished: Vec::new(),
            markdown: Markdown::default(),
            partial: String::new(),
            activity: None,
            calls: Vec::new(),
            queued: Vec::new(),
            suggestions: Vec::new(),
            hint: None,
            composer: Composer::default(),
            status: Status::default(),
        }
    }

    /// The terminal has another width.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Prints our own words.
    pub(crate) fn say(&mut self, style: Style, text: &str) {
        self.end_text();
        for line in text.split('\n') {
            for row in layout::wrap(line, self.columns) {
                self.finished.push(self.paint.text(style, &row).into_owned());
            }
        }
    }

    /// Prints what the person said.
    pub(crate) fn person_said(&mut self, text: &str) {
        self.end_text();
        self.finished.push(String::new());
        let (first, rest) = ("you › ", "      ");
        for (at, line) in text.split('\n').enumerate() {
            let lead = if at == 0 { first } else { rest };
            for (piece, row) in layout::wrap(line, self.columns.saturating_sub(6).max(MIN_COLUMNS))
                .iter()
                .enumerate()
            {
                let lead = if piece == 0 { lead } else { rest };
                self.finished.push(format!("{}{row}", self.paint.text(Style::Good, lead)));
            }
        }
    }

    /// The model wrote this. Whole lines are finished; the rest is live.
    pub(crate) fn model_wrote(&mut self, text: &str) {
        self.activity = None;
        for (at, piece) in text.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            self.partial.push_str(piece);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        let rows = self.markdown.line(&line, self.text_columns(), self.paint);
        self.print_rows(rows);
    }

    /// How wide the model's text may be.
    fn text_columns(&self) -> usize {
        self.columns.saturating_sub(2).max(MIN_COLUMNS)
    }

    fn print_rows(&mut self, rows: Vec<String>) {
        self.finished.extend(rows.into_iter().map(|row| format!("  {row}").trim_end().to_owned()));
    }

    /// The model's text is at an end.
    pub(crate) fn end_text(&mut self) {
        if !self.partial.is_empty() {
            self.end_line();
        }
        let rows = self.markdown.end_table(self.text_columns(), self.paint);
        self.print_rows(rows);
        self.markdown = Markdown::default();
    }

    /// What the model had written of this message is void: the request is made again.
    pub(crate) fn strike_partial(&mut self) {
        self.partial.clear();
        self.markdown = Markdown::default();
    }

    /// Something is under way that has no line of its own.
    pub(crate) fn wait_for(&mut self, what: &str, now: Instant) {
        if self.activity.as_ref().is_none_or(|(before, _)| before != what) {
            self.activity = Some((what.to_owned(), now));
        }
    }

    /// Nothing is under way.
    pub(crate) fn idle(&mut self) {
        self.end_text();
        self.activity = None;
        self.calls.clear();
    }

    /// A call begins.
    pub(crate) fn call_began(&mut self, id: &str, tool: &str, about: &str, now: Instant) {
        self.end_text();
        self.activity = None;
        let (id, tool, progress) = (id.to_owned(), one_line(tool), String::new());
        self.calls.push(RunningCall { id, tool, about: one_line(about), progress, began: now });
    }

    /// A call says how far it is.
    pub(crate) fn call_progress(&mut self, id: &str, detail: &str) {
        if let Some(call) = self.calls.iter_mut().find(|it| it.id == id) {
            call.progress = one_line(detail);
        }
    }

    /// A call is at its end: one line, with its number in the log.
    pub(crate) fn call_ended(&mut self, id: &str, end: &EndedCall) {
        let Some(at) = self.calls.iter().position(|it| it.id == id) else { return };
        let call = self.calls.remove(at);
        self.print_call(&call.tool, &call.about, end);
    }

    /// Prints a call that is over. What has no room beside its name stands below it.
    pub(crate) fn print_call(&mut self, tool: &str, about: &str, end: &EndedCall) {
        let ((style, mark), tail) = (end.mark(), end.tail());
        let head = format!("{:<6} {}", one_line(tool), one_line(about));
        let room = self.columns.min(MAX_CALL_COLUMNS).saturating_sub(4).max(10);
        let beside = layout::width(&head) + 2 + layout::width(&tail) <= room || end.note.is_empty();
        let (tail, below) = if beside { (tail, String::new()) } else { (String::new(), tail) };
        let head = layout::cut(&head, room.saturating_sub(layout::width(&tail) + 2).max(10));
        let gap = room.saturating_sub(layout::width(&head) + layout::width(&tail)).max(2);
        let line = format!(
            "  {} {head}{}{}",
            self.paint.text(style, mark),
            " ".repeat(gap),
            self.paint.text(Style::Faint, &tail)
        );
        self.finished.push(line.trim_end().to_owned());
        let below = if below.is_empty() { Vec::new() } else { layout::wrap(&below, room - 4) };
        for row in below {
            self.finished.push(format!("      {}", self.paint.text(Style::Faint, &row)));
        }
    }

    /// Prints the beginning of what a call put out.
    pub(crate) fn print_output(&mut self, output: &str) {
        let lines: Vec<&str> = output.lines().filter(|it| !it.trim().is_empty()).collect();
        let room = self.columns.saturating_sub(6).max(10);
        for line in lines.iter().take(OUTPUT_ROWS) {
            let line = layout::cut(&line.replace('\t', "  "), room);
            self.finished.push(format!("      {}", self.paint.text(Style::Faint, &line)));
        }
        if lines.len() > OUTPUT_ROWS {
            let more = format!("      … {} more lines: Ctrl+O", lines.len() - OUTPUT_ROWS);
            self.finished.push(self.paint.text(Style::Faint, &more).into_owned());
        }
    }

    /// Prints the beginning of what a call changed that nobody was asked about.
    pub(crate) fn print_diff(&mut self, call: u64, diff: &str) {
        let lines = DiffView::of_width(self.paint, self.columns).indented(6).lines(diff);
        for line in lines.iter().take(DIFF_ROWS) {
            self.finished.push(format!("      {line}"));
        }
        if lines.len() > DIFF_ROWS {
            let more = lines.len() - DIFF_ROWS;
            let more = format!("      … {more} more lines: !eclusa changes show {call}");
            self.finished.push(self.paint.text(Style::Faint, &more).into_owned());
        }
    }

    /// Messages that wait until the model can be told.
    pub(crate) fn set_queued(&mut self, queued: Vec<String>) {
        self.queued = queued;
    }

    /// What could be meant by the word that is being typed.
    pub(crate) fn suggest(&mut self, suggestions: Vec<String>) {
        self.suggestions = suggestions;
    }

    /// A line about keys, until the next key.
    pub(crate) fn hint(&mut self, hint: Option<&str>) {
        self.hint = hint.map(str::to_owned);
    }

    /// Whether something is under way, so that the time shown must go on.
    pub(crate) fn is_busy(&self) -> bool {
        self.activity.is_some() || !self.calls.is_empty()
    }

    /// The lines that are finished since the last time, and the block.
    pub(crate) fn frame(&mut self, now: Instant) -> (Vec<String>, LiveBlock) {
        let finished = std::mem::take(&mut self.finished);
        let mut rows: Vec<String> = Vec::new();
        if !self.partial.is_empty() {
            let partial = self.partial.replace('\t', "    ");
            let wrapped = layout::wrap(&partial, self.columns.saturating_sub(3).max(MIN_COLUMNS));
            let skip = wrapped.len().saturating_sub(MAX_LIVE_ROWS);
            rows.extend(wrapped.iter().skip(skip).map(|row| format!("  {row}")));
        }
        for call in &self.calls {
            let mark = self.paint.text(Style::Warn, "⋯");
            let took = since(call.began, now);
            let RunningCall { tool, about, progress, .. } = call;
            rows.push(
                format!("  {mark} {tool:<6} {about}  {took}{progress}").trim_end().to_owned(),
            );
        }
        if let Some((what, began)) = &self.activity {
            let text = format!("  ⋯ {what}  {}", since(*began, now));
            rows.push(self.paint.text(Style::Faint, &text).into_owned());
        }
        for (at, text) in self.queued.iter().enumerate() {
            let keys = if at + 1 == self.queued.len() { "  (↑ takes it back)" } else { "" };
            let text = format!("  then: {}{keys}", one_line(text));
            rows.push(self.paint.text(Style::Faint, &text).into_owned());
        }
        rows.push(String::new());
        let (input, (row, column)) = self.composer.rows(self.columns.saturating_sub(4));
        let skip = row.saturating_sub(MAX_INPUT_ROWS - 1);
        let cursor = (rows.len() + row - skip, column + layout::width(PROMPT));
        for (at, text) in input.iter().enumerate().skip(skip).take(MAX_INPUT_ROWS) {
            let lead = if at == 0 { PROMPT } else { "  " };
            rows.push(format!("{}{text}", self.paint.text(Style::Good, lead)));
        }
        for suggestion in self.suggestions.iter().take(6) {
            rows.push(self.paint.text(Style::Faint, &format!("  {suggestion}")).into_owned());
        }
        let bottom =
            self.hint.clone().unwrap_or_else(|| self.status.line(self.columns.saturating_sub(3)));
        rows.push(self.paint.text(Style::Faint, &format!("  {bottom}")).into_owned());
        (finished, LiveBlock { rows, cursor })
    }
}

impl Status {
    /// The bottom line. Where it is wider than this, the longest name gives way in its middle: a model may be
    /// called by the path of a file.
    fn line(&self, columns: usize) -> String {
        let mut rest = Vec::new();
        if let Some((used, window)) = self.context {
            rest.push(format!("{used} % of {}k", window / 1000));
        }
        rest.extend(self.cost.clone());
        rest.extend(self.taint.as_ref().map(|it| format!("text from outside: {it}")));
        let mut names = self.names.clone();
        let over = layout::width(&[names.as_slice(), &rest].concat().join(SEPARATOR))
            .saturating_sub(columns);
        if let Some(longest) = names.iter_mut().max_by_key(|it| layout::width(it)) {
            let room = layout::width(longest).saturating_sub(over).max(MIN_NAME_COLUMNS);
            *longest = layout::cut_middle(longest, room);
        }
        [names, rest].concat().join(SEPARATOR)
    }
}

/// How long something has been under way, once that is long enough to matter.
fn since(began: Instant, now: Instant) -> String {
    let time = now.saturating_duration_since(began);
    if time < Duration::from_secs(1) { String::new() } else { format!("{}  ", elapsed(time)) }
}
