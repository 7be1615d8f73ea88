//! The pages show programs that are compiled and run.

/// Nothing that an embedding program can decide is missing on the page.
#[test]
fn the_page_about_the_library_has_every_field_of_the_setup() {
    let page = include_str!("../../../../docs/library.md");
    let table =
        page.split("| field of `GateSetup` |").nth(1).unwrap().split("\n\n").next().unwrap();
    let setup = include_str!("../../src/gate/setup.rs");
    let fields = setup.split("pub struct GateSetup {").nth(1).unwrap().split("\n}").next().unwrap();
    let names = fields.lines().filter_map(|it| it.trim().strip_prefix("pub "));
    let names: Vec<&str> = names.filter_map(|it| it.split(':').next()).collect();
    assert!(names.len() > 20, "{names:?}");
    let missing: Vec<_> = names.iter().filter(|it| !table.contains(&format!("`{it}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_about_the_library_shows_the_example() {
    let page = include_str!("../../../../docs/library.md");
    let example = include_str!("../../examples/gate_one_function.rs");
    let (_, program) = example.split_once("\n\n").unwrap();
    let program = program.split("\n#[test]").next().unwrap().trim_end();
    assert!(page.contains(&format!("```rust\n{program}\n```")), "docs/library.md differs from it");
    assert!(program.lines().count() <= 30, "a first program is short");
}
