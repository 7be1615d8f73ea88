//! Tables complain too: of crates, of dependencies, of the mission and of mutants.

use xtask::{
    crate_table, dependencies, direction, mission,
    mutants::{self, Edit, Mutant},
    pages, prelude,
    source::Source,
    tool_names,
};

use crate::can_fail::complains;

#[test]
fn crates_that_know_what_they_may_not() {
    let knows = |dependencies: &str| {
        let target = r#"[{"name": "a", "kind": ["lib"], "src_path": "/x/crates/a/src/lib.rs"}]"#;
        let text = format!(
            r#"{{"packages": [{{"name": "a", "manifest_path": "/x/crates/a/Cargo.toml", "targets": {target}, "dependencies": [{dependencies}]}}]}}"#
        );
        direction::read(text.as_bytes()).unwrap()
    };
    let on = |name: &str, kind: &str| {
        format!(r#"{{"name": "{name}", "kind": {kind}, "path": "/x/crates/{name}"}}"#)
    };
    let wrong = |dependencies: &str, rows: &str| {
        direction::complaints(&knows(dependencies), &direction::rows(rows).unwrap())
    };
    let rows = "[knows]\na = ['b']\n[tests-know]\na = ['c']\n";
    let right = [on("b", "null"), on("b", "\"dev\""), on("c", "\"dev\"")].join(",");
    let foreign = r#"{"name": "serde", "kind": null, "path": null}"#;
    assert_eq!(wrong(&[right.clone(), foreign.to_owned()].join(","), rows), Vec::<String>::new());
    complains(&wrong(&[right.clone(), on("d", "null")].join(","), rows), "`a` may not know `d`");
    complains(&wrong(&[right.clone(), on("d", "\"build\"")].join(","), rows), "may not know `d`");
    // What tests may know, the crate may not.
    complains(&wrong(&[on("b", "null"), on("c", "null")].join(","), rows), "may not know `c`");
    complains(&wrong(&on("c", "\"dev\""), rows), "`a` may know `b`, and does not");
    let none = "[knows]\ngone = []\n[tests-know]\n";
    complains(&wrong("", none), "`a` has no row");
    complains(&wrong("", none), "there is no crate `gone`");
}

#[test]
fn the_first_sentence_of_a_file_is_what_the_table_says() {
    let text = "//! What a | is for, in\n//! two lines. And more.\n//!\n//! Details.\n";
    assert_eq!(crate_table::sentence(text), "What a \\| is for, in two lines");
    let page = "before\n<!-- made by scripts/pages from the code: crates -->\nold\n<!-- until here -->\nafter";
    let with = crate_table::with_table(page, "| new |\n").unwrap();
    assert!(with.contains("| new |") && !with.contains("old") && with.ends_with("after"), "{with}");
    assert!(crate_table::with_table("no such lines", "").is_err());
}

#[test]
fn tools_are_known_by_their_names_in_the_code() {
    let names = |text: &str| {
        let names = tool_names::all(&[Source::new("crates/a/src/b.rs", text)]);
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    let typed = "impl TypedTool for A { const NAME: &'static str = \"a\"; }";
    assert_eq!(names(typed), "a");
    let by_hand =
        "const N: &str = \"b\";\nimpl eclusa::Tool for B { fn name(&self) -> &str { N } }";
    assert_eq!(names(by_hand), "b");
    let of_a_door = "/// The tool that waits.\npub(crate) const W: &str = \"w\";";
    assert_eq!(names(of_a_door), "w");
    for text in [
        "impl Approver for A { fn name(&self) -> &str { \"a\" } }",
        "impl Tool for A { fn name(&self) -> &str { &self.name } }",
        "/// How long it waits.\nconst W: &str = \"w\";",
    ] {
        assert_eq!(names(text), "", "{text}");
    }
    assert_eq!(tool_names::sections("# A\n## b\n### c\n"), ["b".to_owned()].into());
}

#[test]
fn dependencies_nobody_accounts_for() {
    let source = Source::new("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"\ntoml = \"1\"");
    let manifests = dependencies::manifests(&[source]).unwrap();
    let page = "| `serde` | reads and writes | hand-written code |\n| `toml` | | |\n| `gone` | a b | c d |";
    let wrong = dependencies::accounted(&manifests, page);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    complains(&wrong, "no line says what `toml` is for");
    complains(&wrong, "nothing depends on `gone`");
}

/// The whole table, each item with this proof, but with one line changed.
fn table(change: impl Fn(&str) -> Option<String>) -> String {
    let parts = [("S0.", 37), ("S1.", 66), ("S2.", 31), ("S3.", 45), ("S4.", 58), ("C", 35)];
    let items = parts.into_iter().flat_map(|(part, n)| (1..=n).map(move |n| format!("{part}{n}")));
    let lines = items.filter_map(|item| {
        change(&item).or(Some(format!("| {item} | some words | | {OPEN_ROW} |\n")))
    });
    let facts = "PREVWASFHGDMUO".chars();
    let facts = facts.map(|it| format!("| {it} | some words | | {OPEN_ROW} |\n"));
    lines.chain(facts).collect()
}

const OPEN_ROW: &str = "open: nobody has built it yet";

#[test]
fn mission_tables_that_are_not_whole_or_not_true() {
    let sources = [Source::new(
        "crates/eclusa/tests/gate/permit.rs",
        "// S0.9\n#[tokio::test]\nasync fn nobody_is_asked() {\n    // S0.1-S0.3, C7\n}\n\n#[test]\nfn s0_4_is_named() {\n}\nfn not_a_test() {}",
    )];
    let wrong = |page: &str| mission::complaints(page, &sources);
    assert_eq!(wrong(&table(|_| None)), Vec::<String>::new());
    complains(&wrong(""), "S0.1 is missing");
    complains(
        &wrong(&table(|it| (it == "S1.5").then(String::new))),
        "S1.6 stands where S1.5 should",
    );
    let again = format!("| C30 | some words | | {OPEN_ROW} |\n");
    complains(&wrong(&(table(|_| None) + &again)), "C30 again");
    complains(&wrong(&table(|_| None).replace("| G |", "| g |")), "the fact G has no row");
    let with = |row: &str| {
        let row = format!("{row}\n");
        wrong(&table(|it| (it == "S0.1").then(|| row.clone())))
    };
    complains(&with(&format!("| S0.1 | words | | {OPEN_ROW} |")), "does not say what it is");
    complains(&with("| S0.1 | some words | | yes |"), "names no test");
    complains(&with("| S0.1 | some words | | later |"), "names no test");
    complains(&with("| S0.1 | some words | | open: later |"), "open without a reason");
    let gone = format!("| S0.1 | some words | `crates/gone.rs` | {OPEN_ROW} |");
    complains(&with(&gone), "which is not there");
    for test in [
        "eclusa::gate::permit::somebody_is_asked",
        "eclusa::gate::review::nobody_is_asked",
        "eclusa_store::gate::permit::nobody_is_asked",
        "eclusa::gate::permit::not_a_test",
    ] {
        complains(&with(&format!("| S0.1 | some words | | `{test}` |")), test);
    }
    let page = "as `eclusa::gate::permit::nobody_is_asked` and `eclusa::gate::gone` show";
    let page = Source::new("ARCHITECTURE.md", page);
    assert_eq!(mission::named_tests(&page, &sources).len(), 1);
    let good = "| S0.1 | some words | `crates/eclusa` | `eclusa::gate::permit::nobody_is_asked` |";
    assert_eq!(with(good), Vec::<String>::new());
    // Named in a range, in a comment above, in its own name; or by none of them.
    let proven = |item: &str, test: &str| {
        let row = format!("| {item} | some words | | `eclusa::gate::permit::{test}` |\n");
        wrong(&table(|it| (it == item).then(|| row.clone())))
    };
    for (item, test) in
        [("S0.3", "nobody_is_asked"), ("S0.9", "nobody_is_asked"), ("S0.4", "s0_4_is_named")]
    {
        assert_eq!(proven(item, test), Vec::<String>::new());
    }
    for (item, test) in
        [("S0.5", "nobody_is_asked"), ("S0.1", "s0_4_is_named"), ("C1", "s0_4_is_named")]
    {
        complains(&proven(item, test), "is named by none of its tests");
    }
}

#[test]
fn mutants_that_fit_nowhere() {
    let edit = |find: &str, replace: &str| {
        Edit { file: "a.rs".into(), find: find.into(), replace: replace.into() }
            .apply("one two two")
    };
    assert_eq!(edit("one", "1"), Ok("1 two two".to_owned()));
    for (find, replace) in [("two", "2"), ("three", "3"), ("one", "one")] {
        assert!(edit(find, replace).is_err(), "{find}");
    }
}

#[test]
fn mutants_that_something_has_changed_about() {
    let list = |only: &str, file: &str| {
        let text = format!(
            "[[mutant]]\nname = 'a'\ntest = 'gate'\nonly = '{only}'\n[[mutant.edit]]\nfile = '{file}'\nfind = 'x'\nreplace = 'y'\n"
        );
        mutants::read(&text, "a list").unwrap()
    };
    let [mutant] = &list("review::", "gate/review.rs")[..] else { panic!() };
    let touched =
        |path: &str, before: &[Mutant]| mutant.is_touched(&[path.to_owned()].into(), before);
    let as_it_was = list("review::", "gate/review.rs");
    assert!(touched("crates/eclusa/src/gate/review.rs", &as_it_was));
    assert!(touched("crates/eclusa/tests/gate/review.rs", &as_it_was));
    assert!(touched("README.md", &[]));
    assert!(touched("README.md", &list("permit::", "gate/review.rs")));
    assert!(!touched("crates/eclusa/src/gate/permit.rs", &as_it_was));
    let elsewhere = list("gates::", "crates/eclusa-app/src/gates.rs");
    assert!(
        elsewhere[0].is_touched(&["crates/eclusa-app/src/gates.rs".to_owned()].into(), &elsewhere)
    );
}

#[test]
fn pages_that_name_files_that_are_gone() {
    let sources = [Source::new("docs/a.md", ""), Source::new("crates/eclusa/src/gate.rs", "")];
    let page = Source::new("b.md", "`docs/a.md`, `crates/eclusa` and `crates/eclusa/src/door.rs`");
    complains(&mission::named_files(&page, &sources), "door.rs");
    assert_eq!(mission::named_files(&page, &sources).len(), 1);
}

#[test]
fn names_of_the_prelude_without_an_example() {
    let wrong = |library: &str| {
        prelude::without_example(&[
            Source::new("crates/eclusa/src/prelude.rs", "pub use crate::{Gate, inner::Job};"),
            Source::new("crates/eclusa/src/lib.rs", library),
        ])
    };
    let shown = "/// A gate.\n///\n/// ```\n/// let x = 1;\n/// ```\npub struct Gate;\n";
    complains(&wrong(shown), "`Job` of the prelude has no example");
    assert_eq!(wrong(&format!("{shown}{}", shown.replace("Gate", "Job"))), Vec::<String>::new());
    // One that is not run, or is of something that nobody sees.
    let job = shown.replace("Gate", "Job");
    complains(&wrong(&format!("{shown}{}", job.replacen("```", "```text", 1))), "`Job`");
    complains(&wrong(&format!("{shown}{}", job.replace("pub ", ""))), "`Job`");
    complains(&prelude::without_example(&[]), "prelude.rs is not there");
}

#[test]
fn pages_that_are_in_no_list_or_lead_nowhere() {
    let list = Source::new("docs/SUMMARY.md", "# Book\n- [A](a.md)\n");
    let good = Source::new(
        "docs/a.md",
        "# A\n\nAfter this page you know [a part](#a-part).\n\n## A part\n",
    );
    assert!(pages::contents(&[&list, &good]).is_empty());
    assert!(pages::dead_links(&[&list, &good], |_| false).is_empty());
    let unlisted = Source::new("docs/b.md", "# B\n\nB is a page.\n");
    assert_eq!(
        pages::contents(&[&list, &good, &unlisted]).len(),
        2,
        "not listed, and another beginning"
    );
    let dead = Source::new(
        "docs/a.md",
        "# A\n\n[x](#no) [y](../no.md) [z](../yes.md)\n```\n[c](no)\n```\n",
    );
    // Two lead nowhere, and two out of the book.
    assert_eq!(pages::dead_links(&[&list, &dead], |path| path == "yes.md").len(), 4);
}
