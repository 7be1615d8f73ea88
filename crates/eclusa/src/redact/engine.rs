//! Running the rules over a text: keywords first, then only the expressions that could match.

use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::OnceLock};

use super::{BY_NAME, SecretRule, keywords::Keywords, rules};

const OPEN: &str = "[redacted:";
/// The mark for everything, where the rules cannot be used.
const UNREADABLE: &str = "rules-unreadable";

/// How often a text is looked at again.
const ROUNDS: usize = 16;
/// How far before and after its keyword a rule that guesses looks.
const BEFORE: usize = 64;
const AFTER: usize = 320;
/// The longest id of a rule.
pub(super) const MAX_ID: usize = 64;

/// Rules, and what makes them quick.
pub(super) struct Engine {
    keywords: Keywords,
    /// The file that the rules are in, until the first keyword turns up.
    file: &'static str,
    /// `None` inside: they cannot be used.
    table: OnceLock<Option<RuleTable>>,
    /// Whether something is looked for in texts without a keyword too.
    runs_always: bool,
}

/// The rules, and when each runs.
#[derive(Default)]
struct RuleTable {
    rules: Vec<SecretRule>,
    /// The rules that each keyword stands for.
    of_keyword: Vec<Vec<usize>>,
    /// The rules without a keyword, which always run.
    always: Vec<usize>,
}

impl RuleTable {
    /// The rules by their keywords, and these.
    fn new(rules: Vec<SecretRule>) -> (RuleTable, Vec<String>) {
        let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut always = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            if rule.keywords().is_empty() {
                always.push(index);
            }
            for word in rule.keywords() {
                words.entry(word.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let (words, of_keyword) = words.into_iter().unzip();
        (RuleTable { rules, of_keyword, always }, words)
    }
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Match {
    range: Range<usize>,
    rule: usize,
}

impl Engine {
    pub(super) fn new(rules: Vec<SecretRule>) -> Engine {
        let (table, words) = RuleTable::new(rules);
        Engine {
            keywords: Keywords::new(words),
            file: "",
            runs_always: !table.always.is_empty(),
            table: OnceLock::from(Some(table)),
        }
    }

    /// The rules of a file that has been tried by a test: each has a keyword, and nothing but the
    /// keywords is read before one of them turns up in a text. Most runs never see one.
    pub(super) fn shipped(file: &'static str) -> Engine {
        Engine {
            keywords: Keywords::new(rules::keywords_in(file)),
            file,
            table: OnceLock::new(),
            runs_always: false,
        }
    }

    /// Redacts everything.
    #[cfg(test)]
    pub(super) fn all() -> Engine {
        Engine { table: OnceLock::from(None), runs_always: true, ..Engine::new(Vec::new()) }
    }

    /// The rules; nothing where they cannot be read, and then everything is a secret.
    fn table(&self) -> Option<&RuleTable> {
        let read = || rules::own(self.file).ok().map(|rules| RuleTable::new(rules).0);
        self.table.get_or_init(read).as_ref()
    }

    pub(super) fn rules(&self) -> &[SecretRule] {
        self.table().map_or(&[], |it| &it.rules)
    }

    /// The text without its secrets, and how many there were.
    ///
    /// What it returns has no secrets left that it knows of: a mark may uncover another one, so
    /// it looks again until it finds none.
    pub(super) fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, usize) {
        let mut shown = Cow::Borrowed(text);
        let mut count = 0;
        for _ in 0..ROUNDS {
            let found = self.find(&shown);
            if found.is_empty() {
                return (shown, count);
            }
            count += found.len();
            shown = Cow::Owned(self.replace(&shown, &found));
        }
        // Somebody made a text that uncovers one after the other without end: all of it goes.
        (Cow::Owned(format!("{OPEN}{UNREADABLE}]")), count + 1)
    }

    /// The text with a mark in the place of those secrets that may be masked. It looks once:
    /// what stands around a mark is shown as it is.
    pub(super) fn masked<'a>(&self, text: &'a str, may: impl Fn(&str) -> bool) -> Cow<'a, str> {
        let mut found = self.find(text);
        found.retain(|it| text.get(it.range.clone()).is_some_and(&may));
        match found.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.replace(text, &found)),
        }
    }

    /// Whether a rule looks at this text at all.
    pub(super) fn may_find(&self, text: &str) -> bool {
        let has_keyword = || self.keywords.hits(text).is_none_or(|it| !it.is_empty());
        self.runs_always || (self.keywords.may_be_in(text) && has_keyword())
    }

    /// True when the text is a mark and nothing else.
    pub(super) fn is_mark(&self, text: &str) -> bool {
        text.starts_with(OPEN)
            && self.marks(text).first().is_some_and(|mark| *mark == (0..text.len()))
    }

    fn find(&self, text: &str) -> Vec<Match> {
        let mut found = Vec::new();
        // Most texts end here: one pass, and nothing on the heap.
        if !self.runs_always && !self.keywords.may_be_in(text) {
            return found;
        }
        let candidates = self.table().and_then(|table| self.candidates(table, text));
        let Some(candidates) = candidates else {
            if !text.is_empty() && !self.is_mark(text) {
                found.push(Match { range: 0..text.len(), rule: usize::MAX });
            }
            return found;
        };
        for (rule, windows) in candidates {
            let Some(of) = self.rules().get(rule) else { continue };
            let ranges = windows.iter().flat_map(|window| of.find(text, window));
            found.extend(ranges.map(|range| Match { range, rule }));
        }
        if found.is_empty() {
            return found;
        }
        self.apart(text, found)
    }

    /// The rules that could match, going by their keywords, and where they could. Nothing where the
    /// keywords cannot be looked for.
    fn candidates(
        &self,
        table: &RuleTable,
        text: &str,
    ) -> Option<BTreeMap<usize, Vec<Range<usize>>>> {
        let mut windows: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        let everywhere = 0..text.len();
        for rule in &table.always {
            windows.insert(*rule, Vec::from([everywhere.clone()]));
        }
        for (keyword, hit) in self.keywords.hits(text)? {
            for rule in table.of_keyword.get(keyword).into_iter().flatten() {
                let near = table.rules.get(*rule).is_some_and(SecretRule::is_near_keyword);
                let window = match near {
                    true => {
                        text.floor_char_boundary(hit.start.saturating_sub(BEFORE))
                            ..text.ceil_char_boundary(hit.end + AFTER)
                    }
                    false => everywhere.clone(),
                };
                let windows = windows.entry(*rule).or_default();
                match windows.last_mut() {
                    Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
                    _ => windows.push(window),
                }
            }
        }
        Some(windows)
    }

    /// What was found, in order and not overlapping, marks that are there already left alone.
    fn apart(&self, text: &str, mut found: Vec<Match>) -> Vec<Match> {
        let marks = self.marks(text);
        for Match { range, .. } in &mut found {
            let first = marks.partition_point(|mark| mark.end <= range.start);
            let touched = marks.iter().skip(first).take_while(|mark| mark.start < range.end);
            let (mut start, mut end, mut covered) = (range.start, range.end, 0);
            for mark in touched {
                start = start.min(mark.start);
                end = end.max(mark.end);
                covered += mark.len();
            }
            // Nothing but marks: there is nothing left to take away.
            *range = if end - start == covered { 0..0 } else { start..end };
        }
        found.retain(|it| !it.range.is_empty());
        found.sort_by_key(|it| (it.range.start, it.rule));
        let mut apart: Vec<Match> = Vec::new();
        for next in found {
            match apart.last_mut() {
                Some(last) if next.range.start < last.range.end => {
                    last.range.end = last.range.end.max(next.range.end);
                    // Rules are listed from the telling to the guessing.
                    last.rule = last.rule.min(next.rule);
                }
                _ => apart.push(next),
            }
        }
        apart
    }

    /// Where marks stand in a text. Only marks of rules that are known count, so that nothing
    /// hides by looking like one.
    fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks = Vec::new();
        for (start, _) in text.match_indices(OPEN) {
            let rest = text.get(start + OPEN.len()..).unwrap_or_default();
            let end = rest.bytes().take(MAX_ID + 1).position(|byte| byte == b']');
            let Some(id) = end.and_then(|end| rest.get(..end)) else { continue };
            if id == BY_NAME || id == UNREADABLE || self.rules().iter().any(|rule| rule.id() == id)
            {
                marks.push(start..start + OPEN.len() + id.len() + 1);
            }
        }
        marks
    }

    fn replace(&self, text: &str, found: &[Match]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Match { range, rule } in found {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(OPEN);
            out.push_str(self.rules().get(*rule).map_or(UNREADABLE, |rule| rule.id()));
            out.push(']');
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}
