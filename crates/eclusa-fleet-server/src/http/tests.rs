//! docs/fleet-api.yaml names the paths that are answered, and no others, and of requests the fields that are read.

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
    let sources =
        [include_str!("../http.rs"), include_str!("../operations.rs"), include_str!("page.rs")];
    let routes = sources.iter().flat_map(|it| it.lines()).filter_map(|it| {
        let (method, path) = it.trim().strip_prefix("(\"")?.split_once("\", \"")?;
        Some(format!("{method} {}", path.split_once('"')?.0))
    });
    assert_eq!(written, routes.collect());
}

/// The fields that a structure reads, from its source.
fn fields(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("struct {name} {{")).unwrap();
    let body = body.split_once("\n}").unwrap().0.lines().map(str::trim);
    let fields = body.filter(|it| !it.starts_with("//") && !it.starts_with('#'));
    fields
        .filter_map(|it| Some(it.trim_start_matches("pub ").split_once(':')?.0.to_owned()))
        .collect()
}

#[test]
fn the_page_of_the_interface_has_the_fields_of_requests() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let page = std::fs::read_to_string(format!("{root}docs/fleet-api.yaml")).unwrap();
    let wire = std::fs::read_to_string(format!("{root}crates/eclusa-fleet/src/wire.rs")).unwrap();
    let inbox = std::fs::read_to_string(format!("{root}crates/eclusa-fleet/src/inbox.rs")).unwrap();
    for (path, source, name) in [
        ("/page/answers", include_str!("page.rs"), "GivenInPage"),
        ("/page/sign-in", include_str!("page/session.rs"), "SignIn"),
        ("/page/join", include_str!("page/join.rs"), "Join"),
        ("/v1/answers", inbox.as_str(), "AnswerRequest"),
        ("/v1/enroll", wire.as_str(), "EnrolRequest"),
    ] {
        let (_, rest) = page.split_once(&format!("\n  {path}:\n")).unwrap();
        let rest = rest.split_once("\n  /").map_or(rest, |it| it.0);
        let (_, properties) = rest.split_once("properties:\n").unwrap();
        let indent = properties.len() - properties.trim_start().len();
        let written =
            properties.lines().take_while(|it| it.len() - it.trim_start().len() == indent);
        let written: BTreeSet<String> =
            written.filter_map(|it| Some(it.trim().split_once(':')?.0.to_owned())).collect();
        assert_eq!(written, fields(source, name), "{path}");
    }
}
