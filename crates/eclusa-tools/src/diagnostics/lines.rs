//! Diagnostics in lines of text: tsc, gcc and clang, ruff, rustc for people, eslint's stylish.

use super::{Diagnostic, Parsed, Severity, braces::ruff_severity};

/// What earlier lines said that later ones belong to.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    /// The file that eslint's rows are about.
    file: Option<String>,
    /// What is wrong, while the place is still to come (` --> path:1:2`).
    waiting: Option<Diagnostic>,
}

impl LineReader {
    pub(super) fn read(&mut self, line: &str, into: &mut Parsed) {
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            if let Some(waiting) = self.waiting.take() {
                into.add(placed(waiting, place));
            }
            return;
        }
        self.settle(into);
        if let Some(row) = self.file.as_ref().and_then(|file| stylish(file, line)) {
            into.add(row);
        } else if let Some(found) = tsc(line).or_else(|| located(line)) {
            self.file = None;
            into.add(found);
        } else if let Some(found) = headed(line) {
            self.file = None;
            self.waiting = Some(found);
        } else if !line.starts_with([' ', '\t']) && !line.is_empty() {
            self.file = Some(line.to_owned());
        }
    }
}

impl LineReader {
    /// What waits for a place and is not followed by one has none: an error is told all the same,
    /// unless it only says that there were errors.
    pub(super) fn settle(&mut self, into: &mut Parsed) {
        let sums = ["could not compile", "aborting due to", "build failed"];
        if let Some(it) = self.waiting.take()
            && it.severity == Severity::Error
            && it.source == "rustc"
            && !sums.iter().any(|sum| it.message.starts_with(sum))
        {
            into.add(it);
        }
    }
}

/// `src/a.ts(12,5): error TS2304: message`, and without a place `error TS5058: message`.
fn tsc(line: &str) -> Option<Diagnostic> {
    if let Some((severity, code, message)) = coded(line) {
        return Some(tsc_said(None, None, None, severity, code, message));
    }
    for (at, _) in line.match_indices("): ") {
        let (head, rest) = (line.get(..at)?, line.get(at + 3..)?);
        let Some((path, place)) = head.rsplit_once('(') else { continue };
        let Some((row, column)) = place.split_once(',') else { continue };
        let (Some(row), Some(column)) = (number(row), number(column)) else { continue };
        let Some((severity, code, message)) = coded(rest) else { continue };
        return Some(tsc_said(Some(path), Some(row), Some(column), severity, code, message));
    }
    None
}

/// `error TS2304: message`.
fn coded(text: &str) -> Option<(Severity, &str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let (code, message) = rest.split_once(": ")?;
    let number = code.strip_prefix("TS")?;
    (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
        .then(|| Some((Severity::parse(word)?, code, message)))?
}

fn tsc_said(
    path: Option<&str>,
    line: Option<u64>,
    column: Option<u64>,
    severity: Severity,
    code: &str,
    message: &str,
) -> Diagnostic {
    Diagnostic {
        path: path.map(str::to_owned),
        line,
        column,
        severity,
        code: Some(code.to_owned()),
        message: message.to_owned(),
        source: "tsc",
    }
}

/// `path:1:2: …` and `path:1: …` of gcc, clang, ruff and many more; `path:1:2 - …` of tsc.
fn located(line: &str) -> Option<Diagnostic> {
    let (path, row, column, rest) = place(line)?;
    let said = |severity, code: Option<&str>, message: &str, source| {
        Some(Diagnostic {
            path: Some(path.to_owned()),
            line: Some(row),
            column,
            severity,
            code: code.map(str::to_owned),
            message: message.to_owned(),
            source,
        })
    };
    if let Some(rest) = rest.strip_prefix("- ") {
        let (severity, code, message) = coded(rest)?;
        return said(severity, Some(code), message, "tsc");
    }
    if let Some((word, message)) = rest.split_once(": ")
        && let Some(severity) = Severity::parse(word)
    {
        let (message, code) = bracketed(message);
        return said(severity, code, message, "gcc");
    }
    let (code, message) = ruff_code(rest)?;
    said(ruff_severity(Some(code)), Some(code), message, "ruff")
}

/// The place that a line begins with, and what follows it.
fn place(line: &str) -> Option<(&str, u64, Option<u64>, &str)> {
    // The first colon with a number behind it: a path may have colons of its own.
    for (at, _) in line.match_indices(':').take(64) {
        let (path, rest) = (line.get(..at)?, line.get(at + 1..)?);
        let Some((row, rest)) = leading(rest) else { continue };
        if path.trim().is_empty() || path.starts_with([' ', '\t']) {
            return None;
        }
        let second = rest.strip_prefix(':').and_then(leading);
        let (column, rest) = match second {
            Some((column, rest)) => (Some(column), rest),
            None => (None, rest),
        };
        let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '))?;
        return Some((path, row, column, rest));
    }
    None
}

/// `F401 [*] message`, or `SyntaxError: message`.
fn ruff_code(text: &str) -> Option<(&str, &str)> {
    if let Some(message) =
        text.strip_prefix("SyntaxError: ").or_else(|| text.strip_prefix("invalid-syntax: "))
    {
        return Some(("invalid-syntax", message));
    }
    let (code, message) = text.split_once(' ')?;
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code.get(letters..)?;
    let fits = (1..=7).contains(&letters)
        && (1..=4).contains(&digits.len())
        && digits.bytes().all(|it| it.is_ascii_digit());
    fits.then(|| (code, message.strip_prefix("[*] ").unwrap_or(message)))
}

/// What is wrong, in a line before the one that says where: rustc's and ruff's long form.
fn headed(line: &str) -> Option<Diagnostic> {
    let said = |severity, code: Option<&str>, message: &str, source| Diagnostic {
        path: None,
        line: None,
        column: None,
        severity,
        code: code.map(str::to_owned),
        message: message.to_owned(),
        source,
    };
    if let Some((head, message)) = line.split_once(": ") {
        let (word, code) = match head.split_once('[') {
            Some((word, code)) => (word, code.strip_suffix(']')),
            None => (head, None),
        };
        if let Some(severity @ (Severity::Error | Severity::Warning)) = Severity::parse(word) {
            return Some(said(severity, code, message, "rustc"));
        }
    }
    let (code, message) = ruff_code(line)?;
    Some(said(ruff_severity(Some(code)), Some(code), message, "ruff"))
}

fn placed(found: Diagnostic, place: &str) -> Diagnostic {
    let mut parts = place.trim().rsplitn(3, ':');
    let (column, row, path) = (parts.next(), parts.next(), parts.next());
    match (path, row.and_then(number), column.and_then(number)) {
        (Some(path), Some(row), Some(column)) => Diagnostic {
            path: Some(path.to_owned()),
            line: Some(row),
            column: Some(column),
            ..found
        },
        _ => Diagnostic { path: Some(place.trim().to_owned()), ..found },
    }
}

/// `  1:10  error  message  rule`: the row of a file that was named before.
fn stylish(file: &str, line: &str) -> Option<Diagnostic> {
    let row = line.strip_prefix([' ', '\t'])?.trim();
    let (at, rest) = row.split_once([' ', '\t'])?;
    let (line, column) = at.split_once(':')?;
    let (word, rest) = rest.trim_start().split_once([' ', '\t'])?;
    let severity = match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let rest = rest.trim_start();
    let (message, code) = match rest.rsplit_once("  ") {
        Some((message, code)) if !code.trim().contains(' ') => (message, Some(code.trim())),
        _ => (rest, None),
    };
    Some(Diagnostic {
        path: Some(file.to_owned()),
        line: Some(number(line)?),
        column: Some(number(column)?),
        severity,
        code: code.map(str::to_owned),
        message: message.trim_end().to_owned(),
        source: "eslint",
    })
}

/// A message and the name in brackets at its end: `[-Wunused]`, `[attr-defined]`.
fn bracketed(message: &str) -> (&str, Option<&str>) {
    let inside = message.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    match inside {
        Some((before, code)) if !code.is_empty() && !code.contains(' ') => {
            (before.trim_end(), Some(code))
        }
        _ => (message, None),
    }
}

/// The number that a text begins with, and the rest.
fn leading(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    Some((number(text.get(..end)?)?, text.get(end..)?))
}

fn number(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}
