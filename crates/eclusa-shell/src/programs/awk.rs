//! Programs for awk: whether they print into files, run commands, or read files that nobody named.

use crate::Word;

use super::class::Class;
use super::profile::CommandProfile;

/// Names that reach outside of the program.
const OUTSIDE: [(&str, Class, &str); 6] = [
    ("system", Class::RunsCode, "runs a command"),
    ("ENVIRON", Class::Reveals, "prints the environment"),
    ("PROCINFO", Class::Reveals, "prints about processes"),
    ("SYMTAB", Class::Unknown, "reaches every variable"),
    ("FUNCTAB", Class::Unknown, "reaches every function"),
    ("ARGV", Class::Unknown, "changes which files are read"),
];

/// Reads a program for awk.
pub(crate) fn read(word: &Word, profile: &mut CommandProfile) {
    let Some(text) = word.text() else {
        profile.doubt(format!("the program `{}` is only known when it runs", word.source));
        return;
    };
    let Some(tokens) = tokens(&text) else {
        profile.doubt(format!("the awk program `{}` is not understood", word.source));
        return;
    };
    judge(&tokens, profile);
}

/// As much of a token as matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    /// A string, a number or a regular expression.
    Value,
    Sign(char),
}

fn judge(tokens: &[Token], profile: &mut CommandProfile) {
    // Inside parentheses and conditions `>` compares; in a print statement it writes.
    let mut printing = None;
    let mut depth = 0_usize;
    for token in tokens {
        match token {
            Token::Name(name) => {
                if matches!(name.as_str(), "print" | "printf") {
                    printing = Some(depth);
                }
                name_outside(name, profile);
            }
            Token::Value => {}
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign('{' | '}' | ';' | '\n') => printing = None,
            Token::Sign('>') if printing == Some(depth) => {
                profile.add(Class::Writes, "an awk program prints into a file".to_owned());
            }
            Token::Sign('|') => {
                profile.add(Class::RunsCode, "an awk program runs a command by a pipe".to_owned());
            }
            Token::Sign('@') => {
                profile.doubt("an awk program calls by name or includes".to_owned())
            }
            Token::Sign(_) => {}
        }
    }
}

fn name_outside(name: &str, profile: &mut CommandProfile) {
    for (known, class, what) in OUTSIDE {
        if name == known {
            let what = format!("`{name}` in an awk program {what}");
            if class == Class::Unknown { profile.doubt(what) } else { profile.add(class, what) }
        }
    }
    if name == "getline" {
        profile.doubt("`getline` in an awk program reads files that nobody named".to_owned());
    }
}

/// Cuts the program into tokens. None: it does not end where it should.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut list: Vec<Token> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match it {
            '#' => while rest.next_if(|it| *it != '\n').is_some() {},
            '"' => {
                until(&mut rest, '"')?;
                list.push(Token::Value);
            }
            '/' => {
                if is_regex(&list)? {
                    until(&mut rest, '/')?;
                    list.push(Token::Value);
                } else if hides_quotes(rest.clone()) {
                    return None;
                } else {
                    list.push(Token::Sign('/'));
                }
            }
            '|' if rest.next_if_eq(&'|').is_some() => list.push(Token::Sign('o')),
            '&' if rest.next_if_eq(&'&').is_some() => list.push(Token::Sign('a')),
            '\\' if rest.next_if_eq(&'\n').is_some() => {}
            it if it == '_' || it.is_ascii_alphabetic() => {
                let mut name = String::from(it);
                while let Some(it) = rest.next_if(|it| *it == '_' || it.is_ascii_alphanumeric()) {
                    name.push(it);
                }
                list.push(Token::Name(name));
            }
            it if it.is_ascii_digit() => list.push(Token::Value),
            '\n' => list.push(Token::Sign('\n')),
            it if it.is_whitespace() => {}
            it => list.push(Token::Sign(it)),
        }
    }
    Some(list)
}

/// A slash begins a regular expression where no value stands before it. None: nobody can tell,
/// because `++` and `--` stand before values and behind them.
fn is_regex(list: &[Token]) -> Option<bool> {
    match list {
        [.., Token::Sign(one @ ('+' | '-')), Token::Sign(two)] if one == two => None,
        [.., Token::Name(name)] => {
            Some(matches!(name.as_str(), "print" | "return" | "in" | "case"))
        }
        [.., Token::Value | Token::Sign(')' | ']' | '$')] => Some(false),
        _ => Some(true),
    }
}

/// True when, should this be a regular expression after all, it would hold a quote.
fn hides_quotes(rest: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let line: String = rest.take_while(|it| *it != '\n').collect();
    line.rsplit_once('/').is_some_and(|(inside, _)| inside.contains('"'))
}

/// Skips to the mark and over it. A mark inside brackets means different things to different
/// awks: not understood.
fn until(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, mark: char) -> Option<()> {
    let mut bracket = false;
    while let Some(it) = rest.next() {
        match it {
            '\\' => {
                rest.next()?;
            }
            '\n' => return None,
            it if it == mark => return (!bracket).then_some(()),
            '[' if mark == '/' => bracket = true,
            ']' => bracket = false,
            _ => {}
        }
    }
    None
}
