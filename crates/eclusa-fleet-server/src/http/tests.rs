//! docs/fleet-api.yaml names the paths that are answered, and no others.

use std::collections::BTreeSet;

#[test]
fn the_page_of_the_interface_has_the_paths_of_the_server() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let page = std::fs::read_to_string(format!("{root}docs/fleet-api.yaml")).unwrap();
    let paths = page.split_once("\npaths:\n").unwrap().1;
    let mut written = BTreeSet::new();
    let mut path = "";
    for line in paths.lines() {
        if let Some(name) = line.strip_prefix("  /") {
            path = name.trim_end_matches(':');
        }
        for method in ["get", "post"] {
            if line.starts_with(&format!("    {method}:")) {
                written.insert(format!("{} /{path}", method.to_uppercase()));
            }
        }
    }
    let sources = [include_str!("../http.rs"), include_str!("../operations.rs")];
    let routes = sources.iter().flat_map(|it| it.lines()).filter_map(|it| {
        let (method, path) = it.trim().strip_prefix("(\"")?.split_once("\", \"")?;
        Some(format!("{method} {}", path.split_once('"')?.0))
    });
    assert_eq!(written, routes.collect());
}
