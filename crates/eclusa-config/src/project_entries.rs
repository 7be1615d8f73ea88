//! What a project's file says, entry by entry: whether a person's trust in an earlier text still holds.

use std::collections::BTreeSet;

use crate::Setting;

/// The entries of a project's file: those that loosen what holds without it, and all others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectEntries {
    loosening: BTreeSet<(String, String)>,
    tightening: BTreeSet<(String, String)>,
}

impl ProjectEntries {
    /// True when trust in the earlier text holds for this one: nothing loosens that did not then, and everything
    /// that tightened then still does. A denial that is gone is a loosening.
    pub fn is_covered_by(&self, earlier: &ProjectEntries) -> bool {
        self.loosening.is_subset(&earlier.loosening)
            && earlier.tightening.is_subset(&self.tightening)
    }

    /// The entries that loosen: key and value.
    pub fn loosening(&self) -> &BTreeSet<(String, String)> {
        &self.loosening
    }

    /// All others.
    pub fn tightening(&self) -> &BTreeSet<(String, String)> {
        &self.tightening
    }

    pub(super) fn add(&mut self, taken: &[Setting], left_out: &[Setting]) {
        let entry = |it: &Setting| (it.key.clone(), it.value.clone());
        // Which program a file is for neither tightens nor loosens.
        let taken = taken.iter().filter(|it| it.key != "needs");
        self.tightening.extend(taken.map(entry));
        self.loosening.extend(left_out.iter().map(entry));
    }
}
