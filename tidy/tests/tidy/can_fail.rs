//! Every rule of the house complains when it is broken: a rule that cannot fail holds nothing.

use eclusa_tidy::{
    bans, messages, mission,
    mutants::Edit,
    rooms, shape,
    source::{Source, all, root},
    tokens, words,
};

/// Asserts that somebody complains, in words that have this part.
pub(crate) fn complains(wrong: &[String], part: &str) {
    assert!(wrong.iter().any(|it| it.contains(part)), "nobody says `{part}`: {wrong:#?}");
}

fn shape_of(path: &str, text: &str) -> Vec<String> {
    shape::complaints(&Source::new(path, text))
}

const FIRST: &str = "//! What this file is for.\n";

#[test]
fn long_files() {
    let text = |lines: usize| FIRST.to_owned() + &"\n".repeat(lines - 1);
    assert_eq!(shape_of("a/long.rs", &text(399)), Vec::<String>::new());
    complains(&shape_of("a/long.rs", &text(400)), "400 lines");
}

#[test]
fn files_that_do_not_say_what_they_are_for() {
    for text in ["", "//!", "//! \n", "//! Gate.\n", "use std::fs;\n//! What it is for.\n"] {
        complains(&shape_of("a/b.rs", text), "first line");
    }
}

#[test]
fn tests_within_the_file() {
    complains(&shape_of("a/b.rs", &format!("{FIRST}#[cfg(test)]\nmod tests {{\n}}\n")), "own");
    assert_eq!(shape_of("a/b.rs", &format!("{FIRST}mod tests;\n")), Vec::<String>::new());
}

#[test]
fn drawers() {
    for path in ["a/utils.rs", "a/cli_util.rs", "a/common/mod.rs", "helpers/x.rs", "a/test-misc.rs"]
    {
        complains(&shape_of(path, FIRST), "drawer");
    }
    assert_eq!(shape_of("crates/eclusa/src/utility_bill.rs", FIRST), Vec::<String>::new());
}

/// The gate and the files that make or open tokens as they are, with `text` put at the end of one.
fn library_with(file: &str, text: &str) -> Vec<Source> {
    let mut sources = all(&root().join("crates/eclusa/src")).unwrap();
    let home = |path: &str| {
        let opens = |it: &(&str, &[&str])| it.1.contains(&path);
        tokens::HOMES.iter().any(|it| it.1 == path) || tokens::OPENERS.iter().any(opens)
    };
    sources.retain(|it| it.path == "gate.rs" || home(&it.path));
    for source in &mut sources {
        if source.path == file {
            source.text.push_str(text);
        }
        source.path = format!("crates/eclusa/src/{}", source.path);
    }
    sources
}

#[test]
fn tokens_made_elsewhere() {
    for (text, token) in [
        ("fn forge(call: Reviewed) -> Permit { Permit { call } }", "Permit"),
        ("fn forge(call: Reviewed) -> Permit { crate::Permit { call } }", "Permit"),
        ("fn forge() -> Started { Started(()) }", "Started"),
        ("fn forge() -> Option<Started> { Some(()).map(Started) }", "Started"),
        ("impl Permit { fn forge(call: Reviewed) -> Permit { Self { call } } }", "Permit"),
        ("fn forge(call: Reviewed) -> Vec<Permit> { vec![Permit { call }] }", "Permit"),
        ("#[cfg(test)] mod tests { fn forge() -> Raw { Raw { call, output, time } } }", "Raw"),
        ("fn forge() { assert!(is_some(Settled { call, output, time })) }", "Settled"),
        ("fn f() -> Job { if x { return Job { call } } else { g() } }", "Job"),
    ] {
        let wrong = tokens::complaints(&library_with("gate.rs", text));
        complains(&wrong, &format!("gate.rs: makes a `{token}`"));
    }
}

#[test]
fn what_only_looks_like_making_a_token() {
    for text in [
        "fn f() -> Event { Event::Started { call, tool, number } }",
        "fn f(it: Permit) { let Permit { call } = it; }",
        "fn f(it: &Permit) -> bool { it.call().id().is_empty() }",
        "/// `Permit { call }` in words.\nfn f() -> &'static str { \"Permit { call }\" }",
        "fn f() { send(Event::Started { call }); assert!(matches!(e, Event::Started { .. })) }",
    ] {
        assert_eq!(
            tokens::complaints(&library_with("gate.rs", text)),
            Vec::<String>::new(),
            "{text}"
        );
    }
}

#[test]
fn tokens_that_can_be_conjured_up() {
    for (text, part) in [
        ("impl Clone for Permit { fn clone(&self) -> Permit { loop {} } }", "must not be `Clone`"),
        (
            "impl Default for Started { fn default() -> Started { loop {} } }",
            "must not be `Default`",
        ),
        ("impl<'de> serde::Deserialize<'de> for Reply {}", "must not be `Deserialize`"),
        ("impl Copy for Raw {}", "must not be `Copy`"),
        ("use crate::Permit as Leave;", "another name for the token `Permit`"),
        ("type Leave = crate::Permit;", "another name for the token `Permit`"),
        ("pub struct Permit { call: Reviewed }", "defines another `Permit`"),
    ] {
        complains(&tokens::complaints(&library_with("gate.rs", text)), part);
    }
    let wrong = tokens::complaints(&[
        Source::new(
            "crates/eclusa/src/gate/permit.rs",
            "#[derive(Debug, Clone)] pub struct Permit { pub(crate) call: Reviewed }",
        ),
        Source::new("crates/eclusa/src/tool/job.rs", "pub struct Job;"),
    ]);
    complains(&wrong, "`Permit` must not be `Clone`");
    complains(&wrong, "`Permit` must have fields, and keep them private");
    complains(&wrong, "`Job` must have fields, and keep them private");
    complains(&wrong, "`Permit` is to be made in gate/permit.rs, and is not");
    complains(&wrong, "`into_call` is to be called once, not 0 times");
}

#[test]
fn tokens_opened_elsewhere() {
    for text in [
        "fn f(raw: Raw) { raw.unseal_for_settling(); }",
        "fn f(it: Settled) { it.unseal(); }",
        "fn f(it: Permit) { it.into_call(); }",
        "fn f(it: Permit) { Some(it).map(Permit::into_call); }",
        "fn f(it: Permit) { dbg!(it.into_call()); }",
        "fn f() -> Reply { Reply::new(trail, ended, time, start, receipt) }",
        "fn f(call: Validated) -> Job { Job::new(call, true, gate, None, until) }",
        "fn f() -> Validated { Validated::check(tool, call, conversation) }",
        "fn f(it: Released) { it.unseal_for_reply(); }",
    ] {
        complains(&tokens::complaints(&library_with("gate.rs", text)), "opens a token outside");
    }
    let again = "fn f(it: Permit) { it.into_call(); }";
    let wrong = tokens::complaints(&library_with("gate/execute.rs", again));
    complains(&wrong, "gate/execute.rs: `into_call` is to be called once, not 2 times");
}

#[test]
fn banned_methods() {
    let banned = ["std::process::Command::new".to_owned(), "std::fs::write".to_owned()];
    let wrong = |text: &str| bans::methods(&Source::new("crates/x/src/a.rs", text), &banned);
    for text in [
        "fn f() { std::fs::write(a, b); }",
        "use std::fs;\nfn f() { fs::write(a, b); }",
        "use std::{fs::{self, File}, io};\nfn f() { fs::write(a, b); }",
        "use std::fs as files;\nfn f() { files::write(a, b); }",
        "use std::fs::write;\nfn f() { write(a, b); }",
        "use std::fs::*;\nfn f() { write(a, b); }",
        "use std::process::Command;\nfn f() { let it = Command::new(a); }",
        "fn f() { let it = names.map(std::process::Command::new); }",
        "use std::fs;\nfn f() { assert!(fs::write(a, b).is_ok()); }",
        "#[allow(clippy::disallowed_methods)]\nfn f() { std::fs::write(a, b); }",
        "#[expect(clippy::disallowed_methods)]\nfn f() { std::fs::write(a, b); }",
    ] {
        assert!(!wrong(text).is_empty(), "{text}");
    }
    let excused = "#[expect(clippy::disallowed_methods, reason = \"the one place\")]
        fn f() { std::fs::write(a, b); }";
    for text in [
        excused,
        "use clap::Command;\nfn f() { let it = Command::new(a); }",
        "fn f(file: File) { file.write(a); }",
        "#[cfg(test)]\nmod tests { fn f() { std::fs::write(a, b); } }",
        "/// Unlike `std::fs::write`.\nfn f() {}",
    ] {
        assert_eq!(wrong(text), Vec::<String>::new(), "{text}");
    }
    // The library has no excuse.
    let library = Source::new("crates/eclusa/src/a.rs", excused);
    complains(&bans::methods(&library, &banned), "std::fs::write");
    assert!(bans::banned_methods("disallowed-methods = [{ path = \"a::b\" }]").is_err());
}

#[test]
fn unsafe_code() {
    let wrong = |path: &str, text: &str| bans::no_unsafe(&Source::new(path, text));
    complains(&wrong("crates/eclusa/src/a.rs", "fn f() { unsafe { g() } }"), "eclusa-sandbox");
    complains(&wrong("crates/eclusa/tests/a.rs", "m! { unsafe fn f() {} }"), "eclusa-sandbox");
    let sandbox = wrong("crates/eclusa-sandbox/src/a.rs", "fn f() { unsafe { g() } }");
    assert_eq!(sandbox, Vec::<String>::new());
    let word = wrong("crates/eclusa/src/a.rs", "// unsafe\nfn f() { let s = \"unsafe\"; }");
    assert_eq!(word, Vec::<String>::new());
}

#[test]
fn a_library_that_looks_outside() {
    let wrong = |text: &str| bans::library(&Source::new("crates/eclusa/src/a.rs", text));
    for text in [
        "use std::env;",
        "fn f() { std::env::var(a); }",
        "use std::{env, fmt};",
        "use std::process::ExitCode;",
        "fn f() { println!(\"a\"); }",
        "fn f() { m!(eprintln!(\"a\")); }",
        "fn f() { dbg!(1); }",
        "use std::io;\nfn f() { io::stdin(); }",
        "use std::io::{self, stdout};",
        "use tokio::process::Command;",
    ] {
        assert!(!wrong(text).is_empty(), "{text}");
    }
    for text in [
        "use std::{fmt, io};\nimpl io::Write for X {}",
        "/// Never `println!`.\nfn f() { let version = env!(\"CARGO_PKG_VERSION\"); }",
        "#[cfg(test)]\nmod tests { use std::env; }",
        "fn f() { let environment = self.env; writeln!(f, \"a\"); }",
    ] {
        assert_eq!(wrong(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn places_of_one_machine() {
    let place = ["", "work", "x"].join("/");
    let host = ["registry.npmjs", "org"].join(".");
    let wrong = |text: &str| bans::places(&Source::new("docs/a.md", text));
    complains(&wrong(&format!("see {place}")), "docs/a.md:1: names the place");
    complains(&wrong(&format!("\nsee `{place}`")), "docs/a.md:2: names the place");
    complains(&wrong(&format!("from https://{host}/a")), "names the host");
    assert_eq!(wrong("home/work/x, ./work/x and frame/work/x"), Vec::<String>::new());
}

#[test]
fn decisions_by_sentences() {
    let wrong = |body: &str| {
        let text = format!("//! x\nfn f() {{ {body} }}");
        messages::complaints(&[Source::new("crates/x/src/a.rs", &text)])
    };
    for body in [
        "if it.why().contains(\"denied\") {}",
        "if err.to_string().starts_with(\"no\") {}",
        "let a = self.message == \"gone\";",
        "match &*problem { \"x\" => {} _ => {} }",
    ] {
        complains(&wrong(body), "is a sentence for people");
    }
    for body in ["path.contains(\"x\");", "why.contains(other);", "err.code() == \"x\";"] {
        assert_eq!(wrong(body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn crates_that_depend_the_wrong_way() {
    let manifest = |name: &str, rest: &str| {
        Source::new("crates/x/Cargo.toml", &format!("[package]\nname = \"{name}\"\n{rest}"))
    };
    let wrong = |source| rooms::direction(&rooms::manifests(&[source]).unwrap());
    let up = "[dependencies]\neclusa-store.workspace = true";
    complains(&wrong(manifest("eclusa", up)), "`eclusa` may not depend on `eclusa-store`");
    let test = "[dev-dependencies]\neclusa-cli = { path = \"../x\" }";
    complains(&wrong(manifest("eclusa-store", test)), "may not depend on `eclusa-cli`");
    let target = "[target.'cfg(unix)'.dependencies]\neclusa-agent.workspace = true";
    complains(&wrong(manifest("eclusa-mcp", target)), "may not depend on `eclusa-agent`");
    complains(&wrong(manifest("eclusa-drawer", "")), "has no place");
}

#[test]
fn dependencies_nobody_accounts_for() {
    let source = Source::new("Cargo.toml", "[workspace.dependencies]\nserde = \"1\"\ntoml = \"1\"");
    let manifests = rooms::manifests(&[source]).unwrap();
    let page = "| `serde` | reads and writes | hand-written code |\n| `toml` | | |\n| `gone` | a b | c d |";
    let wrong = rooms::accounted(&manifests, page);
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
fn pages_that_name_files_that_are_gone() {
    let sources = [Source::new("docs/a.md", ""), Source::new("crates/eclusa/src/gate.rs", "")];
    let page = Source::new("b.md", "`docs/a.md`, `crates/eclusa` and `crates/eclusa/src/door.rs`");
    complains(&mission::named_files(&page, &sources), "door.rs");
    assert_eq!(mission::named_files(&page, &sources).len(), 1);
}

#[test]
fn words_that_mean_several_things() {
    let sources: Vec<Source> = ["a", "b", "c"]
        .map(|it| {
            Source::new(&format!("crates/{it}/src/x.rs"), "pub struct Place;\nstruct Args;\n")
        })
        .into();
    complains(&words::repeated_types(&sources), "`Place` is a type in a, b, c");
    assert_eq!(words::repeated_types(&sources).len(), 1);
    assert_eq!(words::repeated_types(&sources[..2]), Vec::<String>::new());
}

#[test]
fn names_that_say_nothing() {
    let source =
        Source::new("crates/a/src/told.rs", "const MOST: usize = 1;\nconst MAX_X: u8 = 1;\n");
    complains(&words::unclear(&source), "`told`");
    complains(&words::unclear(&source), "`MOST`");
    assert_eq!(words::unclear(&source).len(), 2);
}
