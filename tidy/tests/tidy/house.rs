//! The repository keeps every rule of the house.

use std::{fs, sync::LazyLock};

use eclusa_tidy::{
    bans, circles, messages, mission, mutants, rooms, shape,
    source::{Source, all, root},
    tokens, words,
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
    for path in ["crates/eclusa/src/gate.rs", "crates/eclusa-cli/src/main.rs", "tidy/src/lib.rs"] {
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

/// What is configured holds at every way into the gate, because all of them are one.
#[test]
fn the_program_puts_a_gate_together_in_one_place() {
    let ours = rust().filter(|it| it.path.starts_with("crates/eclusa-cli/src/"));
    let made = ours.flat_map(|it| it.text.matches("Gate::new(").map(|_| it.path.as_str()));
    assert_eq!(made.collect::<Vec<_>>(), ["crates/eclusa-cli/src/gates.rs"]);
}

/// Rewording a message breaks nothing but tests that show it.
#[test]
fn nothing_is_decided_by_a_sentence_for_people() {
    none(messages::complaints(&SOURCES));
}

#[test]
fn banned_methods_stay_in_their_rooms() {
    let banned = bans::banned_methods(page("clippy.toml")).unwrap();
    assert!(banned.len() >= 8, "clippy.toml bans only {banned:?}");
    none(rust().flat_map(|it| bans::methods(it, &banned)).collect());
}

#[test]
fn unsafe_code_is_in_the_sandbox_alone() {
    none(rust().flat_map(bans::no_unsafe).collect());
}

#[test]
fn the_library_has_no_environment_process_network_or_terminal() {
    // S3.8
    none(rust().flat_map(bans::library).collect());
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
fn files_and_constants_have_plain_names() {
    none(rust().flat_map(words::unclear).collect());
}

#[test]
fn crates_depend_one_way() {
    // S1.66
    none(rooms::direction(&rooms::manifests(&SOURCES).unwrap()));
}

#[test]
fn every_dependency_is_accounted_for() {
    // S2.17
    let manifests = rooms::manifests(&SOURCES).unwrap();
    none(rooms::accounted(&manifests, page("docs/dependencies.md")));
}

#[test]
fn the_mission_table_is_whole_and_names_tests_that_exist() {
    // C35
    none(mission::complaints(page("docs/mission.md"), &SOURCES));
}

#[test]
fn pages_name_only_tests_that_exist() {
    let pages = ["ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md"];
    let pages = SOURCES.iter().filter(|it| pages.contains(&it.path.as_str()));
    none(pages.flat_map(|it| mission::named_tests(it, &SOURCES)).collect());
}

#[test]
fn pages_name_only_files_that_exist() {
    let pages = SOURCES.iter().filter(|it| it.path.ends_with(".md") && it.path != "CHANGELOG.md");
    none(pages.flat_map(|it| mission::named_files(it, &SOURCES)).collect());
}

#[test]
fn every_mutant_still_fits_the_code() {
    let all = mutants::all().unwrap();
    let wrong = all.iter().flat_map(|mutant| {
        // Edits of one file build on each other.
        let mut texts = std::collections::HashMap::new();
        let misfits = mutant.edit.iter().filter_map(|edit| {
            let text = texts.entry(&edit.file).or_insert_with(|| {
                fs::read_to_string(root().join("crates/eclusa/src").join(&edit.file)).unwrap()
            });
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
