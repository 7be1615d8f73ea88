//! Every rule of the house complains when it is broken: a rule that cannot fail holds nothing.

use xtask::{
    bans, messages, shape,
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
fn a_crate_with_lints_of_its_own() {
    let wrong = |path: &str, text: &str| bans::own_lints(&Source::new(path, text));
    let package = "[package]\nname = \"x\"\n";
    complains(&wrong("crates/x/Cargo.toml", package), "[lints] workspace = true");
    let takes = format!("{package}\n[lints]\nworkspace = true\n");
    assert_eq!(wrong("crates/x/Cargo.toml", &takes), Vec::<String>::new());
    assert_eq!(wrong("crates/eclusa-sandbox/Cargo.toml", package), Vec::<String>::new());
    assert_eq!(wrong("Cargo.toml", "[workspace]\n"), Vec::<String>::new());
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
fn a_type_name_in_three_files() {
    let file =
        |it: &str| Source::new(&format!("crates/a/src/{it}.rs"), "struct Place;\nenum Kind {}\n");
    let sources = ["x", "y", "z"].map(file);
    let at = "`Place` is a type in crates/a/src/x.rs, crates/a/src/y.rs, crates/a/src/z.rs";
    complains(&words::in_many_files(&sources), at);
    complains(&words::in_many_files(&sources), "`Stream` is no longer in many files");
    assert!(!words::in_many_files(&sources[..2]).iter().any(|it| it.contains("Place")));
}

#[test]
fn names_that_say_nothing() {
    let source =
        Source::new("crates/a/src/told.rs", "const MOST: usize = 1;\nconst MAX_X: u8 = 1;\n");
    complains(&words::unclear(&source), "`told`");
    complains(&words::unclear(&source), "`MOST`");
    assert_eq!(words::unclear(&source).len(), 2);
}

#[test]
fn sentences_that_a_rename_broke() {
    let source = |doc: &str| {
        let text = format!("pub trait PinStore {{}}\nstruct Notes;\n/// {doc}\nfn f() {{}}\n");
        [Source::new("crates/a/src/x.rs", &text)]
    };
    let broken = words::sentences_that_begin_with_a_type(&source("PinStore this instead."));
    complains(&broken, "crates/a/src/x.rs:3: begins with `PinStore`");
    for fine in ["`PinStore` keeps it.", "Notes that it was asked.", "A PinStore.\n/// PinStore."] {
        assert_eq!(words::sentences_that_begin_with_a_type(&source(fine)), Vec::<String>::new());
    }
}

#[test]
fn words_that_were_replaced() {
    let source = |path: &str| Source::new(path, "// Mend the shelf_of it with these hands.\n");
    let wrong = words::retired(&source("crates/a/src/x.rs"));
    complains(&wrong, "`mend` is retired: `fix`");
    complains(&wrong, "`shelf` is retired");
    complains(&wrong, "`these hands` is retired");
    assert_eq!(words::retired(&source("README.md")).len(), 1);
    assert_eq!(words::retired(&source("workshop/x.md")), Vec::<String>::new());
}

#[test]
fn a_change_by_path_in_a_tree_of_commands_is_found() {
    let wrong = |path: &str, text: &str| bans::by_path(&Source::new(path, text)).len();
    let text = "use std::fs;\nfn clear() { drop(fs::remove_file(\"x\")); }\n";
    assert_eq!(wrong("crates/eclusa-tools/src/sandboxes/session.rs", text), 1);
    assert_eq!(wrong("crates/eclusa-sandbox/src/scan/a.rs", text), 1);
    assert_eq!(wrong("crates/eclusa-tools/src/sandboxes/caches.rs", text), 0);
    let text = "use std::fs;\nfn open() { drop(fs::set_permissions(\"x\", y)); }\n";
    assert_eq!(wrong("crates/eclusa-tools/src/owner/session_log.rs", text), 1);
    assert_eq!(wrong("crates/eclusa-tools/src/delete.rs", text), 0);
}
