//! What words are to git: revisions with paths in them, formats, configuration.

use crate::{Part, Word};

use super::class::Class;
use super::profile::{CommandProfile, How, is_dynamic};

/// Settings that change how git prints, at most. None has a name of somebody's choice in it:
/// `diff.NAME.command` is a program.
const SETTINGS: [&str; 9] = [
    "core.abbrev",
    "core.quotepath",
    "diff.context",
    "diff.interhunkcontext",
    "diff.renames",
    "i18n.logoutputencoding",
    "log.date",
    "log.decorate",
    "log.follow",
];

/// Sections in which every setting is of that kind.
const SECTIONS: [&str; 4] = ["advice.", "color.", "column.", "status."];

/// A revision, a path, or `revision:path`; `:(magic)path` too. Which of them is not always to be
/// seen, so every word counts as a path.
pub(crate) fn revision(word: &Word, profile: &mut CommandProfile) {
    let Some(text) = word.text() else {
        return profile.path(word.clone(), How::Read);
    };
    let paths = match text.strip_prefix(":(").and_then(|it| it.split_once(')')) {
        Some((_, path)) => patterns(path),
        None => match text.split_once(':') {
            // `:0:path` is a path in a stage of the index.
            Some((_, path)) => {
                let staged = path.trim_start_matches(|it: char| it.is_ascii_digit());
                let path = staged.strip_prefix(':').unwrap_or(path);
                patterns(path.trim_start_matches(['!', '^', '/', ':']))
            }
            None => patterns(&text),
        },
    };
    paths.into_iter().for_each(|it| profile.path(it, How::Read));
}

/// A pattern that a program works out by itself, as git, find and grep do. Other than for the shell
/// its first sign fits a dot, so it is given once more with the dot that it may be after.
pub(crate) fn patterns(text: &str) -> Vec<Word> {
    if !text.contains(['*', '?', '[']) {
        return vec![Word::literal(text)];
    }
    let glob = |it: &str| Word { parts: vec![Part::Glob(it.to_owned())], source: text.to_owned() };
    let (before, name) = text.rsplit_once('/').map_or(("", text), |(before, name)| (before, name));
    let says = name.contains(|it: char| it.is_alphanumeric());
    let behind = |it: &str| (!it.is_empty()).then(|| format!(".{}", it.trim_start_matches('.')));
    let dotted: Vec<String> = match name.chars().next() {
        _ if !says => Vec::new(),
        // The dot is what `*` fits, or the one behind it.
        Some('*') => {
            let rest = name.trim_start_matches('*');
            let bare = rest.starts_with('.').then(|| rest.to_owned());
            std::iter::once(format!(".{name}")).chain(bare).collect()
        }
        Some('?') => name.get(1..).and_then(behind).into_iter().collect(),
        Some('[') => name.split_once(']').and_then(|(_, it)| behind(it)).into_iter().collect(),
        _ => Vec::new(),
    };
    let slash = if before.is_empty() { "" } else { "/" };
    let dotted = dotted.into_iter().map(|it| {
        let path = format!("{before}{slash}{it}");
        if path.contains(['*', '?', '[']) { glob(&path) } else { Word::literal(path) }
    });
    std::iter::once(glob(text)).chain(dotted).collect()
}

/// `:branch` deletes on the other side, `+branch` rewrites there.
pub(crate) fn refspec(word: &Word, profile: &mut CommandProfile) {
    if word.prefix().starts_with([':', '+']) {
        let what = format!("`{}` deletes or rewrites a branch elsewhere", word.source);
        profile.add(Class::Destructive, what);
    } else if is_dynamic(word) {
        profile.doubt(format!("`{}` can turn out to delete a branch elsewhere", word.source));
    }
}

/// `%G…` verifies signatures, which runs a program that the configuration names.
pub(crate) fn format(word: &Word, profile: &mut CommandProfile) {
    match word.text() {
        Some(text)
            if text.contains("%G")
                || text.contains("(signature")
                || text.trim_start_matches('-').starts_with("signature") =>
        {
            profile.add(Class::RunsCode, "the format verifies signatures".to_owned());
        }
        Some(_) => {}
        None => profile.doubt(format!("the format `{}` is only known when it runs", word.source)),
    }
}

/// `key=value`: most settings of git name a program somewhere.
pub(crate) fn config(word: &Word, profile: &mut CommandProfile) {
    let lead = word.prefix().to_owned();
    let key = lead.split('=').next().unwrap_or_default().to_lowercase();
    let known = lead.contains('=') || !is_dynamic(word);
    let prints = SETTINGS.contains(&&*key) || SECTIONS.iter().any(|it| key.starts_with(it));
    if known && prints {
        return;
    }
    if known && key == "core.pager" && lead.ends_with("=cat") && !is_dynamic(word) {
        return;
    }
    profile.add(Class::RunsCode, format!("the setting `{key}` can name a program"));
    if is_dynamic(word) {
        return;
    }
    let value = lead.split_once('=').map(|it| it.1).unwrap_or_default();
    let script = match value.strip_prefix('!') {
        Some(script) => Some(script),
        None => names_a_program(&key).then_some(value),
    };
    profile.scripts.extend(script.filter(|it| !it.is_empty()).map(Word::literal));
}

/// True for a setting whose value is a command line that git hands to a shell.
fn names_a_program(key: &str) -> bool {
    const WHOLE: [&str; 9] = [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.askpass",
        "sequence.editor",
        "diff.external",
        "interactive.difffilter",
        "uploadpack.packobjectshook",
    ];
    const ENDS: [&str; 7] =
        [".textconv", ".command", ".driver", ".clean", ".smudge", ".process", ".cmd"];
    WHOLE.contains(&key)
        || key.starts_with("pager.")
        || ENDS.iter().any(|it| key.ends_with(it))
        || (key.starts_with("gpg.") && key.ends_with("program"))
}
