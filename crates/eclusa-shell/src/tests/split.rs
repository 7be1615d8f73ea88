//! A splitter for the commands of tests: blanks, quotes, backslashes, patterns and variables.

use crate::{Part, Unknown, Word};

/// The words of one simple command.
pub(crate) fn argv(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|it| it.is_whitespace()).is_some() {}
        if letters.peek().is_none() {
            return words;
        }
        words.push(word(&mut letters));
    }
}

type Letters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn word(letters: &mut Letters<'_>) -> Word {
    let mut parts: Vec<Part> = Vec::new();
    let mut source = String::new();
    while let Some(it) = letters.next_if(|it| !it.is_whitespace()) {
        source.push(it);
        match it {
            '\'' => {
                let mut text = String::new();
                for it in letters.by_ref().take_while(|it| *it != '\'') {
                    text.push(it);
                }
                source.push_str(&text);
                source.push('\'');
                push(&mut parts, &text);
            }
            '"' => {
                push(&mut parts, "");
                while let Some(it) = letters.next() {
                    source.push(it);
                    match it {
                        '"' => break,
                        '\\' => {
                            let it = letters.next().unwrap_or_default();
                            source.push(it);
                            if !"$`\"\\\n".contains(it) {
                                push(&mut parts, "\\");
                            }
                            push(&mut parts, it.encode_utf8(&mut [0; 4]));
                        }
                        '$' => variable(letters, &mut parts, &mut source, false),
                        it => push(&mut parts, it.encode_utf8(&mut [0; 4])),
                    }
                }
            }
            '\\' => {
                if let Some(it) = letters.next() {
                    source.push(it);
                    push(&mut parts, it.encode_utf8(&mut [0; 4]));
                }
            }
            '$' => variable(letters, &mut parts, &mut source, true),
            '~' if parts.is_empty() => {
                parts.push(Part::Unknown { why: Unknown::Home, splits: false });
            }
            '[' if !closes(letters.clone()) => push(&mut parts, "["),
            '*' | '?' | '[' => parts.push(Part::Glob(it.to_string())),
            it => push(&mut parts, it.encode_utf8(&mut [0; 4])),
        }
    }
    Word { parts, source }
}

fn variable(letters: &mut Letters<'_>, parts: &mut Vec<Part>, source: &mut String, splits: bool) {
    let mut name = 0;
    while let Some(it) = letters.next_if(|it| it.is_alphanumeric() || "{}_@!".contains(*it)) {
        source.push(it);
        name += 1;
    }
    if name == 0 {
        push(parts, "$");
    } else {
        parts.push(Part::Unknown { why: Unknown::Variable, splits });
    }
}

fn push(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

fn closes(letters: Letters<'_>) -> bool {
    letters.take_while(|it| !it.is_whitespace()).any(|it| it == ']')
}
