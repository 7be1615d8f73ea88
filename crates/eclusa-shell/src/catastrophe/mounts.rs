//! Directories of the machine that a container is given, and what its command does to them.

use std::borrow::Cow;

use crate::Word;

use super::args::is_everybodys;
use crate::programs::input_word;

/// The words of `docker run` as the machine sees them: every path below a place where the container
/// has a directory that the machine or somebody's whole work is in, as that directory. One text for
/// each such place.
pub(crate) fn seen_from_outside(argv: &[Word]) -> Vec<String> {
    let texts: Vec<&str> = argv.iter().map(|it| it.source.as_str()).collect();
    if !texts.iter().any(|it| matches!(*it, "run" | "create" | "exec")) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let next = || texts.get(at + 1).copied();
        let attached = |flag: &str| text.strip_prefix(flag).filter(|it| !it.is_empty());
        let given = match *text {
            "-v" | "--volume" => next().and_then(volume),
            "--mount" => next().and_then(mount),
            it if it.starts_with("--volume=") => attached("--volume=").and_then(volume),
            it if it.starts_with("--mount=") => attached("--mount=").and_then(mount),
            it if it.starts_with("-v") => attached("-v").and_then(volume),
            _ => None,
        };
        let Some((host, inside)) = given else { continue };
        let all = is_everybodys(&input_word(host));
        if !all || inside.len() < 2 {
            continue;
        }
        let behind = texts.get(at + 1..).unwrap_or_default().iter();
        let behind = behind.filter(|it| volume(it).is_none() && mount(it).is_none());
        // The image and the flags before the command are names of no program.
        let words: Vec<Cow<'_, str>> = behind.map(|it| replaced(it, inside, host)).collect();
        let from = words.iter().position(|it| super::destroys(it.trim_matches(['"', '\''])));
        let command = from.and_then(|from| words.get(from..)).unwrap_or_default();
        if !command.is_empty() {
            found.push(command.join(" "));
        }
    }
    found
}

/// `/:/host:ro`
fn volume(text: &str) -> Option<(&str, &str)> {
    let (host, rest) = text.trim_matches(['"', '\'']).split_once(':')?;
    let host = host.trim_end_matches(['"', '\'']);
    let inside = rest.split_once(':').map_or(rest, |(inside, _)| inside);
    inside.starts_with('/').then_some((host, inside))
}

/// `type=bind,src=/,dst=/host`
fn mount(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_matches(['"', '\'']);
    let value = |names: [&str; 3]| {
        text.split(',').find_map(|it| {
            let (name, value) = it.split_once('=')?;
            names.contains(&name).then_some(value)
        })
    };
    value(["src", "source", "src"]).zip(value(["dst", "destination", "target"]))
}

/// The text with each path below `inside` as one below `host`.
fn replaced<'t>(text: &'t str, inside: &str, host: &str) -> Cow<'t, str> {
    let inside = inside.trim_end_matches('/');
    if !text.contains(inside) {
        return Cow::Borrowed(text);
    }
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(inside) {
        done.push_str(before);
        let whole = !after.starts_with(|it: char| it == '_' || it == '-' || it.is_alphanumeric());
        let begins = !done.ends_with(|it: char| it == '/' || it.is_alphanumeric());
        done.push_str(if whole && begins { host } else { inside });
        rest = after;
    }
    done.push_str(rest);
    Cow::Owned(done)
}
