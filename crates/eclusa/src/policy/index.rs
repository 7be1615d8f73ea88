//! Finds the few rules that can apply among many, so that a thousand cost little more than ten.

use std::collections::HashMap;

#[cfg(feature = "shell")]
use eclusa_shell::{Command, Word, programs::CommandProfile};

use super::{Rule, Subject};

/// Places of rules in their list, by what they can be found by. Rules about effects are in none
/// of these: they are matched when there are effects.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Those about whole calls that name all their tools, by those names.
    by_tool: HashMap<String, Vec<usize>>,
    /// The others about whole calls.
    any_tool: Vec<usize>,
    /// Those about single commands, by the programs they name, in small letters.
    by_program: HashMap<String, Vec<usize>>,
    /// All about single commands.
    commands: Vec<usize>,
}

impl Index {
    pub(super) fn new(rules: &[Rule]) -> Index {
        let mut index = Index::default();
        let early = rules.iter().enumerate().filter(|(_, it)| it.effect_conditions().is_none());
        for (at, rule) in early {
            if rule.is_about_commands() {
                index.commands.push(at);
                let mut programs: Vec<String> =
                    rule.programs().map(str::to_ascii_lowercase).collect();
                programs.sort();
                programs.dedup();
                for program in programs {
                    index.by_program.entry(program).or_default().push(at);
                }
                continue;
            }
            match rule.exact_tools() {
                Some(names) => {
                    for name in names {
                        index.by_tool.entry(name.clone()).or_default().push(at);
                    }
                }
                None => index.any_tool.push(at),
            }
        }
        index
    }

    /// Goes over the rules about whole calls that can apply to this one, each once.
    pub(super) fn about_call<'r>(
        &self,
        rules: &'r [Rule],
        call: &Subject<'_>,
        mut hear: impl FnMut(&'r Rule),
    ) {
        self.any_tool.iter().filter_map(|at| rules.get(*at)).for_each(&mut hear);
        let names = || {
            std::iter::once(call.author.name).chain(call.author.aliases.iter().map(String::as_str))
        };
        for (count, name) in names().enumerate() {
            let found = self.by_tool.get(name).into_iter().flatten();
            for rule in found.filter_map(|at| rules.get(*at)) {
                // A rule that has an earlier one of the names was found by it.
                if !names().take(count).any(|it| rule.names(it)) {
                    hear(rule);
                }
            }
        }
    }

    /// The rules about commands that can apply to this one, each once, in the order in which they
    /// were written.
    #[cfg(feature = "shell")]
    pub(super) fn about_command<'a>(
        &'a self,
        rules: &'a [Rule],
        command: &Command,
        reading: &CommandProfile,
    ) -> Vec<&'a Rule> {
        let mut places: Vec<usize> = match command.words.first().map(Word::text) {
            // Who knows what it runs.
            Some(None) => self.commands.clone(),
            named => {
                let text = named.flatten().unwrap_or_default();
                let base = text.rsplit('/').next().unwrap_or_default();
                let called = reading.program.split(' ').next().unwrap_or_default();
                let names = [&*text, base, called].into_iter();
                let found = names.filter_map(|it| self.by_program.get(&it.to_ascii_lowercase()));
                found.flatten().copied().collect()
            }
        };
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|at| rules.get(at)).collect()
    }
}
