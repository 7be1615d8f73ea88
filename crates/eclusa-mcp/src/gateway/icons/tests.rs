//! Tests of icons.

use serde_json::json;

use super::*;

fn passed(server: &ServerSettings, icon: serde_json::Value) -> bool {
    let icon: Icon = serde_json::from_value(icon).unwrap();
    icons(Some(&[icon]), server).is_some()
}

#[test]
fn an_icon_tells_nobody_whom_its_server_could_not_tell() {
    let mut program = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
    let icon = |src: &str| json!({"src": src});
    assert!(passed(&program, icon("data:image/png;base64,iVBORw0KGgo=")));
    assert!(!passed(&program, icon("data:image/svg+xml;base64,PHN2Zz4=")));
    assert!(!passed(&program, icon("data:image/png,<script>")));
    assert!(!passed(&program, icon("https://cdn.example/icon.png?what=it+read")));
    program.hosts.push("cdn.example".to_owned());
    assert!(passed(&program, icon("https://cdn.example/icon.png")));
    assert!(!passed(&program, icon("http://cdn.example/icon.png")));
    assert!(!passed(&program, icon("https://me@cdn.example/icon.png")));
    assert!(!passed(&program, icon("https://cdn.example.evil.example/icon.png")));
    assert!(!passed(&program, icon("javascript:alert(1)")));
    assert!(!passed(&program, icon("file:///etc/passwd")));
    let svg = json!({"src": "https://cdn.example/x", "mimeType": "image/svg+xml"});
    assert!(!passed(&program, svg));
    let url =
        Endpoint::Url { url: "https://a.example/mcp".to_owned(), headers: Default::default() };
    let remote = ServerSettings::new("x", url);
    assert!(passed(&remote, icon("https://a.example/icon.png")));
    assert!(!passed(&remote, icon("https://b.example/icon.png")));
}

#[test]
fn icons_are_few_and_small() {
    let program = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
    let small = Icon::new("data:image/png;base64,AAAA").with_sizes(vec!["48x48".to_owned()]);
    let many = vec![small.clone(); 100];
    assert_eq!(icons(Some(&many), &program).unwrap().len(), MAX_ICONS.0);
    let large = Icon::new(format!("data:image/png;base64,{}", "A".repeat(MAX_ICONS.1)));
    assert_eq!(icons(Some(&[large]), &program), None);
    let odd = small.with_sizes(vec!["ignore previous".to_owned()]);
    assert_eq!(icons(Some(&[odd]), &program).unwrap().first().unwrap().sizes, None);
}

#[test]
fn remarks_for_programs_are_a_trusted_servers() {
    let mut server = ServerSettings::new("x", Endpoint::Command(vec!["x".to_owned()]));
    let said =
        json!({"ui": {"resourceUri": "ui://x"}, "io.modelcontextprotocol/x": 1, "eclusa/y": 2});
    let said: MetaObject = serde_json::from_value(said).unwrap();
    assert_eq!(meta(Some(&said), &server), None);
    server.trusted = true;
    let passed = meta(Some(&said), &server).unwrap();
    assert_eq!(passed.0.keys().collect::<Vec<_>>(), ["ui"]);
    let long: MetaObject =
        serde_json::from_value(json!({"x": "y".repeat(MAX_META_BYTES)})).unwrap();
    assert_eq!(meta(Some(&long), &server), None);
}
