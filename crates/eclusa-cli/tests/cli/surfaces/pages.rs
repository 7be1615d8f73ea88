//! What holds where, as the docs say it: made from the table and compared with it.

use std::path::Path;

use super::{Setting, Surface};

const BEGIN: &str = "<!-- made from the tests: what holds where -->\n";
const END: &str = "<!-- until here -->\n";

/// The table, and below it the reasons of empty cells.
fn page() -> String {
    let mut reasons: Vec<&str> = Vec::new();
    let mut cell = |surface: Surface, setting| match surface.lacks(setting) {
        None => "yes".to_owned(),
        Some(reason) => {
            let at = reasons.iter().position(|it| *it == reason).unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            format!("({})", at + 1)
        }
    };
    let heads: Vec<&str> = Surface::ALL.iter().map(|it| it.name()).collect();
    let mut text = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for setting in Setting::ALL.iter().copied() {
        let row: Vec<String> = Surface::ALL.iter().map(|it| cell(*it, setting)).collect();
        text.push_str(&format!("| {} | {} |\n", setting.name(), row.join(" | ")));
    }
    text.push('\n');
    for (at, reason) in reasons.iter().enumerate() {
        text.push_str(&format!("{}. {reason}\n", at + 1));
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the page is written where a person asks for that")]
fn the_docs_say_what_holds_where() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let docs = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = docs.split_once(BEGIN).unwrap();
    let (kept, after) = rest.split_once(END).unwrap();
    let made = page();
    if std::env::var_os("ECLUSA_WRITE_GOLDENS").is_some() {
        std::fs::write(&file, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
        return;
    }
    assert!(
        kept == made,
        "docs/configuration.md says\n{kept}\nand it is\n{made}\nECLUSA_WRITE_GOLDENS=1 writes it"
    );
}
