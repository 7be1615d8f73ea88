//! What is made from the schema of configuration files: `scripts/pages` writes it anew.

use serde_json::Value;

use crate::Config;

const BEGIN: &str = "<!-- made by scripts/pages from the schema -->";
const END: &str = "<!-- until here -->";

/// How the comment of a key begins that is a condition of rules.
const CONDITION: &str = "Condition: ";

/// A file of docs is what is made of it.
#[expect(clippy::disallowed_methods, reason = "a page of this repository is made anew")]
fn is_made(name: &str, make: impl FnOnce(&str) -> String) {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let is = std::fs::read_to_string(&path).unwrap();
    let should = make(&is);
    if std::env::var_os("ECLUSA_WRITE_PAGES").is_some() {
        std::fs::write(path, should).unwrap();
    } else {
        assert!(is == should, "docs/{name} is not what the code says: run scripts/pages");
    }
}

/// The published schema is the one that files are checked against.
#[test]
fn the_published_schema_is_made_from_the_code() {
    let schema = serde_json::to_string_pretty(&Config::schema()).unwrap();
    is_made("eclusa.schema.json", |_| schema + "\n");
}

#[test]
fn the_table_of_conditions_is_made_from_the_schema() {
    let schema = Config::schema();
    let keys = schema["properties"]["rules"]["items"]["properties"].as_object().unwrap();
    let said = |it: &Value| it["description"].as_str()?.strip_prefix(CONDITION).map(str::to_owned);
    let row = |(key, it): (&String, &Value)| {
        let meaning = said(it)?.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("| `{key}` | {meaning} |\n"))
    };
    let rows: String = keys.iter().filter_map(row).collect();
    is_made("rules.md", |page| {
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let after = rest.split_once(END).unwrap().1;
        format!("{before}{BEGIN}\n\n| key | condition |\n|---|---|\n{rows}\n{END}{after}")
    });
}
