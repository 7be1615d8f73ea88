//! Forms of shell text that run commands no parser can show, or that shells read differently.

use crate::syntax::outline::{Outline, ParsedCommand, ParsedRedirect, Span};
use crate::variables::influence;

/// A form that was found, and where.
pub(crate) type HiddenForm = (&'static str, usize);

/// Characters by which a text can run something, or hide that it does.
const SPECIAL: [char; 5] = ['$', '`', '\\', '\'', '"'];

/// True when a substitution holds a here-document and more than one command. bash keeps a
/// substitution as it would print it, and 5.2 prints the line behind a here-document without its
/// semicolons: `a; b` becomes `a b`.
fn joined(outline: &Outline, span: Span) -> bool {
    let inside =
        |it: &&ParsedCommand| it.words.iter().chain(&it.assignments).any(|it| span.holds(*it));
    let document = |it: &ParsedRedirect| it.body.is_some() && span.holds(it.target);
    outline.commands.iter().any(|it| it.redirects.iter().any(document))
        && outline.commands.iter().filter(inside).count() > 1
}

/// Everything suspicious in `source` that does not depend on which command it stands in.
pub(crate) fn find(source: &str, outlines: [&Outline; 2]) -> Vec<HiddenForm> {
    let mut found = Vec::new();
    let [first, second] = outlines;
    for span in &second.substitutions {
        let text = text(source, *span);
        if text.starts_with('`') && text.contains('\\') {
            found.push(("a backslash inside backquotes is read twice", span.start));
        }
        if !text.starts_with('`') && joined(second, *span) {
            found.push(("bash may join what stands behind a here-document here", span.start));
        }
    }
    for redirect in second.commands.iter().flat_map(|it| &it.redirects) {
        let before = source.get(..redirect.target.start).unwrap_or_default();
        let target = text(source, redirect.target);
        // There even a line that goes on in quotes is joined before anything else is read.
        let expands = redirect.body.is_some_and(|it| it.expands);
        if expands && target.contains("\\\n") && target.contains(['$', '`']) {
            found.push(("a line of a here-document goes on in the next", redirect.target.start));
        }
        if before.trim_end().ends_with('&') && target.contains(SPECIAL) && !is_variable(target) {
            found.push(("what stands behind `>&` is read twice", redirect.target.start));
        }
        if target.len() > 1 && target.starts_with('-') && before.trim_end().ends_with('&') {
            found.push((
                "a descriptor is closed, and a word begins behind the dash",
                redirect.target.start,
            ));
        }
    }
    continued(source, second, &mut found);
    for span in outlines.iter().flat_map(|it| &it.commands).flat_map(|it| &it.assignments) {
        let next = source.as_bytes().get(span.end);
        let ends = next.is_none_or(|it| b" \t\n;&|()<>`\"".contains(it));
        if text(source, *span).ends_with(')') && !ends {
            found.push(("a word begins right behind a list or a substitution", span.end));
        }
    }
    for form in ["$$(", "$${"] {
        let found_at = source.match_indices(form).find(|(at, _)| !literal(second, *at));
        found.extend(found_at.map(|(at, _)| ("a dollar sign after `$$` is read in two ways", at)));
    }
    if source.ends_with('\\') {
        found.push(("the text ends with a backslash", source.len() - 1));
    }
    for (at, _) in source.match_indices("$((") {
        let known = |it: &Outline| it.arithmetic.binary_search_by_key(&at, |it| it.start).is_ok();
        let arithmetic = known(first) && known(second);
        if !arithmetic && !literal(second, at) {
            found.push(("`$((` may begin arithmetic or a group of commands", at));
        }
    }
    found
}

/// Forms in which a value is worked out, and can run commands that it holds. Whatever they run, they
/// run where the command runs: a sandbox contains it.
pub(crate) fn worked_out(source: &str, outlines: [&Outline; 2]) -> Vec<HiddenForm> {
    let mut found = Vec::new();
    let [first, second] = outlines;
    let mut seen_up_to = 0;
    for span in merged(&first.arithmetic, &second.arithmetic) {
        // What stands inside arithmetic was looked at with it.
        if span.end <= seen_up_to {
            continue;
        }
        seen_up_to = span.end;
        if !text(source, span).bytes().all(is_number_or_operator) {
            found.push((
                "arithmetic over names can run commands that their values hold",
                span.start,
            ));
        }
    }
    for redirect in second.commands.iter().flat_map(|it| &it.redirects) {
        let before = source.get(..redirect.target.start).unwrap_or_default();
        if before.trim_end().ends_with('&') && is_variable(text(source, redirect.target)) {
            found.push(("a value behind `>&` is read twice", redirect.target.start));
        }
    }
    for span in merged(&first.parameters, &second.parameters) {
        let inside = text(source, span);
        let inside = inside.strip_prefix("${").unwrap_or(inside);
        let inside = inside.strip_suffix('}').unwrap_or(inside);
        if let Some(what) = parameter(inside) {
            found.push((what, span.start));
        }
    }
    found
}

/// What stands in `((…))` and `$((…))` that is not arithmetic over numbers: it may be a group of
/// commands after all. And a fork bomb that lacks the blanks which would make it one.
pub(crate) fn groups(source: &str, outlines: [&Outline; 2]) -> Vec<String> {
    let [_, second] = outlines;
    let inside = |at: usize| {
        let rest = source.get(at + 2..)?;
        let end = rest.rfind("))").or_else(|| rest.rfind(')'))?;
        rest.get(..end)
    };
    let groups = source.match_indices("((").filter(|(at, _)| !literal(second, *at));
    let groups = groups.filter_map(|(at, _)| inside(at)).take(4);
    let mut found: Vec<String> = groups
        .filter(|it| !it.bytes().all(is_number_or_operator))
        .flat_map(|it| {
            let whole = it.trim_end_matches([')', ' ', '\n', '\t']);
            [it.replace(')', " "), whole.to_owned()]
        })
        .collect();
    let heads = source.match_indices("()").filter(|(at, _)| !literal(second, *at));
    let bomb = heads.filter_map(|(at, _)| source.get(..at)).take(8).any(|before| {
        let before = before.trim_end();
        let name = before.rsplit([' ', ';', '\n', '\t', '&', '|', '(', '{']).next();
        let name = name.filter(|it| !it.is_empty());
        name.is_some_and(|it| {
            let tight: String = source.split_whitespace().collect();
            tight.contains(&format!("{it}(){{{it}|{it}&}}"))
        })
    });
    if bomb {
        found.push(":(){ :|:& };:".to_owned());
    }
    found.extend(read_twice(source, second));
    found
}

/// What stands behind `>&` is worked out once to see whether it is a number, and again because it
/// is a file: even single quotes do not keep `$(…)` from running.
fn read_twice<'s>(source: &'s str, outline: &'s Outline) -> impl Iterator<Item = String> + use<'s> {
    let redirects = outline.commands.iter().flat_map(|it| &it.redirects);
    redirects.filter_map(|it| {
        let before = source.get(..it.target.start)?;
        let twice = before.trim_end().ends_with('&') && it.body.is_none();
        let bare = text(source, it.target).replace(['\'', '"', '\\'], "");
        (twice && bare.contains(['$', '`'])).then(|| format!(": \"{bare}\""))
    })
}

/// `\` and a line end in the middle of a word: what is on both sides becomes one word.
fn continued(source: &str, outline: &Outline, found: &mut Vec<HiddenForm>) {
    for (at, _) in source.match_indices("\\\n") {
        let before = source.as_bytes().get(..at).and_then(<[u8]>::last);
        let blank = before.is_none_or(|it| matches!(it, b' ' | b'\t' | b'\n'));
        if !blank && !literal(outline, at) {
            found.push(("a word goes on in the next line", at));
        }
    }
}

fn literal(outline: &Outline, at: usize) -> bool {
    let after = outline.literals.partition_point(|it| it.start <= at);
    let before = after.checked_sub(1).and_then(|it| outline.literals.get(it));
    before.is_some_and(|it| at < it.end)
}

fn merged(one: &[Span], other: &[Span]) -> Vec<Span> {
    let mut spans = [one, other].concat();
    spans.sort_unstable();
    spans.dedup();
    spans
}

fn is_number_or_operator(byte: u8) -> bool {
    byte.is_ascii_digit() || b" \t\n$(){}[]+-*/%<>=!&|^~?:,".contains(&byte)
}

/// `$name`, `${name}` or `${name[1]}`, and nothing else: what is read twice is a value.
fn is_variable(target: &str) -> bool {
    let Some(inside) = target.strip_prefix('$') else { return false };
    let inside = inside.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(inside);
    let (name, index) = inside.split_once('[').unwrap_or((inside, "0]"));
    let digits = index.strip_suffix(']');
    let plain = |it: &str| it.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric());
    let begins = name.starts_with(|it: char| it == '_' || it.is_ascii_alphabetic());
    begins && plain(name) && digits.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}

/// What is inside `${…}`.
fn parameter(inside: &str) -> Option<&'static str> {
    if inside.starts_with('!') {
        return Some("`${!name}` is the value of a variable that another one names");
    }
    let name = inside.strip_prefix('#').unwrap_or(inside);
    let end = name.find(|it: char| it != '_' && !it.is_ascii_alphanumeric()).unwrap_or(name.len());
    let mut rest = name.get(end..).unwrap_or_default();
    if end == 0 {
        // `$@`, `$*`, `$?` and their like.
        rest = rest.strip_prefix(['@', '*', '?', '$', '!', '-', '#']).unwrap_or(rest);
    }
    if let Some(index) = rest.strip_prefix('[') {
        let (index, after) = index.split_once(']').unwrap_or((index, ""));
        if !matches!(index, "@" | "*") && !index.bytes().all(|it| it.is_ascii_digit()) {
            return Some("an index that is worked out can run commands");
        }
        rest = after;
    }
    let set = rest.strip_prefix(':').unwrap_or(rest).starts_with('=');
    if set && influence(name.get(..end).unwrap_or_default()).is_grave() {
        return Some("it sets a variable that decides what later commands run or load");
    }
    if rest.starts_with('@') {
        return Some("`${name@…}` can run commands that the value holds");
    }
    if let Some(slice) = rest.strip_prefix(':')
        && !slice.starts_with(['-', '=', '?', '+'])
        && !slice.bytes().all(|it| it.is_ascii_digit() || matches!(it, b':' | b' ' | b'-'))
    {
        return Some("a part of a value whose bounds are worked out can run commands");
    }
    None
}

fn text(source: &str, span: Span) -> &str {
    source.get(span.start..span.end).unwrap_or_default()
}

impl Outline {
    /// A function that starts itself more than once at a time: a fork bomb.
    pub(crate) fn bomb(&self, source: &str) -> Option<String> {
        let count = self.functions.len();
        // calls[f][g]: 1 when f calls g, 2 when it does so beside other commands.
        let mut calls = vec![vec![0_u8; count]; count];
        for seen in &self.commands {
            let Some(word) = seen.words.first() else { continue };
            let name: String =
                text(source, *word).chars().filter(|it| !matches!(it, '\'' | '"' | '\\')).collect();
            let context = self.contexts.get(seen.context);
            let forks = context.is_some_and(|it| it.background || it.piped);
            for (from, outer) in self.functions.iter().enumerate() {
                if !outer.body.holds(*word) {
                    continue;
                }
                for (to, inner) in self.functions.iter().enumerate() {
                    let slot = calls.get_mut(from).and_then(|it| it.get_mut(to));
                    if let Some(slot) = slot
                        && inner.name == name
                    {
                        *slot = (*slot).max(1 + u8::from(forks));
                    }
                }
            }
        }
        let start = (0..count).find(|it| loops_with_fork(&calls, *it))?;
        self.functions.get(start).map(|it| it.name.clone())
    }
}

/// True when `start` is reached from itself, with a fork on the way.
fn loops_with_fork(calls: &[Vec<u8>], start: usize) -> bool {
    // Each function is visited at most twice: without and with a fork behind it.
    let mut visited = vec![[false; 2]; calls.len()];
    let mut stack = vec![(start, false)];
    while let Some((at, forked)) = stack.pop() {
        for (to, kind) in calls.get(at).into_iter().flatten().enumerate() {
            if *kind == 0 {
                continue;
            }
            let forked = forked || *kind == 2;
            if to == start && forked {
                return true;
            }
            let slot = visited.get_mut(to).and_then(|it| it.get_mut(usize::from(forked)));
            if let Some(slot) = slot
                && !*slot
            {
                *slot = true;
                stack.push((to, forked));
            }
        }
    }
    false
}
