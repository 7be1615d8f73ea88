//! Who may loosen what: each value is put over the one below only as far as its file's trust reaches.

use std::ops::Range;

use crate::{
    Trust,
    error::Problem,
    source::LayerReader,
    spanned::{Keyword, KeywordSet, Spanned},
    units::Most,
};

/// What to do with a project's file that wants more than it may.
pub(super) const TRUST: &str =
    "read it, and trust it with `eclusa config trust`, or with `--config` for one run";

/// True when the file may do this; otherwise it is left out.
pub(super) fn granted(source: &mut LayerReader<'_>, span: &Range<usize>, what: &str) -> bool {
    if source.trust == Trust::Project {
        let text = format!("a project's file cannot bring {what}");
        source.leave_out(Problem::new(span, text).help(TRUST));
    }
    source.trust != Trust::Project
}

/// Puts a value in the place of the one below, unless it is looser and the file may only tighten.
pub(super) fn set_tightening<T>(
    source: &mut LayerReader<'_>,
    span: &Range<usize>,
    below: &mut T,
    new: T,
    looser: impl Fn(&T, &T) -> bool,
) {
    if source.trust == Trust::Project && looser(&new, below) {
        let text =
            "an untrusted project file can only make rules stricter, and this makes them looser";
        source.leave_out(Problem::new(span, text).help(TRUST));
    } else if source.trust == Trust::Administrator && looser(&new, below) {
        source.pass_over(span);
    } else {
        *below = new;
    }
}

/// The same for a list of what is allowed. Of what stands below, an administrator leaves what their own
/// list has too.
pub(super) fn set_list<T: PartialEq>(
    source: &mut LayerReader<'_>,
    span: &Range<usize>,
    below: &mut Vec<T>,
    new: Vec<T>,
) {
    if source.trust == Trust::Administrator {
        below.retain(|it| new.contains(it));
        if *below != new {
            source.pass_over(span);
        }
        return;
    }
    set_tightening(source, span, below, new, |new, old| new.iter().any(|it| !old.contains(it)));
}

/// Whether a limit is looser than another. No limit is the loosest of all.
pub(super) fn is_looser<T: PartialOrd>(new: &Option<T>, old: &Option<T>) -> bool {
    match (new, old) {
        (Some(new), Some(old)) => new > old,
        (None, old) => old.is_some(),
        (Some(_), None) => false,
    }
}

/// Puts limits that are numbers in the place of those below, where they are said.
pub(super) fn set_counts<'a>(
    source: &mut LayerReader<'_>,
    counts: impl IntoIterator<Item = (&'a Option<Spanned<Most>>, &'a mut Option<u64>)>,
) {
    for (written, below) in counts {
        let Some(written) = written else { continue };
        let most = match written.it {
            Most::Number(most) => Some(most),
            Most::Any(_) => None,
        };
        set_tightening(source, &written.span, below, most, is_looser);
    }
}

/// Puts a word in the place of the one below. The words stand from strict to loose.
pub(super) fn set_enum<T: KeywordSet + PartialEq>(
    source: &mut LayerReader<'_>,
    below: &mut T,
    new: Option<&Spanned<Keyword<T>>>,
) {
    let rank = |it: &T| T::WORDS.iter().position(|(_, word)| word == it);
    if let Some(new) = new {
        set_tightening(source, &new.span, below, new.it.0, |new, old| rank(new) > rank(old));
    }
}

/// Puts a value in the place of the one below. It is neither loose nor strict, so a project has
/// no business with it.
pub(super) fn set_trusted_only<T: PartialEq>(
    source: &mut LayerReader<'_>,
    span: &Range<usize>,
    below: &mut T,
    new: T,
) {
    if source.trust != Trust::Project || new == *below {
        *below = new;
    } else {
        let text = "a project's file cannot change this";
        source.leave_out(Problem::new(span, text).help(TRUST));
    }
}
