//! Programs that print names of files, and `xargs`, which hands them on.
//!
//! `find . -print0 | xargs -0 wc -l` says what `wc` is handed: files beneath the place that was
//! searched. Where names are cut at blanks a name such as `a /etc/shadow` becomes two, so without
//! the NUL only programs that tell nothing of what is in a file are handed names.

use crate::Word;

use super::profile::{CommandProfile, How, found_beneath, is_appended};
use super::read;

/// Programs that tell nothing of what is in a file.
const SILENT: [&str; 8] = ["wc", "ls", "du", "stat", "basename", "dirname", "echo", "realpath"];

/// What a program prints that lists files.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    /// Where it looks, if it looks everywhere there.
    pub(crate) places: Vec<Word>,
    /// The patterns by which it chooses names.
    sought: Vec<Word>,
    /// True when every name ends with NUL.
    nul: bool,
    /// True when no name can be taken for a flag.
    rooted: bool,
}

/// What these words list, if they are of a program that prints names of files and nothing else.
pub(crate) fn lists(argv: &[Word]) -> Option<Listing> {
    let name = argv.first().and_then(Word::text)?;
    let base = name.rsplit('/').next()?;
    if !matches!(base, "find" | "gfind" | "git" | "rg" | "grep" | "egrep" | "fgrep") {
        return None;
    }
    let texts: Vec<_> = argv.iter().map(Word::text).collect::<Option<_>>()?;
    let has = |flags: &[&str]| texts.iter().any(|it| flags.contains(&&**it));
    let profile = read(argv);
    if !profile.class.is_read_only() {
        return None;
    }
    let (nul, rooted) = match (&*profile.program, profile.entry?) {
        (_, "find") if has(&["-printf", "-ls", "-fls", "-exec", "-execdir"]) => return None,
        (_, "find") => (has(&["-print0"]) && !has(&["-print"]), true),
        ("git ls-files", _) if has(&["--format", "--eol", "--debug"]) => return None,
        ("git ls-files", _) => (has(&["-z"]), false),
        ("git grep", _) if has(&["-l", "--files-with-matches", "--name-only"]) => {
            (has(&["-z", "--null"]), false)
        }
        ("git diff", _) if has(&["--name-only"]) => (has(&["-z"]), false),
        (_, "rg") if has(&["-l", "--files", "--files-with-matches"]) => {
            (has(&["-0", "--null"]), false)
        }
        (_, "grep") if has(&["-l", "-rl", "-lr", "--files-with-matches"]) => {
            (has(&["-Z", "--null"]), false)
        }
        (_, "grep") if has(&["-lZ", "-rlZ", "-lrZ", "-Zl"]) => (true, false),
        _ => return None,
    };
    let listed = profile.paths.iter().filter(|it| it.how == How::Listed && !profile.narrowed);
    let places = listed.map(|it| it.word.clone()).collect();
    Some(Listing { places, sought: profile.sought, nul, rooted })
}

impl Listing {
    /// Says in the reading of `xargs`, which has these words, what it hands on.
    pub(crate) fn describe_in(&self, xargs: &[Word], profile: &mut CommandProfile) {
        if profile.entry != Some("xargs") {
            return;
        }
        let sought = self.sought.iter().cloned();
        let mut told = false;
        for run in &mut profile.runs {
            let own = xargs.len().saturating_sub(run.len());
            let own = xargs.iter().take(own + 1).filter_map(Word::text);
            let by_nul = self.nul && own.into_iter().any(|it| it == "--null" || is_nul(&it));
            let name = run.first().and_then(Word::text).unwrap_or_default();
            if !by_nul && !SILENT.contains(&&*name) {
                continue;
            }
            let rooted = self.rooted && by_nul;
            for word in run.iter_mut().filter(|it| is_appended(it)) {
                let mut found = found_beneath(&word.source, true);
                if !rooted {
                    found.parts.remove(0);
                }
                *word = found;
                told = true;
            }
        }
        if told {
            sought.for_each(|it| profile.path(it, How::Read));
        }
    }
}

/// `-0`, alone or first or last in a bundle of flags that take nothing.
fn is_nul(flag: &str) -> bool {
    let letters = flag.strip_prefix('-').unwrap_or_default();
    letters.contains('0') && letters.chars().all(|it| "0rtx".contains(it))
}
