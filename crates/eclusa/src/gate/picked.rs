//! The part of a call's changes that a person picked, when they did not want all of them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::own_files::git_facts;
use crate::{Changes, Preview, RepositoryFacts, Workspace, one_line};

/// What a person picked, and what they left out.
pub(super) struct PickedPart {
    /// What is to be applied.
    pub(super) changes: Arc<Changes>,
    /// What git knows of it.
    pub(super) facts: RepositoryFacts,
    /// The paths that a person left out, as they were shown.
    pub(super) declined: Vec<PathBuf>,
}

/// The paths that a person picked, if all of them were offered.
pub(super) fn offered(
    preview: Option<&Preview>,
    picked: Vec<PathBuf>,
) -> Result<Vec<PathBuf>, &'static str> {
    let choices = preview.map_or(&[][..], |it| &it.choices);
    let is_offered = |it: &PathBuf| choices.iter().any(|(path, _)| path == it);
    match !picked.is_empty() && picked.iter().all(is_offered) {
        true => Ok(picked),
        false => Err("the changes that were picked are not among those that were shown"),
    }
}

impl PickedPart {
    /// How many paths are named to the model.
    const MAX_TOLD: usize = 50;

    /// The changes of these paths. What was told in a line each was not a choice and stays: only
    /// what can be made again is left to be told so here.
    pub(super) async fn new(
        workspace: &Workspace,
        changes: &Changes,
        shown: &Changes,
        picked: Vec<PathBuf>,
    ) -> PickedPart {
        let picked: BTreeSet<PathBuf> = picked.into_iter().collect();
        let left_out = |it: &&Path| !picked.contains(*it);
        let declined = shown.choices().into_iter().filter(left_out).map(Path::to_owned).collect();
        let folded = changes.iter().filter(|it| shown.get(&it.path).is_none());
        let mut wanted = picked.clone();
        wanted.extend(folded.map(|it| it.path.clone()));
        let changes = Arc::new(changes.only(&wanted));
        let facts = git_facts(workspace, &changes).await;
        PickedPart { changes, facts, declined }
    }

    /// What the model is told of it.
    pub(super) fn describe(&self) -> String {
        let named = self.declined.iter().take(Self::MAX_TOLD);
        let named: Vec<String> =
            named.map(|it| format!("`{}`", one_line(&it.to_string_lossy()))).collect();
        let more = match self.declined.len().saturating_sub(Self::MAX_TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = named.join(", ");
        format!("applied in part: a person discarded the changes to {named}{more}")
    }
}
