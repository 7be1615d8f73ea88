//! Texts in words: what may be code for a shell, whatever program it is given to.

use std::borrow::Cow;

use super::destroys;
use super::indirect::{MAX_TEXT, Suspect};
use crate::Word;

/// Functions of libraries that remove a whole directory.
const REMOVERS: [&str; 5] = ["rmtree", "rm_rf", "rmSync", "remove_tree", "removeSync"];

/// A word that may be code: as shell text, behind what editors and flags put before it, and the
/// strings in it.
pub(super) fn texts(text: &str, found: &mut Vec<Suspect>) {
    if text.len() > MAX_TEXT || !text.contains([' ', '\t', '\n', '{', '(', '>']) {
        return;
    }
    if forks_in_loop(text) {
        found.push(Suspect::Text(":(){ :|:& };:".to_owned()));
    }
    let marks = |it: char| matches!(it, ':' | '!' | '+' | '|' | '@' | ' ');
    let bare = text.trim_start_matches(marks);
    let bare = bare.strip_prefix("shell ").unwrap_or(bare);
    found.push(Suspect::Text(bare.to_owned()));
    // `system(q{…})`
    let braced = text.split_once("q{").and_then(|(_, it)| it.rsplit_once('}'));
    found.extend(braced.map(|(it, _)| Suspect::Text(it.to_owned())));
    // The name of a function can be such a mark too.
    for text in [Some(text), text.split_once([':', '!', '=']).map(|(_, text)| text)] {
        let text = text.map(|it| it.trim_start_matches("exec=").trim_start_matches('!'));
        let named = text.filter(|it| it.starts_with(':'));
        found.extend(named.map(|it| Suspect::Text(it.to_owned())));
    }
    found.extend(planned(text));
    let behind = [
        text.split_once('=').map(|(_, value)| value),
        text.strip_prefix('-').and_then(|it| it.get(1..)),
    ];
    for value in behind.into_iter().flatten() {
        let value = value.trim_start_matches("exec=").trim_start_matches(marks);
        if value.contains([' ', '\t', '{', '(']) {
            found.push(Suspect::Text(value.to_owned()));
        }
    }
    let removes = REMOVERS.iter().any(|it| text.contains(it));
    let writes = text.contains("write") || text.contains("'w") || text.contains("\"w");
    let strings = strings(text);
    // `["rm", "-rf", "/"]`
    if strings.len() > 2 && strings.iter().any(|it| destroys(it)) {
        found.push(Suspect::Text(strings.join(" ")));
    }
    for string in strings.into_iter().filter(|it| it.contains([' ', '/', '~'])) {
        if string.contains('\\') {
            let plain = string.replace("\\n", "\n").replace("\\t", "\t");
            found.push(Suspect::Text(plain.replace("\\\\", "\\").replace("\\\"", "\"")));
        }
        let text = match () {
            () if removes => format!("rm -rf {string}"),
            () if writes && string.starts_with("/dev/") => format!("> {string}"),
            () => string.to_owned(),
        };
        found.push(Suspect::Text(text));
    }
}

/// `* * * * * rm -rf /`: what stands behind the time of a task that is planned.
fn planned(text: &str) -> Option<Suspect> {
    let fields = if text.starts_with('@') { 1 } else { 5 };
    let field =
        |it: &str| it.starts_with('@') || it.chars().all(|it| "0123456789*/,-".contains(it));
    let mut rest = text.trim_start();
    for _ in 0..fields {
        let (first, behind) = rest.split_once([' ', '\t'])?;
        if !field(first) {
            return None;
        }
        rest = behind.trim_start();
    }
    Some(Suspect::Text(rest.to_owned()))
}

/// `s/…/rm -rf \\//e`: what sed puts in is run. The pieces between its marks.
pub(super) fn pieces(program: &str) -> Vec<Suspect> {
    let Some(mark) = program.trim_start_matches(|it: char| it != 's').chars().nth(1) else {
        return Vec::new();
    };
    let plain = program.replace(&format!("\\{mark}"), "\u{1}");
    let pieces = plain.split(mark).filter(|it| it.contains(' '));
    pieces.map(|it| Suspect::Text(it.replace('\u{1}', &mark.to_string()))).collect()
}

/// `parallel 'rm -rf {}' ::: /`
pub(super) fn in_parallel(words: &[Word]) -> Vec<Suspect> {
    let texts: Vec<Cow<'_, str>> = words.iter().filter_map(Word::text).collect();
    let Some(at) = texts.iter().position(|it| it.starts_with(":::")) else { return Vec::new() };
    let (own, given) = texts.split_at_checked(at).unwrap_or_default();
    let script = own.iter().skip(1).map(|it| &**it).collect::<Vec<_>>().join(" ");
    let mark = script.contains("{}");
    let filled = given.iter().skip(1).take(8).map(|it| match mark {
        true => script.replace("{}", it),
        false => format!("{script} {it}"),
    });
    filled.map(Suspect::Text).collect()
}

/// What stands between quotes in a program of some language.
pub(super) fn strings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        match open {
            _ if escaped => escaped = false,
            _ if it == '\\' => escaped = true,
            Some((quote, from)) if it == quote => {
                found.extend(text.get(from..at));
                open = None;
            }
            Some(_) => {}
            None if matches!(it, '"' | '\'' | '`') => open = Some((it, at + 1)),
            None => {}
        }
    }
    found
}

/// `fork while fork` and its like, in any language.
fn forks_in_loop(text: &str) -> bool {
    let loops = ["while", "loop", "until", "for ", "for(", "iter("];
    let mut words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|it| it == "fork") && loops.iter().any(|it| text.contains(it))
}
