//! The words around changes that a person is shown.

use crate::{Summary, one_line};

/// The changes in one line: what is shown in full, or what is told in a line each.
pub(super) fn summary_line(groups: &[String], summary: &Summary) -> String {
    match (groups, summary.is_nothing()) {
        ([], _) | (_, false) => summary.to_string(),
        ([only], true) => one_line(only),
        ([first, others @ ..], true) => format!("{} and {} more", one_line(first), others.len()),
    }
}

/// The changes as they are shown, after what must be known besides them and what is told in a
/// line each.
pub(super) fn with_remarks(remarks: &[String], groups: &[String], shown: &str) -> String {
    let remarks = remarks.iter().map(|it| format!("! {}\n", one_line(it)));
    let groups = groups.iter().map(|it| format!("* {}\n", one_line(it)));
    remarks.chain(groups).chain([shown.to_owned()]).collect()
}
