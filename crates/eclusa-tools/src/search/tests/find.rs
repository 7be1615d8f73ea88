//! What is found, in which order, and what is said when nothing is.

use proptest::prelude::*;

use super::*;

fn tree() -> Place {
    let place = Place::new();
    place
        .file("src/main.rs", "fn main() {\n    run();\n}\n")
        .file("src/run/mod.rs", "pub fn run() {\n    // Run\n}\n")
        .file("src/web.ts", "run()\r\nrun2()\r\n")
        .file("README.md", "# run\n")
        .file(".github/ci.yml", "run: make\n");
    place
}

/// Shows S4.9.
#[test]
fn list_shows_one_directory_or_all_beneath_it() {
    let place = tree();
    let text = place.says("list", json!({}));
    assert_eq!(lines(&text), [".github/", "README.md  6 bytes", "src/"]);
    let text = place.says("list", json!({"path": "src", "recursive": true}));
    assert_eq!(lines(&text), ["src/main.rs", "src/run/", "src/run/mod.rs", "src/web.ts"]);
    let text = place.says("list", json!({"recursive": true, "glob": "*.rs"}));
    assert_eq!(lines(&text), ["src/main.rs", "src/run/mod.rs"]);
    let text = place.says("list", json!({"glob": "*.rs"}));
    assert_eq!(text, "[nothing to list in `.`]");
    assert!(place.fails("list", json!({"path": "README.md"})).contains("README.md"));
    assert!(place.fails("list", json!({"path": "scr"})).contains("src"));
    assert!(place.fails("list", json!({"path": "../.."})).contains("outside"));
}

#[test]
fn globs_fit_names_at_any_depth_and_paths_with_slashes() {
    let place = tree();
    let found = |pattern: &str| {
        let text = place.says("glob", json!({"pattern": pattern}));
        lines(&text).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("*.rs"), ["src/main.rs", "src/run/mod.rs"]);
    assert_eq!(found("src/*.rs"), ["src/main.rs"], "a star stays within a name");
    assert_eq!(found("./src/**/*.{rs,ts}"), ["src/main.rs", "src/run/mod.rs", "src/web.ts"]);
    assert_eq!(found("*.yml"), [".github/ci.yml"]);
    let text = place.says("glob", json!({"pattern": "run/*", "path": "src"}));
    assert_eq!(lines(&text), ["src/run/mod.rs"]);
    let text = place.says("glob", json!({"pattern": "*.go"}));
    assert_eq!(text, "[no file fits `*.go` in `.`]");
    for wrong in ["", "/etc/*", "../*", "[a"] {
        assert!(
            place.fails("glob", json!({"pattern": wrong})).contains("is not a glob"),
            "{wrong}"
        );
    }
}

#[test]
fn grep_finds_lines_with_all_its_options() {
    let place = tree();
    let grep = |mut args: Value| {
        args["path"] = json!("src");
        let text = place.says("grep", args);
        lines(&text).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(grep(json!({"pattern": r"^\s+run\("})), ["src/main.rs:2:    run();"]);
    assert_eq!(grep(json!({"pattern": "run()", "literal": true})).len(), 3);
    assert_eq!(grep(json!({"pattern": "RUN2", "ignore_case": true})), ["src/web.ts:2:run2()"]);
    assert_eq!(grep(json!({"pattern": "run", "glob": "!*.rs"})).len(), 2);
    assert_eq!(grep(json!({"pattern": "run", "file_type": "rust"})).len(), 2);
    assert_eq!(
        grep(json!({"pattern": "Run", "context": 1})),
        ["src/run/mod.rs-1-pub fn run() {", "src/run/mod.rs:2:    // Run", "src/run/mod.rs-3-}"]
    );
    assert_eq!(grep(json!({"pattern": "Run", "before": 1})).len(), 2);
    assert_eq!(grep(json!({"pattern": "Run", "after": 1})).len(), 2);
    let apart = grep(json!({"pattern": "main|^}", "glob": "main.rs", "after": 0, "before": 0}));
    assert_eq!(apart.len(), 2);
    assert_eq!(
        grep(json!({"pattern": r"\{.*run", "multiline": true, "glob": "main.rs"})),
        ["src/main.rs:1:fn main() {", "src/main.rs:2:    run();"]
    );
    assert_eq!(
        grep(json!({"pattern": "run", "output": "files"})),
        ["src/main.rs", "src/run/mod.rs", "src/web.ts"]
    );
    assert_eq!(
        grep(json!({"pattern": "run", "output": "count"})),
        ["src/main.rs:1", "src/run/mod.rs:1", "src/web.ts:2"]
    );
}

#[test]
fn grep_searches_one_file_if_that_is_asked_for() {
    let place = tree();
    let text = place.says("grep", json!({"pattern": "run", "path": "src/web.ts"}));
    assert_eq!(text, "src/web.ts:1:run()\nsrc/web.ts:2:run2()\n[2 matches in 1 file]");
    let whole = place.root().join("README.md");
    let text = place.says("grep", json!({"pattern": "run", "path": whole}));
    assert_eq!(lines(&text), ["README.md:1:# run"]);
}

#[test]
fn gaps_between_matches_are_marked() {
    let place = Place::new();
    place.file("a", "x\n1\n2\n3\n4\nx\n");
    let text = place.says("grep", json!({"pattern": "x", "context": 1}));
    assert_eq!(lines(&text), ["a:1:x", "a-2-1", "--", "a-5-4", "a:6:x"]);
    let text = place.says("grep", json!({"pattern": "x", "context": 1, "limit": 1}));
    assert_eq!(lines(&text), ["a:1:x", "a-2-1"]);
    let text = place.says("grep", json!({"pattern": "x", "context": 1, "offset": 1}));
    assert_eq!(lines(&text), ["a-5-4", "a:6:x"]);
}

#[test]
fn what_cannot_be_searched_is_explained() {
    let place = tree();
    let why = place.fails("grep", json!({"pattern": "run("}));
    assert_eq!(
        why,
        "`run(` is not a regular expression: unclosed group; escape what is meant as it is (`\\(`), \
         or set `literal: true`"
    );
    let why = place.fails("grep", json!({"pattern": "a\\nb"}));
    assert!(why.contains("multiline: true"), "{why}");
    let why = place.fails("grep", json!({"pattern": "a\nb", "literal": true}));
    assert!(why.contains("multiline: true"), "{why}");
    assert!(place.fails("grep", json!({"pattern": ""})).contains("empty"));
    let why = place.fails("grep", json!({"pattern": "x", "file_type": "nosuch"}));
    assert!(why.contains("`*.nosuch`"), "{why}");
    assert!(
        place.fails("grep", json!({"pattern": "x", "path": "nosuch"})).contains("no such file")
    );
    let text = place.says("grep", json!({"pattern": "zebra", "path": "src", "glob": "*.rs"}));
    assert_eq!(text, "[no match for `zebra` in 2 files that fit `*.rs` in `src`]");
}

#[test]
fn pages_follow_each_other() {
    let place = Place::new();
    for at in 0..7 {
        place.file(format!("d{}/f{at}", at % 3), "hit\nhit\n");
    }
    for (tool, mut args) in [
        ("glob", json!({"pattern": "f*"})),
        ("list", json!({"recursive": true})),
        ("grep", json!({"pattern": "hit"})),
        ("grep", json!({"pattern": "hit", "output": "files"})),
        ("grep", json!({"pattern": "hit", "output": "count"})),
    ] {
        let whole = place.says(tool, args.clone());
        let mut pages = Vec::new();
        args["limit"] = json!(3);
        loop {
            args["offset"] = json!(pages.len());
            let page = place.says(tool, args.clone());
            pages.extend(lines(&page).into_iter().map(str::to_owned));
            if !last(&page).contains("`offset: ") {
                break;
            }
            assert!(last(&page).contains(&format!("`offset: {}`", pages.len())), "{page}");
        }
        assert_eq!(pages, lines(&whole), "{tool} {args}");
        args["offset"] = json!(50);
        assert!(last(&place.says(tool, args.clone())).contains("no more"), "{tool}");
    }
    assert!(place.fails("glob", json!({"pattern": "*", "offset": 200_000})).contains("narrow"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the order of the walk, a page is a piece of the sorted list of all matches.
    #[test]
    fn a_page_of_matches_is_a_piece_of_the_naive_list(
        tree in proptest::collection::btree_map("[ab]/[a-c]{1,2}", "[xy\n]{0,12}", 0..12),
        offset in 0usize..12,
        limit in 1usize..6,
    ) {
        let place = Place::new();
        let mut naive = Vec::new();
        for (path, content) in &tree {
            place.file(path, content);
            let hits = content.split('\n').enumerate().filter(|(_, line)| line.contains('x'));
            naive.extend(hits.map(|(at, line)| format!("{path}:{}:{line}", at + 1)));
        }
        let text = place.says("grep", json!({"pattern": "x", "offset": offset, "limit": limit}));
        let wanted: Vec<&String> = naive.iter().skip(offset).take(limit).collect();
        prop_assert_eq!(lines(&text), wanted);
        prop_assert_eq!(text.contains("there are more"), naive.len() > offset + limit && naive.len() > offset);
    }
}
