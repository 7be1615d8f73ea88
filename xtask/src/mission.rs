//! The table of `workshop/mission.md`: every item of the mission once, every test that it names is
//! there, and one of them says itself that it proves the item.

use std::collections::BTreeMap;

use crate::{mutants::Mutant, source::Source};

/// How many items each part of the mission has.
const PARTS: [(&str, usize); 6] =
    [("S0.", 37), ("S1.", 66), ("S2.", 31), ("S3.", 45), ("S4.", 58), ("C", 35)];

/// Facts, which have rows of their own: a letter, and a number where there are several.
const FACTS: &str = "PREVWASFHGDMUO";

/// What a row says that has no proof yet, before the reason: somebody can check whether that is
/// still so.
const OPEN: &str = "open: ";

/// What a row says that has no mistake of its own, before the reason.
const NO_MISTAKE: &str = "no mistake: ";

/// One row: the item, what it is, where it lives, what proves it.
struct Row<'a> {
    line: usize,
    item: &'a str,
    words: &'a str,
    lives: &'a str,
    proof: &'a str,
}

/// What is wrong with the table.
pub fn complaints(page: &str, sources: &[Source]) -> Vec<String> {
    let rows: Vec<Row<'_>> = (1..).zip(page.lines()).filter_map(|(n, line)| row(n, line)).collect();
    let mut wrong = order(&rows);
    for row in &rows {
        let said = |what: String| format!("workshop/mission.md:{}: {} {what}", row.line, row.item);
        if row.words.split_whitespace().count() < 2 {
            wrong.push(said("does not say what it is".to_owned()));
        }
        for place in quoted(row.lives) {
            if !exists(place, sources) {
                wrong.push(said(format!("lives in `{place}`, which is not there")));
            }
        }
        wrong.extend(unproven(row, sources).into_iter().map(said));
    }
    wrong.extend(facts(page, sources));
    wrong
}

/// Every item of the page, with what proves it.
pub fn proofs(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let rows = (1..).zip(page.lines()).filter_map(|(n, line)| row(n, line).or(fact(n, line)));
    rows.map(|it| (it.item, quoted(it.proof).collect())).collect()
}

/// What is wrong with the mutants that say which rows they belong to.
pub fn unmatched_mutants(page: &str, mutants: &[Mutant]) -> Vec<String> {
    let proofs = proofs(page);
    let rows = mutants.iter().flat_map(|it| it.rows.iter().map(move |row| (it, row)));
    let wrong = rows.filter_map(|(mutant, row)| {
        let (name, proof) = (&mutant.name, mutant.proof());
        match proofs.get(row.as_str()) {
            None => Some(format!("`{name}` is for {row}, which is no item of the mission")),
            Some(named) if !named.contains(&proof.as_str()) => {
                Some(format!("`{name}` is noticed by `{proof}`, which the row {row} does not name"))
            }
            Some(_) => None,
        }
    });
    wrong.collect()
}

/// The rows that no mutant is for, and that do not say why.
pub fn without_mistake(page: &str, mutants: &[Mutant]) -> Vec<String> {
    let has = |item: &str| mutants.iter().any(|it| it.rows.iter().any(|row| row == item));
    let rows = (1..).zip(page.lines()).filter_map(|(n, line)| row(n, line).or(fact(n, line)));
    let without = rows.filter(|it| !has(it.item) && !it.proof.contains(NO_MISTAKE));
    let said = |it: Row<'_>| {
        format!(
            "workshop/mission.md:{}: {} has no mutant in xtask/mutants, and does not say `{NO_MISTAKE}` with a reason",
            it.line, it.item
        )
    };
    without.map(said).collect()
}

/// What is wrong with the rows of facts. Each letter has at least one.
fn facts(page: &str, sources: &[Source]) -> Vec<String> {
    let rows = (1..).zip(page.lines()).filter_map(|(n, line)| fact(n, line));
    let rows: Vec<Row<'_>> = rows.collect();
    let has = |letter: char| rows.iter().any(|it| it.item.starts_with(letter));
    let missing = FACTS.chars().filter(|it| !has(*it));
    let mut wrong: Vec<String> =
        missing.map(|it| format!("workshop/mission.md: the fact {it} has no row")).collect();
    for row in &rows {
        let said = |what: String| format!("workshop/mission.md:{}: {} {what}", row.line, row.item);
        wrong.extend(unproven(row, sources).into_iter().map(said));
    }
    wrong
}

fn fact(line: usize, text: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = text.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [item, words, lives, proof, ""] = cells[..] else { return None };
    let mut letters = item.chars();
    let is_fact = letters.next().is_some_and(|it| FACTS.contains(it))
        && letters.all(|it| it.is_ascii_digit());
    is_fact.then_some(Row { line, item, words, lives, proof })
}

/// Tests that a page names and that are not there. A test is a name in backticks that begins with
/// one of our crates: `eclusa::gate::…`.
pub fn named_tests(source: &Source, sources: &[Source]) -> Vec<String> {
    let is_test = |name: &&str| {
        (name.starts_with("eclusa") || name.starts_with("xtask::")) && name.contains("::")
    };
    let missing = quoted(&source.text).filter(is_test).filter(|it| !has_test(it, sources));
    missing
        .map(|it| format!("{}: names the test `{it}`, which is not there", source.path))
        .collect()
}

/// Files of ours that a page names and that are not there: `crates/…`, `docs/…` and the like.
pub fn named_files(source: &Source, sources: &[Source]) -> Vec<String> {
    let rooms =
        ["bench/", "crates/", "docs/", "fuzz/", "scripts/", "tests/", "workshop/", "xtask/"];
    let is_file = |name: &&str| {
        rooms.iter().any(|it| name.starts_with(it)) && !name.contains([' ', '*', '<', '{', '…'])
    };
    // Names in code blocks are examples.
    let text: String = source.text.split("```").step_by(2).collect();
    let missing = quoted(&text).filter(is_file).filter(|it| !exists(it, sources));
    missing
        .map(|it| format!("{}: names the file `{it}`, which is not there", source.path))
        .collect()
}

fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = text.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [item, words, lives, proof, ""] = cells[..] else { return None };
    let is_item = |(part, _): (&str, usize)| {
        let rest = item.strip_prefix(part);
        rest.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    PARTS.into_iter().any(is_item).then_some(Row { line, item, words, lives, proof })
}

/// Every item, once, in order.
fn order(rows: &[Row<'_>]) -> Vec<String> {
    let all =
        PARTS.into_iter().flat_map(|(part, count)| (1..=count).map(move |n| format!("{part}{n}")));
    let mut rows = rows.iter();
    let mut wrong = Vec::new();
    for item in all {
        match rows.next() {
            Some(row) if row.item == item => {}
            Some(row) => {
                wrong.push(format!(
                    "workshop/mission.md:{}: {} stands where {item} should",
                    row.line, row.item
                ));
                return wrong;
            }
            None => {
                wrong.push(format!("workshop/mission.md: {item} is missing"));
                return wrong;
            }
        }
    }
    wrong.extend(rows.map(|it| format!("workshop/mission.md:{}: {} again", it.line, it.item)));
    wrong
}

/// The names in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn exists(place: &str, sources: &[Source]) -> bool {
    let inside = format!("{}/", place.trim_end_matches('/'));
    sources.iter().any(|it| it.path == place || it.path.starts_with(&inside))
}

/// What a proof claims and does not keep. A proof names tests (or files that run them), and one of
/// them names the item; or it says why there is none yet.
fn unproven(row: &Row<'_>, sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(reason) = row.proof.strip_prefix(OPEN) {
        if reason.split_whitespace().count() < 4 {
            wrong.push("is open without a reason".to_owned());
        }
        return wrong;
    }
    let mut mentioned = false;
    for name in quoted(row.proof) {
        let is_test = name.contains("::");
        let there = if is_test { has_test(name, sources) } else { exists(name, sources) };
        if !there {
            wrong.push(format!("names the test `{name}`, which is not there"));
        }
        mentioned |= match is_test {
            true => tests_of(name, sources).any(|text| mentions(text, row.item)),
            false => sources.iter().filter(|it| it.path == name).any(|it| {
                mentions(&it.text, row.item) || (!it.is_rust() && it.text.contains(row.item))
            }),
        };
    }
    match quoted(row.proof).next() {
        None => wrong.push("names no test, and is not `open: ` with a reason".to_owned()),
        Some(_) if !mentioned && wrong.is_empty() => {
            wrong.push("is named by none of its tests, in its name or its text".to_owned());
        }
        Some(_) => {}
    }
    wrong
}

/// True when a text names an item: `S1.22`, in a range (`S1.20-S1.24`), or as part of the name of a
/// function (`s1_22_`). A letter alone is a word of its own.
fn mentions(text: &str, item: &str) -> bool {
    let snake = format!("{}_", item.to_lowercase().replace('.', "_"));
    let starts = |at: usize, of: &str| {
        of.get(..at).and_then(|it| it.chars().last()).is_none_or(|it| !it.is_alphanumeric())
    };
    let in_name = text.match_indices(&snake).any(|(at, _)| starts(at, text));
    in_name || words(text).any(|word| word == item || in_range(word, item))
}

/// The words of the comments of a text: letters, digits, dots and dashes, without a final dot.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let comments = text.lines().filter_map(|line| line.split_once("//").map(|(_, it)| it));
    let is_part = |it: char| it.is_ascii_alphanumeric() || ".-".contains(it);
    comments.flat_map(move |it| it.split(move |it| !is_part(it))).map(|it| it.trim_matches('.'))
}

/// True for `S1.22` and the range `S1.20-S1.24`.
fn in_range(word: &str, item: &str) -> bool {
    let split = |text: &str| {
        let at = text.rfind(|it: char| !it.is_ascii_digit())? + 1;
        let number: usize = text.get(at..)?.parse().ok()?;
        Some((text.get(..at)?.to_owned(), number))
    };
    let Some((first, last)) = word.split_once('-') else { return false };
    let (Some(first), Some(last), Some(item)) = (split(first), split(last), split(item)) else {
        return false;
    };
    first.0 == item.0 && last.0 == item.0 && (first.1..=last.1).contains(&item.1)
}

/// True when there is a test of this name: `crate::module::…::function`, where the crate is one
/// of the workspace and each module is a file, a directory or a module of the file it is in.
fn has_test(name: &str, sources: &[Source]) -> bool {
    tests_of(name, sources).next().is_some()
}

/// The texts of the tests of this name, from the comment above each to its end.
fn tests_of<'a>(name: &str, sources: &'a [Source]) -> impl Iterator<Item = &'a str> {
    let parts: Vec<&str> = name.split("::").collect();
    let found: Vec<&str> = match &parts[..] {
        [package, modules @ .., function] => found(package, modules, function, sources),
        _ => Vec::new(),
    };
    found.into_iter()
}

fn found<'a>(
    package: &str,
    modules: &[&str],
    function: &str,
    sources: &'a [Source],
) -> Vec<&'a str> {
    let home = match package {
        "xtask" => "xtask/".to_owned(),
        "eclusa_bench" => "bench/".to_owned(),
        package => format!("crates/{}/", package.replace('_', "-")),
    };
    let function = format!("fn {function}(");
    let sources = sources.iter().filter(|it| it.is_rust() && it.path.starts_with(&home));
    let texts = sources.filter_map(|source| {
        let in_path = |module: &str| {
            source.path.split('/').any(|part| part.strip_suffix(".rs").unwrap_or(part) == module)
        };
        let in_file = |module: &str| source.text.contains(&format!("mod {module} {{"));
        let named = modules.iter().all(|it| in_path(it) || in_file(it));
        tested(&source.text, &function).filter(|_| named)
    });
    texts.collect()
}

/// The text of a function that is a test: an attribute that ends in `test]` or has `test(` stands
/// above it, with nothing but attributes, comments and blank lines between.
fn tested<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    let lines: Vec<&str> = text.lines().collect();
    let found = lines.iter().enumerate().filter(|(_, line)| line.contains(function));
    found.map(|(at, _)| at).find_map(|at| {
        let around = |it: &&&str| {
            let it = it.trim();
            it.is_empty() || it.starts_with("#[") || it.starts_with("//") || it.ends_with(")]")
        };
        let above: Vec<&&str> = lines.iter().take(at).rev().take_while(around).collect();
        let is_test = above
            .iter()
            .map(|it| it.trim())
            .any(|it| it.starts_with("#[") && (it.ends_with("test]") || it.contains("test(")));
        let indent = lines.get(at)?.chars().take_while(|it| *it == ' ').count();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines.iter().skip(at).take_while(|it| **it != end).count();
        let from = at - above.len();
        let text_at = |line: usize| lines.iter().take(line).map(|it| it.len() + 1).sum::<usize>();
        let end = text_at(at + length).min(text.len());
        is_test.then(|| text.get(text_at(from)..end)).flatten()
    })
}
