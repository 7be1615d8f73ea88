//! `[fleet]`: which fleet a machine is in. Whoever reads files finds its documents, and lays its policy on top.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{error::Problem, source::LayerReader, spanned::Spanned, tighten::granted};

/// The fleet whose signed policy holds on this machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Fleet {
    /// Its name.
    name: Option<String>,
    /// The digest of its root document, `sha256:` and 64 digits, as `eclusa fleet init` printed it.
    root: Option<String>,
    /// Where its documents are: an address (https, or http to this machine) or a file; those that the root names unless
    /// said.
    from: Option<String>,
    /// In a file of a policy: the labels of the machines that it is for; every machine unless said.
    #[serde(rename = "for")]
    labels: Option<BTreeMap<String, String>>,
}

/// Says what is wrong with it. What follows from it is a matter of whoever reads the documents.
pub(super) fn check(source: &mut LayerReader<'_>, file: Option<&Spanned<Fleet>>) {
    let Some(Spanned { it, span }) = file else { return };
    if !granted(source, span, "a fleet") {
        return;
    }
    let names = it.name.is_some() || it.root.is_some() || it.from.is_some();
    if names && (it.name.is_none() || it.root.is_none()) {
        let problem = Problem::new(span, "a fleet has a `name` and a `root`");
        source.wrong(problem.help("`eclusa fleet init` and `eclusa fleet enroll` print both"));
    }
    if names && it.labels.is_some() {
        let text =
            "`for` is for files of a policy, and this file says in which fleet the machine is";
        source.wrong(Problem::new(span, text));
    }
}
