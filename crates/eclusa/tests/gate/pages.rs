//! The pages show programs that are compiled and run.

#[test]
fn the_page_about_the_library_shows_the_example() {
    let page = include_str!("../../../../docs/library.md");
    let example = include_str!("../../examples/gate_one_function.rs");
    let (_, program) = example.split_once("\n\n").unwrap();
    let program = program.split("\n#[test]").next().unwrap().trim_end();
    assert!(page.contains(&format!("```rust\n{program}\n```")), "docs/library.md differs from it");
    assert!(program.lines().count() <= 30, "a first program is short");
}
