//! Names of files in the headers of a unified diff.

/// The two names of a file, before and after. `None` is `/dev/null`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FileNames {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

/// Prefixes that git puts before names, old and new.
const PREFIXES: [(&str, &str); 7] = [
    ("a/", "b/"),
    ("b/", "a/"),
    ("i/", "w/"),
    ("c/", "w/"),
    ("c/", "i/"),
    ("o/", "w/"),
    ("1/", "2/"),
];

/// The name in a `---` or `+++` line: quoted, or up to a tab.
pub(super) fn in_header(rest: &str) -> Result<String, String> {
    let rest = rest.trim_start_matches(' ');
    if rest.starts_with('"') {
        return quoted(rest).map(|(name, _)| name);
    }
    let name = rest.split('\t').next().unwrap_or_default().trim_end();
    if name.is_empty() {
        Err("the name of the file is missing".to_owned())
    } else {
        Ok(name.to_owned())
    }
}

/// A whole line that is a name, as after `rename from`.
pub(super) fn whole(rest: &str) -> Result<String, String> {
    match rest.starts_with('"') {
        true => quoted(rest).map(|(name, _)| name),
        false if rest.trim().is_empty() => Err("the name of the file is missing".to_owned()),
        false => Ok(rest.to_owned()),
    }
}

/// The names in a `diff --git` line, if they can be told apart: both are the same but for their
/// prefixes, unless other headers name them again. `true`: there are no prefixes.
pub(super) fn in_git_line(rest: &str) -> Option<(String, bool)> {
    if rest.starts_with('"') {
        let (old, rest) = quoted(rest).ok()?;
        let new = whole(rest.strip_prefix(' ')?).ok()?;
        return same(&old, &new);
    }
    if rest.ends_with('"') {
        let start = rest.find(" \"")?;
        let (old, new) = rest.split_at_checked(start)?;
        return same(old, &whole(new.strip_prefix(' ')?).ok()?);
    }
    let spaces = rest.match_indices(' ').filter_map(|(at, _)| rest.split_at_checked(at));
    let mut pairs = spaces.filter_map(|(old, new)| same(old, new.strip_prefix(' ')?));
    pairs.next()
}

fn same(old: &str, new: &str) -> Option<(String, bool)> {
    if old == new {
        return Some((old.to_owned(), true));
    }
    let stripped = PREFIXES.iter().find_map(|(a, b)| {
        let (old, new) = (old.strip_prefix(a)?, new.strip_prefix(b)?);
        (old == new).then(|| old.to_owned())
    });
    stripped.map(|it| (it, false))
}

/// The names of `---` and `+++` without prefixes. `bare`: git's own line shows that there are no
/// prefixes.
pub(super) fn stripped(old: String, new: String, bare: bool) -> FileNames {
    let there = |it: String| (it != "/dev/null").then_some(it);
    if bare {
        return FileNames { old: there(old), new: there(new) };
    }
    let cut = |it: &str, prefix: &str| it.strip_prefix(prefix).unwrap_or(it).to_owned();
    let (old, new) = match (there(old), there(new)) {
        (Some(old), Some(new)) => match same(&old, &new) {
            Some((name, _)) => (Some(name.clone()), Some(name)),
            // One of them has lost its prefix on the way.
            None if cut(&old, "a/") == new => (Some(new.clone()), Some(new)),
            None if cut(&new, "b/") == old => (Some(old.clone()), Some(old)),
            None if old.starts_with("a/") && new.starts_with("b/") => {
                (Some(cut(&old, "a/")), Some(cut(&new, "b/")))
            }
            None => (Some(old), Some(new)),
        },
        (old, new) => (old.map(|it| cut(&it, "a/")), new.map(|it| cut(&it, "b/"))),
    };
    FileNames { old, new }
}

/// A name in quotes, with the escapes of C, and what follows it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let unclosed = || format!("the quoted name `{text}` has no closing quote");
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"').ok_or_else(unclosed)?;
    loop {
        let mut characters = rest.chars();
        match characters.next().ok_or_else(unclosed)? {
            '"' => break rest = characters.as_str(),
            '\\' => {
                let escaped = characters.next().ok_or_else(unclosed)?;
                rest = characters.as_str();
                let byte = match escaped {
                    'a' => 7,
                    'b' => 8,
                    't' => b'\t',
                    'n' => b'\n',
                    'v' => 11,
                    'f' => 12,
                    'r' => b'\r',
                    '"' | '\\' => escaped as u8,
                    '0'..='3' => {
                        let digits = format!("{escaped}{}", rest.get(..2).unwrap_or_default());
                        rest = rest.get(2..).unwrap_or_default();
                        let read = u8::from_str_radix(&digits, 8);
                        read.map_err(|_| format!("`\\{digits}` in the quoted name is not a byte"))?
                    }
                    _ => return Err(format!("`\\{escaped}` in the quoted name is not an escape")),
                };
                bytes.push(byte);
            }
            plain => {
                bytes.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
                rest = characters.as_str();
            }
        }
    }
    let name = String::from_utf8(bytes);
    let name = name.map_err(|_| format!("the name `{text}` is not UTF-8"))?;
    if name.is_empty() {
        Err("the name of the file is missing".to_owned())
    } else {
        Ok((name, rest))
    }
}
