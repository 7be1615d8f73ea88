//! Finding a tool by what it is called, what it does, or what it is good for.

use std::sync::Arc;

use super::{Registered, Registry};
use crate::Scene;

/// A tool that a search found.
pub struct SearchHit {
    /// The tool.
    pub tool: Arc<Registered>,
    /// How well it fits; higher is better.
    pub score: u32,
}

impl Registry {
    /// Tools that fit the words, best first. Every word must be found somewhere: in the name or
    /// an alias, in the hint, or in the description. Deferred tools are found too.
    pub fn search(&self, words: &str, scene: &Scene) -> Vec<SearchHit> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<SearchHit> = self
            .list()
            .into_iter()
            .filter(|tool| !tool.unlisted())
            .filter_map(|tool| score(&tool, &words, scene).map(|score| SearchHit { tool, score }))
            .collect();
        found.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.tool.name().cmp(b.tool.name())));
        found
    }
}

fn score(tool: &Registered, words: &[String], scene: &Scene) -> Option<u32> {
    let name = tool.name().to_lowercase();
    let aliases: Vec<String> = tool.facts().aliases.iter().map(|it| it.to_lowercase()).collect();
    let hint = tool.facts().search_hint.to_lowercase();
    let description = tool.description(scene).to_lowercase();
    let mut total = 0;
    for word in words {
        total += match () {
            () if name == *word || aliases.contains(word) => 16,
            () if name.contains(word) || aliases.iter().any(|it| it.contains(word)) => 8,
            () if hint.contains(word) => 4,
            () if description.contains(word) => 1,
            () => return None,
        };
    }
    Some(total)
}

/// The names that look like `name`, nearest first.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .map(|it| (strsim::jaro_winkler(&wanted, &it.to_lowercase()), it))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, it)| it.to_owned()).collect()
}
