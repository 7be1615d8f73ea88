//! The repository keeps every rule of the house.

use std::{fs, sync::LazyLock};

use xtask::{
    bans, circles, crate_table, dependencies, direction, messages, mission, mutants, pages,
    prelude, shape,
    source::{Source, all, root},
    tokens, tool_names, words,
};

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| all(root()).unwrap());

fn rust() -> impl Iterator<Item = &'static Source> {
    SOURCES.iter().filter(|it| it.is_rust())
}

fn page(path: &str) -> &'static str {
    &SOURCES.iter().find(|it| it.path == path).unwrap().text
}

/// Fails with everything that is wrong, not with the first thing.
fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn sources_are_found() {
    let paths: Vec<&str> = rust().map(|it| it.path.as_str()).collect();
    for path in ["crates/eclusa/src/gate.rs", "crates/eclusa-cli/src/main.rs", "xtask/src/lib.rs"] {
        assert!(paths.contains(&path), "{path} is not among the sources");
    }
}

#[test]
fn files_are_short_introduced_and_named() {
    // S1.8
    none(rust().flat_map(shape::complaints).collect());
}

#[test]
fn each_token_is_made_in_one_file_and_cannot_be_conjured_up() {
    // S0.30
    none(tokens::complaints(&SOURCES));
}

#[test]
fn every_name_of_the_prelude_has_an_example() {
    none(prelude::without_example(&SOURCES));
}

/// What is configured holds at every way into the gate, because all of them are one.
#[test]
fn the_program_puts_a_gate_together_in_one_place() {
    let program = ["app", "approvals", "chat", "cli", "connect", "mcp", "models", "term"];
    let program = program.map(|it| format!("crates/eclusa-{it}/src/"));
    let ours = rust().filter(|it| program.iter().any(|of| it.path.starts_with(of)));
    let ours = ours.filter(|it| !it.path.contains("tests"));
    let made = ours.flat_map(|it| {
        let built = ["Gate::builder(", "config.builder("].map(|by| it.text.matches(by).count());
        std::iter::repeat_n(it.path.as_str(), built.iter().sum())
    });
    assert_eq!(made.collect::<Vec<_>>(), ["crates/eclusa-app/src/gates.rs"]);
}

/// Everything that the program keeps goes through `eclusa::store::Store`, so another kind of store is
/// another crate and one line.
#[test]
fn one_file_says_which_kind_of_store_the_program_has() {
    let others = rust().filter(|it| !it.path.starts_with("crates/eclusa-store/"));
    // What is measured and simulated is this kind of store; what tidy looks for is written here.
    let others = others.filter(|it| {
        !it.path.starts_with("bench/")
            && !it.path.starts_with("xtask/")
            && !it.path.contains("/tests/simulation/")
    });
    let named = others.filter(|it| it.text.contains("eclusa_store")).map(|it| it.path.as_str());
    assert_eq!(named.collect::<Vec<_>>(), ["crates/eclusa-app/src/open_store.rs"]);
}

/// Rewording a message breaks nothing but tests that show it.
#[test]
fn nothing_is_decided_by_a_sentence_for_people() {
    none(messages::complaints(&SOURCES));
}

/// The lints forbid `unsafe` outside the sandbox and the methods of `clippy.toml`, and CI runs them.
#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    none(SOURCES.iter().flat_map(bans::own_lints).collect());
    let workspace = page("Cargo.toml");
    for lint in ["unsafe_code = \"forbid\"", "disallowed_methods = \"deny\""] {
        assert!(workspace.contains(lint), "Cargo.toml: the workspace does not say {lint}");
    }
    let library = page("crates/eclusa/src/lib.rs");
    assert!(library.contains("forbid(clippy::disallowed_methods)"), "the library may be excused");
}

#[test]
fn the_library_has_no_environment_process_network_or_terminal() {
    // S3.8
    none(rust().flat_map(bans::library).collect());
}

#[test]
fn trees_of_commands_are_changed_through_handles() {
    none(rust().flat_map(bans::by_path).collect());
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    none(SOURCES.iter().flat_map(bans::places).collect());
}

#[test]
fn no_modules_form_a_circle() {
    none(circles::complaints(&SOURCES));
}

#[test]
fn one_word_means_one_thing() {
    none(words::repeated_types(&SOURCES));
}

#[test]
fn a_type_name_stands_in_two_files_at_most() {
    none(words::in_many_files(&SOURCES));
}

#[test]
fn files_and_constants_have_plain_names() {
    none(rust().flat_map(words::unclear).collect());
}

#[test]
fn no_sentence_begins_with_a_type_that_a_rename_put_there() {
    none(words::sentences_that_begin_with_a_type(&SOURCES));
}

#[test]
fn retired_words_do_not_come_back() {
    none(SOURCES.iter().flat_map(words::retired).collect());
}

#[test]
fn crates_depend_one_way() {
    // S1.66
    let packages = direction::packages(root()).unwrap();
    none(direction::complaints(&packages, &direction::rows(direction::ROWS).unwrap()));
}

/// A section for each tool and no other; what the sections say of arguments, a test of the tools compares.
#[test]
fn the_page_of_tools_names_exactly_the_tools_there_are() {
    assert_eq!(tool_names::sections(page("docs/tools.md")), tool_names::all(&SOURCES));
}

/// `scripts/pages` writes it anew.
#[test]
fn the_table_of_crates_and_rooms_is_made_from_the_code() {
    let packages = direction::packages(root()).unwrap();
    let table = crate_table::table(&packages, &SOURCES, root()).unwrap();
    let is = page("ARCHITECTURE.md");
    let should = crate_table::with_table(is, &table).unwrap();
    if std::env::var_os("ECLUSA_WRITE_PAGES").is_some() {
        write(&root().join("ARCHITECTURE.md"), &should);
    } else {
        assert!(is == should, "ARCHITECTURE.md is not what the code says: run scripts/pages");
    }
}

#[expect(clippy::disallowed_methods, reason = "a page of this repository is made anew")]
fn write(path: &std::path::Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn every_dependency_is_accounted_for() {
    // S2.17
    let manifests = dependencies::manifests(&SOURCES).unwrap();
    none(dependencies::accounted(&manifests, page("workshop/dependencies.md")));
}

#[test]
fn the_mission_table_is_whole_and_names_tests_that_exist() {
    // C35
    none(mission::complaints(page("workshop/mission.md"), &SOURCES));
}

#[test]
fn pages_name_only_tests_that_exist() {
    let pages =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "workshop/approvals.md", "workshop/attackers.md"];
    let pages = SOURCES.iter().filter(|it| pages.contains(&it.path.as_str()));
    none(pages.flat_map(|it| mission::named_tests(it, &SOURCES)).collect());
}

#[test]
fn pages_name_only_files_that_exist() {
    let pages = SOURCES.iter().filter(|it| it.path.ends_with(".md") && it.path != "CHANGELOG.md");
    none(pages.flat_map(|it| mission::named_files(it, &SOURCES)).collect());
}

#[test]
fn every_mutant_of_a_row_is_noticed_by_a_test_that_the_row_names() {
    let page = fs::read_to_string(root().join("workshop/mission.md")).unwrap();
    none(mission::unmatched_mutants(&page, &mutants::all().unwrap()));
}

#[test]
fn every_row_has_a_mistake_or_says_why_there_is_none() {
    let page = fs::read_to_string(root().join("workshop/mission.md")).unwrap();
    none(mission::without_mistake(&page, &mutants::all().unwrap()));
}

#[test]
fn every_mutant_still_fits_the_code() {
    let all = mutants::all().unwrap();
    let wrong = all.iter().flat_map(|mutant| {
        // Edits of one file build on each other.
        let mut texts = std::collections::HashMap::new();
        let misfits = mutant.edit.iter().filter_map(|edit| {
            let text = texts
                .entry(&edit.file)
                .or_insert_with(|| fs::read_to_string(root().join(edit.path())).unwrap());
            match edit.apply(text) {
                Ok(mutated) => {
                    *text = mutated;
                    None
                }
                Err(problem) => Some(format!("`{}`: {problem}", mutant.name)),
            }
        });
        misfits.collect::<Vec<String>>()
    });
    none(wrong.collect());
}

/// Pages for people: those of the book, and those at the root.
fn pages() -> Vec<&'static Source> {
    let is_page = |it: &&Source| {
        let at_root = !it.path.contains('/') && it.path != "CHANGELOG.md";
        it.path.ends_with(".md") && (at_root || it.path.starts_with("docs/"))
    };
    SOURCES.iter().filter(is_page).collect()
}

#[test]
fn every_page_is_in_the_book_and_says_what_one_can_do_after_it() {
    none(pages::contents(&pages()));
}

#[test]
fn no_link_of_a_page_is_dead() {
    none(pages::dead_links(&pages(), |path| root().join(path).exists()));
}
