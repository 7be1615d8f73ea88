//! The table of `docs/mission.md`: every item of the mission once, and every test that it names
//! is there.

use crate::source::Source;

/// How many items each part of the mission has.
const PARTS: [(&str, usize); 6] =
    [("S0.", 37), ("S1.", 66), ("S2.", 31), ("S3.", 45), ("S4.", 58), ("C", 30)];

/// The issues that an item may wait for.
const ISSUES: [&str; 4] = ["3", "4", "5", "6"];

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
        let said = |what: String| format!("docs/mission.md:{}: {} {what}", row.line, row.item);
        if row.words.split_whitespace().count() < 2 {
            wrong.push(said("does not say what it is".to_owned()));
        }
        for place in quoted(row.lives) {
            if !exists(place, sources) {
                wrong.push(said(format!("lives in `{place}`, which is not there")));
            }
        }
        wrong.extend(unproven(row.proof, sources).into_iter().map(said));
    }
    wrong
}

/// Tests that a page names and that are not there. A test is a name in backticks that begins with
/// one of our crates: `eclusa::gate::…`.
pub fn named_tests(source: &Source, sources: &[Source]) -> Vec<String> {
    let is_test = |name: &&str| name.starts_with("eclusa") && name.contains("::");
    let missing = quoted(&source.text).filter(is_test).filter(|it| !has_test(it, sources));
    missing
        .map(|it| format!("{}: names the test `{it}`, which is not there", source.path))
        .collect()
}

/// Files of ours that a page names and that are not there: `crates/…`, `docs/…` and the like.
pub fn named_files(source: &Source, sources: &[Source]) -> Vec<String> {
    let rooms = ["bench/", "crates/", "docs/", "fuzz/", "scripts/", "tests/", "tidy/"];
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
                    "docs/mission.md:{}: {} stands where {item} should",
                    row.line, row.item
                ));
                return wrong;
            }
            None => {
                wrong.push(format!("docs/mission.md: {item} is missing"));
                return wrong;
            }
        }
    }
    wrong.extend(rows.map(|it| format!("docs/mission.md:{}: {} again", it.line, it.item)));
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

/// What a proof claims and does not keep. A proof names tests (or files that run them), or says
/// what the item waits for; it may do both.
fn unproven(proof: &str, sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut says = proof.contains("later");
    for issue in proof.split("waits for issue ").skip(1) {
        let number: String = issue.chars().take_while(char::is_ascii_digit).collect();
        says |= ISSUES.contains(&number.as_str());
        if !ISSUES.contains(&number.as_str()) {
            wrong.push(format!("waits for issue `{number}`, which is none"));
        }
    }
    for name in quoted(proof) {
        says = true;
        let there =
            if name.contains("::") { has_test(name, sources) } else { exists(name, sources) };
        if !there {
            wrong.push(format!("names the test `{name}`, which is not there"));
        }
    }
    if !says {
        wrong.push("names no test, and nothing that it waits for".to_owned());
    }
    wrong
}

/// True when there is a test of this name: `crate::module::…::function`, where the crate is one
/// of the workspace and each module is a file, a directory or a module of the file it is in.
fn has_test(name: &str, sources: &[Source]) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let [package, modules @ .., function] = &parts[..] else { return false };
    let home = match *package {
        "eclusa_tidy" => "tidy/".to_owned(),
        "eclusa_bench" => "bench/".to_owned(),
        package => format!("crates/{}/", package.replace('_', "-")),
    };
    let function = format!("fn {function}(");
    sources.iter().filter(|it| it.is_rust() && it.path.starts_with(&home)).any(|source| {
        let in_path = |module: &str| {
            source.path.split('/').any(|part| part.strip_suffix(".rs").unwrap_or(part) == module)
        };
        let in_file = |module: &str| source.text.contains(&format!("mod {module} {{"));
        modules.iter().all(|it| in_path(it) || in_file(it)) && is_tested(&source.text, &function)
    })
}

/// True when the function is there and is a test: an attribute that ends in `test]` or has
/// `test(` stands above it, with nothing but attributes, comments and blank lines between.
fn is_tested(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let found = lines.iter().enumerate().filter(|(_, line)| line.contains(function));
    found.map(|(at, _)| at).any(|at| {
        let above = lines.iter().take(at).rev();
        let mut above = above.take_while(|it| {
            it.is_empty() || it.starts_with("#[") || it.starts_with("//") || it.ends_with(")]")
        });
        above.any(|it| it.starts_with("#[") && (it.ends_with("test]") || it.contains("test(")))
    })
}
