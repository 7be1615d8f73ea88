//! What a search says: the page, what was left out, and how to get more.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
};

use eclusa::{Output, one_line};
use serde_json::{Value, json};

use super::{
    collector::{InFile, MatchedLine},
    grep_run::Tally,
    matches::Matches,
    messages::{self, Notes},
    page::ResultPage,
    walk::LeftOut,
};

/// What is known of a search when it is done.
pub(super) struct SearchReport<'a> {
    pub(super) from: &'a Path,
    pub(super) pattern: &'a str,
    pub(super) glob: Option<&'a str>,
    pub(super) offset: usize,
    pub(super) limit: usize,
    pub(super) tally: &'a Tally,
    pub(super) left_out: &'a LeftOut,
}

impl SearchReport<'_> {
    /// The lines that match.
    pub(super) fn content(&self, first: Matches, around: bool) -> Output {
        let (files, closed) = first.finish();
        let (mut text, mut data) = (String::new(), Vec::new());
        let (mut before, mut shown, mut last) = (0, 0, None);
        for (path, found) in &files {
            let page = self.offset.saturating_sub(before)
                ..(self.offset + self.limit).saturating_sub(before).min(found.matches);
            before += found.matches;
            shown += page.len();
            let name = messages::path(path);
            for line in found.lines.iter().filter(|it| page.contains(&it.of)) {
                // A gap between lines that belong to different matches is marked.
                let here = (path, line.number);
                let follows =
                    |(file, number): (&PathBuf, u64)| file == path && number + 1 == line.number;
                if around && last.is_some_and(|it| !follows(it)) {
                    text.push_str("--\n");
                }
                last = Some(here);
                write_line(&mut text, &name, line);
                data.push(as_data(&name, line));
            }
        }
        let more = closed || before > self.offset + shown;
        let in_files = files.len();
        let sum = match (shown, more) {
            (0, false) if before == 0 => self.nothing(),
            (0, false) => format!("no more: there are {before} matches"),
            (0, true) => {
                "too much before this page to get to it; narrow `path` or `glob`".to_owned()
            }
            (_, false) if self.offset == 0 => format!(
                "{} in {}",
                messages::count(shown, "match", "matches"),
                messages::count(in_files, "file", "files")
            ),
            _ => self.paged("matches", shown, more),
        };
        self.output(text, &sum, "matches", data.into(), more.then_some(shown))
    }

    /// The files that have a match.
    pub(super) fn files(&self, first: Matches) -> Output {
        let (files, closed) = first.finish();
        let page: Vec<String> = files
            .iter()
            .skip(self.offset)
            .take(self.limit)
            .map(|(path, _): &(PathBuf, InFile)| messages::path(path))
            .collect();
        let more = closed || files.len() > self.offset + page.len();
        let sum = match (page.len(), more) {
            (0, _) if files.is_empty() => self.nothing(),
            (0, _) => format!("no more: there are {} files", files.len()),
            (shown, false) if self.offset == 0 => {
                format!("{} with a match", messages::count(shown, "file", "files"))
            }
            (shown, more) => self.paged("files", shown, more),
        };
        let text = page.iter().flat_map(|it| [it.as_str(), "\n"]).collect();
        let next = more.then_some(page.len());
        self.output(text, &sum, "files", page.into(), next)
    }

    /// How many matches each file has.
    pub(super) fn counts(&self, page: ResultPage<usize>) -> Output {
        let (items, total) = page.finish();
        let (mut text, mut data) = (String::new(), Vec::new());
        for item in &items {
            let path = messages::path(&item.path);
            let _ = writeln!(text, "{path}:{}", item.value);
            data.push(json!({"path": path, "count": item.value}));
        }
        let sum = match total {
            0 => self.nothing(),
            _ => {
                let matches = self.tally.matches.load(Relaxed);
                let page = messages::page(items.len(), self.offset, total, "files");
                format!("{}; {page}", messages::count(matches, "match", "matches"))
            }
        };
        let next = (total > self.offset + items.len()).then_some(items.len());
        self.output(text, &sum, "counts", data.into(), next)
    }

    fn paged(&self, things: &str, shown: usize, more: bool) -> String {
        let (from, to) = (self.offset + 1, self.offset + shown);
        match more {
            true => format!("{things} {from} to {to}, and there are more: `offset: {to}`"),
            false => format!("{things} {from} to {to}; these are the last"),
        }
    }

    fn nothing(&self) -> String {
        let searched = self.tally.searched.load(Relaxed);
        let fit = self.glob.map(|it| format!(" that fit `{}`", one_line(it))).unwrap_or_default();
        format!(
            "no match for `{}` in {}{fit} in `{}`",
            one_line(self.pattern),
            messages::count(searched, "file", "files"),
            messages::path(self.from)
        )
    }

    fn output(
        &self,
        mut text: String,
        sum: &str,
        key: &str,
        found: Value,
        shown_of_more: Option<usize>,
    ) -> Output {
        let mut notes = Notes::new(self.left_out);
        let tally = self.tally;
        notes.add("binary", tally.binary.load(Relaxed), "binary");
        notes.add("too_long", tally.long.load(Relaxed), "not to the end (a line or file too long)");
        notes.add("unopened", tally.unreadable.load(Relaxed), "not opened");
        let _ = write!(text, "[{sum}{}]", notes.in_words());
        let data = json!({
            "path": messages::path(self.from),
            key: found,
            "offset": self.offset,
            "next_offset": shown_of_more.map(|it| self.offset + it),
            "searched": tally.searched.load(Relaxed),
            "left_out": notes.data(),
        });
        Output { text, data: Some(data), ..Output::default() }
    }
}

fn write_line(text: &mut String, name: &str, line: &MatchedLine) {
    let sign = if line.matches { ':' } else { '-' };
    let _ = writeln!(text, "{name}{sign}{}{sign}{}", line.number, line.text);
}

fn as_data(name: &str, line: &MatchedLine) -> Value {
    json!({"path": name, "line": line.number, "text": line.text, "match": line.matches})
}
