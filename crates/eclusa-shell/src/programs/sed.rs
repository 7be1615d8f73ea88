//! Programs for sed: which files they write and read, and whether they run anything.

use crate::Word;

use super::class::Class;
use super::profile::{CommandProfile, How};

/// Reads a program for sed.
pub(crate) fn read(word: &Word, profile: &mut CommandProfile) {
    let Some(text) = word.text() else {
        profile.doubt(format!("the program `{}` is only known when it runs", word.source));
        return;
    };
    let mut scan = Scan { rest: text.chars().collect(), at: 0, profile };
    if scan.program().is_none() {
        scan.profile.doubt(format!("the sed program `{}` is not understood", word.source));
    }
}

struct Scan<'r> {
    rest: Vec<char>,
    at: usize,
    profile: &'r mut CommandProfile,
}

impl Scan<'_> {
    /// Commands up to the end. None: not understood.
    fn program(&mut self) -> Option<()> {
        loop {
            self.skip(|it| it.is_whitespace() || it == ';' || it == '}');
            if self.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += 1;
        Some(found)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        self.skip(|it| it == ' ' || it == '\t');
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.peek() == Some(',') {
                self.at += 1;
                self.blanks();
                if matches!(self.peek(), Some('+' | '~')) {
                    self.at += 1;
                    self.skip(|it| it.is_ascii_digit());
                } else if !self.address()? {
                    return None;
                }
            }
        }
        self.blanks();
        self.skip(|it| it == '!' || it == ' ');
        Some(())
    }

    /// One address. Some(false): there is none.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some(it) if it.is_ascii_digit() => {
                self.skip(|it| it.is_ascii_digit());
                if self.peek() == Some('~') {
                    self.at += 1;
                    self.skip(|it| it.is_ascii_digit());
                }
            }
            Some('/') => {
                self.at += 1;
                self.until('/', true)?;
                self.skip(|it| it == 'I' || it == 'M');
            }
            Some('\\') => {
                self.at += 1;
                let mark = self.next().filter(|it| *it != '\n' && *it != '\\')?;
                self.until(mark, true)?;
                self.skip(|it| it == 'I' || it == 'M');
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Skips to the mark and over it. In a pattern a mark inside brackets is text, for some
    /// versions of sed and not for others: not understood.
    fn until(&mut self, mark: char, pattern: bool) -> Option<()> {
        let mut bracket = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                it if it == mark => return (!bracket).then_some(()),
                '[' if pattern => {
                    bracket = true;
                    if self.peek() == Some('^') {
                        self.at += 1;
                    }
                    if self.peek() == Some(']') {
                        self.at += 1;
                    }
                }
                ']' => bracket = false,
                '\n' if pattern => return None,
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' => Some(()),
            'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | '=' | 'F' => {
                self.end()
            }
            '#' => {
                self.line();
                Some(())
            }
            // Some versions end a label at a blank, some at the end of the line.
            ':' | 'b' | 't' | 'T' => {
                self.blanks();
                self.skip(|it| !it.is_whitespace() && it != ';' && it != '}');
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.skip(|it| it.is_ascii_digit());
                self.end()
            }
            'y' => {
                let mark = self.next()?;
                self.until(mark, false)?;
                self.until(mark, false)?;
                self.end()
            }
            's' => self.substitution(),
            'r' | 'R' => {
                let path = self.line();
                self.profile.path(Word::literal(path), How::Read);
                Some(())
            }
            'w' | 'W' => {
                let path = self.line();
                self.writes(path);
                Some(())
            }
            'e' => {
                let script = self.line();
                self.profile.add(Class::RunsCode, "`e` in a sed program runs a command".to_owned());
                if !script.is_empty() {
                    self.profile.scripts.push(Word::literal(script));
                }
                Some(())
            }
            _ => None,
        }
    }

    /// What may stand behind a command without arguments.
    fn end(&mut self) -> Option<()> {
        self.blanks();
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Some(()),
            Some(_) => None,
        }
    }

    /// The text of `a`, `i` and `c`: to the end of the line, and on where the line ends in `\`.
    fn text(&mut self) -> Option<()> {
        loop {
            let line = self.line();
            let escapes = line.chars().rev().take_while(|it| *it == '\\').count();
            if escapes % 2 == 0 || self.peek().is_none() {
                return Some(());
            }
        }
    }

    fn substitution(&mut self) -> Option<()> {
        let mark = self.next().filter(|it| *it != '\n' && *it != '\\')?;
        self.until(mark, true)?;
        self.until(mark, false)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M') => self.at += 1,
                Some(it) if it.is_ascii_digit() => self.at += 1,
                Some('e') => {
                    self.at += 1;
                    let what = "`e` behind a substitution of sed runs the result";
                    self.profile.add(Class::RunsCode, what.to_owned());
                }
                Some('w') => {
                    self.at += 1;
                    let path = self.line();
                    self.writes(path);
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }

    fn writes(&mut self, path: String) {
        if !matches!(path.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/null") {
            self.profile.add(Class::Writes, format!("a sed program writes `{path}`"));
        }
        self.profile.path(Word::literal(path), How::Written);
    }

    /// The rest of the line, without the blanks before it.
    fn line(&mut self) -> String {
        self.blanks();
        let mut line = String::new();
        while let Some(it) = self.next() {
            if it == '\n' {
                break;
            }
            line.push(it);
        }
        line
    }
}
