//! `[files]`: which files nobody may see, and how large one may be that is written.

use eclusa::Blocked;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Config, Trust,
    error::Problem,
    source::LayerReader,
    spanned::Spanned,
    tighten::{TRUST, set_tightening},
    units::{self, Size},
};

/// The files of the workspace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Files {
    /// Patterns of files that nobody may see, beside those of the layers below. They fit at any
    /// depth unless they begin with a slash; `!` makes an exception.
    pub(super) blocked: Option<Spanned<Vec<Spanned<String>>>>,
    /// How large a file may be that the tools write or edit, in bytes or as a size.
    pub(super) max_size: Option<Spanned<Size>>,
}

/// Lays one file's section over those below.
pub(super) fn merge(source: &mut LayerReader<'_>, below: &mut Config, file: &Files) {
    block(source, below, file);
    let Some(written) = &file.max_size else { return };
    let size = match &written.it {
        Size::Bytes(bytes) => Ok(*bytes),
        Size::Text(text) => units::size(text),
    };
    if let Some(size) = source.keep(&written.span, size) {
        let looser = |new: &u64, old: &u64| new > old;
        set_tightening(source, &written.span, &mut below.max_file_size, size as u64, looser);
    }
}

/// Adds to what nobody may see.
fn block(source: &mut LayerReader<'_>, below: &mut Config, file: &Files) {
    let Some(patterns) = &file.blocked else { return };
    for pattern in &patterns.it {
        if source.trust == Trust::Project && pattern.it.starts_with('!') {
            let text = "a project's file can block more, and unblock nothing";
            source.leave_out(Problem::new(&pattern.span, text).help(TRUST));
            continue;
        }
        let usable = Blocked::check(&pattern.it).map_err(|err| err.to_string());
        if source.keep(&pattern.span, usable).is_some() {
            below.blocked_patterns.push(pattern.it.clone());
            if source.trust == Trust::Administrator {
                below.firm_patterns.push(pattern.it.clone());
            }
        }
    }
    let all = Blocked::known_or_new(&below.blocked_patterns);
    let all = match below.firm_patterns.is_empty() {
        true => all,
        // What others except stays blocked.
        false => all.and_then(|it| Ok(it.with_firm(Blocked::new(&below.firm_patterns)?))),
    };
    let all = all.map_err(|err| err.to_string());
    if let Some(all) = source.keep(&patterns.span, all) {
        below.rules.iter_mut().for_each(|rule| rule.block_again(&all));
        below.blocked = all;
    }
}
