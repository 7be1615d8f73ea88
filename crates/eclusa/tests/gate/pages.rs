//! The pages show programs that are compiled and run.

/// Nothing that an embedding program can decide is missing on the page.
#[test]
fn the_page_about_the_library_has_every_method_of_the_builder() {
    let page = include_str!("../../../../docs/library.md");
    let table = page.split("| methods of `GateBuilder` |").nth(1).unwrap();
    let table = table.split("\n\n").next().unwrap();
    let builder = include_str!("../../src/gate/builder.rs");
    let methods = builder.split("impl GateBuilder {").nth(1).unwrap();
    let names = methods.lines().filter_map(|it| it.trim().strip_prefix("pub fn "));
    let names = names.filter_map(|it| it.split('(').next());
    let names: Vec<&str> = names.filter(|it| *it != "build").collect();
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
