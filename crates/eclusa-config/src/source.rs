//! One file on its way from text to meaning: its problems, and the places of its values.

use std::{collections::HashSet, ops::Range};

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    ConfigError, Layer, Setting, Trust, check,
    error::{Problem, place},
    needs, spanned,
};

/// A setting, and the place of its value.
pub(super) type Placed = (Range<usize>, Setting);

/// A file that is being read.
pub(super) struct LayerReader<'a> {
    pub(super) trust: Trust,
    /// It is ours and the same in every copy of the program: a test holds it against the schema
    /// and tries its examples.
    pub(super) shipped: bool,
    /// Whether its values are listed one by one.
    pub(super) lists_settings: bool,
    name: &'a str,
    text: &'a str,
    /// Where its lines end.
    line_ends: Vec<usize>,
    problems: Vec<Problem>,
    /// The places of values that are not taken, because a stricter one stands.
    passed: Vec<Range<usize>>,
    /// What nobody vouches for and loosens: it is left out, and everything else of the file holds.
    not_granted: Vec<Problem>,
    /// The lines that were left out because something in them is wrong.
    left_out: String,
}

impl<'a> LayerReader<'a> {
    pub(super) fn new(layer: &'a Layer) -> LayerReader<'a> {
        LayerReader {
            trust: layer.trust,
            shipped: false,
            lists_settings: false,
            name: &layer.name,
            text: &layer.text,
            line_ends: layer.text.match_indices('\n').map(|(at, _)| at).collect(),
            problems: Vec::new(),
            passed: Vec::new(),
            not_granted: Vec::new(),
            left_out: String::new(),
        }
    }

    /// The file as written and its plain settings where they are listed, or nothing when it has
    /// mistakes.
    pub(super) fn read<T: DeserializeOwned>(
        &mut self,
        schema: fn() -> &'static Value,
    ) -> Option<(T, Vec<Placed>)> {
        let (tree, errors) = DeTable::parse_recoverable(self.text);
        let mut lines = HashSet::new();
        for error in errors {
            let span = error.span().unwrap_or_default();
            // What follows a mistake on its line follows from it.
            if lines.insert(place(self.text, span.start).0) {
                let message = error.message().trim().replace('\n', ", ");
                self.problems.push(Problem::new(&span, message));
            }
        }
        // What a later version knows is no mistake of the file.
        if self.problems.is_empty()
            && let Some(problem) = needs::unmet(tree.get_ref())
        {
            self.problems.push(problem);
            return None;
        }
        if self.problems.is_empty() && !self.shipped {
            self.problems = check::check(schema(), &tree);
        }
        if !self.problems.is_empty() {
            return self.rest(schema());
        }
        let mut settings = Vec::new();
        if self.lists_settings {
            self.plain(tree.get_ref(), "", &mut settings);
        }
        match T::deserialize(toml::Deserializer::from(tree)) {
            Ok(written) => Some((written, settings)),
            Err(error) => {
                let span = error.span().unwrap_or_default();
                self.problems.push(Problem::new(&span, error.message()));
                None
            }
        }
    }

    /// The file without what is wrong in it, so that what else is wrong is told too. It counts for
    /// nothing else: the file has mistakes.
    fn rest<T: DeserializeOwned>(&mut self, schema: &Value) -> Option<(T, Vec<Placed>)> {
        let rest = self.without_mistakes();
        let (tree, errors) = DeTable::parse_recoverable(&rest);
        if !errors.is_empty() || !check::check(schema, &tree).is_empty() {
            return None;
        }
        toml::from_str(&rest).ok().map(|written| (written, Vec::new()))
    }

    /// The text with blanks in the place of what is wrong: of the whole table where it is one of
    /// several (`[[rules]]`), and of the lines of the value elsewhere. Places stay what they are.
    fn without_mistakes(&mut self) -> String {
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let mut wrong = vec![false; lines.len()];
        for problem in &self.problems {
            let last = problem.span.end.max(problem.span.start + 1) - 1;
            let (first, _) = place(self.text, problem.span.start);
            let (last, _) = place(self.text, last);
            let mut before = lines.iter().take(first).enumerate();
            let head = before.rfind(|(_, it)| it.starts_with('['));
            let several = head.filter(|(_, it)| it.starts_with("[["));
            let (from, to) = match several {
                Some((at, _)) => {
                    let after = lines.iter().skip(at + 1).position(|it| it.starts_with('['));
                    (at, after.map_or(lines.len(), |it| at + 1 + it))
                }
                None => (first - 1, last),
            };
            wrong.iter_mut().take(to).skip(from).for_each(|it| *it = true);
        }
        let mut rest = String::with_capacity(self.text.len());
        for (line, wrong) in lines.into_iter().zip(wrong) {
            match wrong {
                false => rest.push_str(line),
                true => {
                    self.left_out.push_str(line);
                    rest.extend(line.bytes().map(|it| if it == b'\n' { '\n' } else { ' ' }));
                }
            }
        }
        rest
    }

    /// True when a rule of this name may be among what was left out.
    pub(super) fn left_out(&self, id: &str) -> bool {
        self.left_out.contains(id)
    }

    /// Notes that a value is not taken.
    pub(super) fn pass_over(&mut self, span: &Range<usize>) {
        self.passed.push(span.clone());
    }

    /// Notes something that loosens, which nobody vouches for: it counts for nothing.
    pub(super) fn leave_out(&mut self, problem: Problem) {
        self.not_granted.push(problem);
    }

    /// The settings that were taken, and those that were left out because nobody vouches for them.
    pub(super) fn taken(&self, settings: Vec<Placed>) -> (Vec<Setting>, Vec<Setting>) {
        let considered = settings.into_iter().filter(|(span, _)| !self.passed.contains(span));
        let (left_out, taken): (Vec<Placed>, Vec<Placed>) = considered.partition(|(span, _)| {
            let meets = |it: &Problem| it.span.start < span.end && span.start < it.span.end;
            self.not_granted.iter().any(meets)
        });
        let settings = |placed: Vec<Placed>| placed.into_iter().map(|(_, it)| it).collect();
        (settings(taken), settings(left_out))
    }

    /// What was left out because nobody vouches for it, in the order of places.
    pub(super) fn not_granted(&self) -> Vec<ConfigError> {
        let mut found = self.not_granted.clone();
        found.sort_by_key(|it| it.span.start);
        found.into_iter().map(|it| it.in_file(self.name, self.text)).collect()
    }

    /// Notes a problem.
    pub(super) fn wrong(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The value, or nothing and a problem at this place.
    pub(super) fn keep<T, E: Into<String>>(
        &mut self,
        span: &Range<usize>,
        it: Result<T, E>,
    ) -> Option<T> {
        it.map_err(|message| self.problems.push(Problem::new(span, message))).ok()
    }

    /// `file:line` of a place.
    pub(super) fn origin(&self, span: &Range<usize>) -> String {
        let line = self.line_ends.partition_point(|end| *end < span.start) + 1;
        format!("{}:{line}", self.name)
    }

    /// How many problems there are so far.
    pub(super) fn count(&self) -> usize {
        self.problems.len()
    }

    /// The problems, in the order of their places.
    pub(super) fn into_errors(mut self) -> Vec<ConfigError> {
        self.problems.sort_by_key(|it| it.span.start);
        let (name, text) = (self.name, self.text);
        self.problems.into_iter().map(|it| it.in_file(name, text)).collect()
    }

    /// Every value that is no table, with its origin.
    fn plain(&self, table: &DeTable<'_>, path: &str, into: &mut Vec<Placed>) {
        for (key, value) in table {
            let name: &str = key.get_ref();
            let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            match value.get_ref() {
                DeValue::Table(_) if path == "tools" || path == "servers" => {
                    into.push((value.span(), self.whole(key, value)))
                }
                DeValue::Table(inner) => self.plain(inner, &key, into),
                DeValue::Array(items) if items.iter().any(is_table) => {
                    into.extend(items.iter().map(|it| (it.span(), self.whole(key.clone(), it))));
                }
                _ => {
                    let written = self.text.get(value.span()).unwrap_or_default();
                    let origin = self.origin(&value.span());
                    into.push((
                        value.span(),
                        Setting { key, value: written.to_owned(), origin, shipped: self.shipped },
                    ));
                }
            }
        }
    }

    /// A table as one setting.
    fn whole(&self, key: String, table: &Spanned<DeValue<'_>>) -> Setting {
        let value = inline(table.get_ref()).to_string();
        Setting { key, value, origin: self.origin(&table.span()), shipped: self.shipped }
    }
}

/// The same value in the form that can be written on one line.
fn inline(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(it) => {
            toml::Value::Integer(i64::from_str_radix(it.as_str(), it.radix()).unwrap_or_default())
        }
        DeValue::Float(it) => toml::Value::Float(it.as_str().parse().unwrap_or_default()),
        DeValue::Boolean(it) => toml::Value::Boolean(*it),
        DeValue::Datetime(it) => toml::Value::Datetime(*it),
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|it| inline(it.get_ref())).collect())
        }
        DeValue::Table(table) => toml::Value::Table(
            table
                .iter()
                .map(|(key, it)| (key.get_ref().to_string(), inline(it.get_ref())))
                .collect(),
        ),
    }
}

fn is_table(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_))
}

/// Names of environment variables, and never values.
pub(super) fn check_env(source: &mut LayerReader<'_>, names: &[spanned::Spanned<String>]) {
    for name in names {
        if name.it.is_empty() || name.it.contains(['=', '\0']) {
            let text = format!("`{}` is not the name of an environment variable", name.it);
            source.wrong(Problem::new(&name.span, text).help("values are never written here"));
        }
    }
}
