//! The second stage: from what the parsers saw to commands. Words are read as a shell reads them,
//! loops over known words are followed, and so are changes of the directory.

use crate::limits::{MAX_COMMANDS, MAX_UNROLLED};
use crate::syntax::outline::{Outline, ParsedCommand, Scope, Shape, Span};
use crate::syntax::{Syntax, split};
use crate::{Assignment, Command, Part, Redirect, Unknown, Word, influence};

pub(crate) mod reader;
pub(crate) mod variable_origin;
mod working_directory;

use reader::Reader;
use variable_origin::{VariableOrigins, assigned};

/// The commands of one script.
pub(crate) struct CommandList {
    pub(crate) list: Vec<Command>,
    /// Where each begins.
    pub(crate) starts: Vec<usize>,
    pub(crate) doubts: Vec<(&'static str, usize)>,
    /// Where it leaves its shell, if everything in it goes well.
    pub(crate) left_in: Option<String>,
}

/// What is around a nested script or command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outer {
    pub(crate) via: Vec<String>,
    pub(crate) moved: Vec<Word>,
    pub(crate) background: bool,
    pub(crate) depth: usize,
}

/// Reads the words of every command that was seen.
pub(crate) fn read(
    source: &str,
    syntax: &Syntax,
    seen: &[(&ParsedCommand, &Outline)],
    outer: &Outer,
) -> CommandList {
    let mut names = VariableOrigins::collect(source, syntax.outlines());
    names.keep_local(source);
    let names = &names;
    let mut reader = Reader::new(source, syntax.outlines(), names);
    let mut list: Vec<Command> = Vec::new();
    let (mut starts, mut spans) = (Vec::new(), Vec::new());
    // Most scripts stay where they are.
    let follows = outer.depth == 0 && source.contains("cd");
    let mut moved = outer.moved.clone();
    let mut known: Vec<(&str, Word)> = Vec::new();
    for (seen, outline) in seen {
        if list.len() > MAX_COMMANDS {
            break;
        }
        if seen.shape == Shape::Loop {
            // Nothing runs, but its words are read for what is in them. `select` prints them.
            let shows = seen.words.first().and_then(|it| source.get(..it.start));
            let shows = shows.is_some_and(|it| it.trim_end().ends_with("select"));
            for word in &seen.words {
                let words = reader.words(*word);
                if shows && words.iter().flat_map(|it| &it.parts).any(is_variable) {
                    reader.doubts.push(("a menu shows what a variable holds", word.start));
                }
            }
            let name = seen.words.first().map(|it| (reader.text(*it), it.start));
            if let Some((name, at)) = name
                && influence(name).is_grave()
            {
                let what = "a loop sets a variable that decides what later commands run or load";
                reader.doubts.push((what, at));
            }
            continue;
        }
        let mut command = Command { background: outer.background, ..Command::default() };
        if let Some(context) = outline.contexts.get(seen.context) {
            command.background |= context.background;
            command.via = outer.via.iter().chain(&context.via).cloned().collect();
        }
        command.moved.clone_from(&moved);
        for bound in bindings(&mut reader, names, seen) {
            reader.bound = bound;
            reader.bound.extend(known.iter().cloned());
            let mut command = command.clone();
            fill(&mut reader, seen, &mut command);
            note_move(&command, &mut moved);
            if outline.contexts.get(seen.context).is_some_and(|it| it.straight) {
                known.extend(constants(&command, names));
            }
            list.push(command);
            starts.push(seen.start().0);
            if follows {
                spans.push((seen.start().0, seen.end()));
            }
        }
        reader.bound = Vec::new();
    }
    let left_in = match follows {
        true => working_directory::follow(source, &mut list, &spans),
        false => None,
    };
    CommandList { list, starts, doubts: reader.doubts, left_in }
}

fn is_variable(part: &Part) -> bool {
    matches!(part, Part::Unknown { why: Unknown::Variable, .. })
}

fn fill(reader: &mut Reader<'_>, seen: &ParsedCommand, command: &mut Command) {
    match seen.shape {
        Shape::Test => {
            let spans =
                seen.words.iter().flat_map(|it| reader.parts_of_test(*it)).collect::<Vec<_>>();
            command.words = spans.into_iter().map(|it| test_word(reader, it)).collect();
        }
        Shape::Case => {
            let values = seen.words.iter().map(|it| reader.value(*it));
            command.words = std::iter::once(Word::literal("case")).chain(values).collect();
        }
        Shape::Simple | Shape::Loop => {
            command.words = seen.words.iter().flat_map(|it| reader.words(*it)).collect();
        }
    }
    for span in &seen.assignments {
        let text = reader.text(*span);
        let (name, value) = assigned(text);
        let start = value.unwrap_or(text.len());
        let name = value.and_then(|it| text.get(..it)).unwrap_or(name);
        let name = name.trim_end_matches('=').trim_end_matches('+').to_owned();
        let value = reader.value(Span { start: span.start + start, end: span.end });
        command.assignments.push(Assignment { name, value });
    }
    for redirect in &seen.redirects {
        let target = match redirect.body {
            Some(body) => reader.body(redirect.target, body),
            None => reader.target(redirect.target),
        };
        command.redirects.push(Redirect { kind: redirect.kind, target });
    }
}

fn test_word(reader: &mut Reader<'_>, span: Span) -> Word {
    match reader.text(span) {
        operator @ ("&&" | "||" | "<" | ">" | "(" | ")") => Word::literal(operator),
        _ => reader.value(span),
    }
}

impl Reader<'_> {
    fn parts_of_test(&self, span: Span) -> Vec<Span> {
        split(self.source(), span)
    }
}

/// Variables that have their only value from here on.
fn constants<'n>(command: &Command, names: &'n VariableOrigins) -> Vec<(&'n str, Word)> {
    if !command.words.is_empty() {
        return Vec::new();
    }
    // What is run to find the value runs before there is one: its own text says nothing of it.
    let own = |it: &Word| {
        let run = |it: &Part| matches!(it, Part::Unknown { why: Unknown::Substitution, .. });
        it.parts.len() > 1 && it.parts.iter().any(run)
    };
    let plain = |it: &&Assignment| !it.value.source.starts_with('(') && !own(&it.value);
    let assignments = command.assignments.iter().filter(plain);
    assignments.filter_map(|it| Some((names.once(&it.name)?, it.value.clone()))).collect()
}

/// `cd` and `pushd` with what they were given; `cd` alone goes home.
fn note_move(command: &Command, moved: &mut Vec<Word>) {
    let Some(name) = command.words.first().and_then(Word::text) else { return };
    if !matches!(&*name, "cd" | "pushd" | "popd" | "chdir") {
        return;
    }
    let operand = command.words.iter().skip(1).find(|it| {
        let text = it.text().unwrap_or_default();
        !text.starts_with('-') || text == "-"
    });
    let known = operand.filter(|it| name != "popd" && it.text().is_none_or(|it| it != "-"));
    let word = known.cloned().unwrap_or_else(|| {
        let (why, splits) = (crate::Unknown::Variable, false);
        let why = if name == "cd" && operand.is_none() { crate::Unknown::Home } else { why };
        Word { parts: vec![crate::Part::Unknown { why, splits }], source: name.into_owned() }
    });
    if !moved.contains(&word) {
        moved.push(word);
    }
}

/// Words by which a text goes back to what stands before, or runs something after its end.
const RETURNING: [&str; 9] =
    ["for", "while", "until", "select", "function", "trap", "eval", "source", "coproc"];

/// From which command on nothing but plain moves is left, in a text that is run once from top to
/// bottom: where they go does not matter.
pub(crate) fn last_use(script: &str, commands: &[Command]) -> usize {
    let plain = |it: &Command| {
        let name = it.words.first().and_then(Word::text);
        let goes = it.words.get(1).is_some_and(|it| it.text().is_some());
        let alone = it.words.len() == 2 && it.redirects.is_empty() && it.assignments.is_empty();
        name.as_deref() == Some("cd") && goes && alone && it.via.is_empty()
    };
    let known = |it: &Command| it.words.first().is_none_or(|it| it.text().is_some());
    let mut words = script.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let returns = script.contains("()") || words.any(|it| RETURNING.contains(&it));
    if returns || !commands.iter().all(known) {
        return commands.len();
    }
    commands.iter().rposition(|it| !plain(it)).map_or(0, |it| it + 1)
}

/// Every combination of values that the loops around a command give to the variables in it.
/// One empty combination when there is nothing to follow.
fn bindings<'s>(
    reader: &mut Reader<'s>,
    names: &'s VariableOrigins,
    seen: &ParsedCommand,
) -> Vec<Vec<(&'s str, Word)>> {
    let mut all = vec![Vec::new()];
    let around = names.loops(seen.start().0);
    for scope in around {
        if !mentions(reader, seen, &scope.name) {
            continue;
        }
        let Some(values) = values(reader, scope) else { continue };
        if values.is_empty() || all.len() * values.len() > MAX_UNROLLED {
            continue;
        }
        all = all
            .iter()
            .flat_map(|bound| {
                values.iter().map(move |value| {
                    let mut bound = bound.clone();
                    bound.push((scope.name.as_str(), value.clone()));
                    bound
                })
            })
            .collect();
    }
    all
}

/// The words that a loop goes through, if each is known, or at least a pattern.
fn values(reader: &mut Reader<'_>, scope: &Scope) -> Option<Vec<Word>> {
    let before = reader.doubts.len();
    let words = scope.values.iter().flatten();
    let words: Vec<Word> = words.flat_map(|it| reader.words(*it)).collect();
    // The loop itself is read elsewhere, with its doubts.
    let sure = reader.doubts.len() == before;
    reader.doubts.truncate(before);
    let known = |it: &Word| it.text().is_some() || it.is_glob();
    (sure && words.iter().all(known)).then_some(words)
}

fn mentions(reader: &Reader<'_>, seen: &ParsedCommand, name: &str) -> bool {
    let words = seen.words.iter().chain(&seen.assignments);
    let targets = seen.redirects.iter().map(|it| &it.target);
    words.chain(targets).any(|it| {
        let text = reader.text(*it);
        text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            before.ends_with('$') || before.ends_with("${")
        })
    })
}
